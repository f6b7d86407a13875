-- source: "Microsoft: SET TRANSACTION ISOLATION LEVEL (Transact-SQL), SNAPSHOT: a transaction cannot be set to SNAPSHOT isolation level that started with another isolation level; doing so will cause the transaction to abort"
-- source: "Microsoft: Database engine events and errors, 3951"
ALTER DATABASE CURRENT SET ALLOW_SNAPSHOT_ISOLATION ON
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NOT NULL);
INSERT INTO dbo.t VALUES (1, 1)
GO
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
BEGIN TRANSACTION;
SELECT note FROM dbo.t;
SET TRANSACTION ISOLATION LEVEL SNAPSHOT
-- expect
--   1
GO
SELECT note FROM dbo.t
-- error 3951
GO
SELECT @@TRANCOUNT
-- expect
--   0
GO
/* a transaction that has read nothing has not started */
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
BEGIN TRANSACTION;
SET TRANSACTION ISOLATION LEVEL SNAPSHOT;
SELECT note FROM dbo.t
-- expect
--   1
GO
-- session 2
UPDATE dbo.t SET note = 2
GO
-- session 1
SELECT note FROM dbo.t;
COMMIT
-- expect
--   1
GO
