-- source: "Microsoft: Transaction locking and row versioning guide, Modify data without optimized locking: if the data row has been modified outside of the SNAPSHOT transaction, an update conflict occurs and the snapshot transaction is terminated"
ALTER DATABASE CURRENT SET ALLOW_SNAPSHOT_ISOLATION ON
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NOT NULL);
INSERT INTO dbo.t VALUES (1, 1), (2, 2)
GO
BEGIN TRANSACTION;
DELETE FROM dbo.t WHERE id = 1;
UPDATE dbo.t SET note = 20 WHERE id = 2
GO
-- session 2
SET TRANSACTION ISOLATION LEVEL SNAPSHOT;
BEGIN TRANSACTION;
UPDATE dbo.t SET note = 3 WHERE id = 1
-- waits
GO
-- session 1
COMMIT
GO
-- session 2
-- ends
-- error 3960
GO
/* it may overwrite one that was rolled back */
-- session 1
BEGIN TRANSACTION;
UPDATE dbo.t SET note = 21
GO
-- session 2
BEGIN TRANSACTION;
UPDATE dbo.t SET note = 4 WHERE id = 2
-- waits
GO
-- session 1
ROLLBACK
GO
-- session 2
-- ends
GO
COMMIT;
SELECT id, note FROM dbo.t
-- expect
--   2 | 4
GO
