-- source: "Microsoft: SET TRANSACTION ISOLATION LEVEL (Transact-SQL), SNAPSHOT: data read by any statement in a transaction is the transactionally consistent version of the data that existed at the start of the transaction"
ALTER DATABASE CURRENT SET ALLOW_SNAPSHOT_ISOLATION ON
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NOT NULL);
INSERT INTO dbo.t VALUES (1, 1)
GO
SET TRANSACTION ISOLATION LEVEL SNAPSHOT;
BEGIN TRANSACTION;
SELECT id, note FROM dbo.t
-- expect
--   1 | 1
GO
-- session 2
UPDATE dbo.t SET note = 2;
INSERT INTO dbo.t VALUES (2, 2);
BEGIN TRANSACTION;
DELETE FROM dbo.t
GO
/* neither the commits since nor the locks are of interest */
-- session 1
SELECT id, note FROM dbo.t
-- expect
--   1 | 1
GO
COMMIT
GO
SELECT id, note FROM dbo.t ORDER BY id
-- expect
--   1 | 2
--   2 | 2
GO
