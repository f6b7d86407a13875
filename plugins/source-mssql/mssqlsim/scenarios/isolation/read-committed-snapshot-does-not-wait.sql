-- source: "Microsoft: SET TRANSACTION ISOLATION LEVEL (Transact-SQL), READ COMMITTED: if READ_COMMITTED_SNAPSHOT is set ON, the Database Engine uses row versioning"
ALTER DATABASE CURRENT SET READ_COMMITTED_SNAPSHOT ON
GO
SELECT is_read_committed_snapshot_on FROM sys.databases WHERE name = DB_NAME()
-- expect
--   1
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NOT NULL);
INSERT INTO dbo.t VALUES (1, 1)
GO
BEGIN TRANSACTION;
UPDATE dbo.t SET note = 10
GO
-- session 2
BEGIN TRANSACTION;
SELECT note FROM dbo.t
-- expect
--   1
GO
-- session 1
COMMIT
GO
/* as of the statement, not of the transaction */
-- session 2
SELECT note FROM dbo.t;
COMMIT
-- expect
--   10
GO
