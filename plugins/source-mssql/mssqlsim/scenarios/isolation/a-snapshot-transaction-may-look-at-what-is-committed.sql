-- source: "Microsoft: SET TRANSACTION ISOLATION LEVEL (Transact-SQL), SNAPSHOT: if a transaction starts in the SNAPSHOT isolation level, you can change it to another isolation level and then back to SNAPSHOT"
ALTER DATABASE CURRENT SET ALLOW_SNAPSHOT_ISOLATION ON
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NOT NULL);
INSERT INTO dbo.t VALUES (1, 1), (2, 1)
GO
SET TRANSACTION ISOLATION LEVEL SNAPSHOT;
BEGIN TRANSACTION;
SELECT note FROM dbo.t WHERE id = 1
-- expect
--   1
GO
-- session 2
UPDATE dbo.t SET note = 2 WHERE id = 1
GO
-- session 1
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
SELECT id, note FROM dbo.t;
UPDATE dbo.t SET note = 5 WHERE id = 2
-- expect
--   1 | 2
--   2 | 1
GO
SET TRANSACTION ISOLATION LEVEL SNAPSHOT;
SELECT id, note FROM dbo.t
-- expect
--   1 | 1
--   2 | 5
GO
COMMIT;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
SELECT id, note FROM dbo.t
-- expect
--   1 | 2
--   2 | 5
GO
