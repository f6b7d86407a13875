-- source: "Microsoft: Table hints (Transact-SQL), TABLOCK: the shared lock is applied to the entire table; if HOLDLOCK is also specified, it is held until the end of the transaction"
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NOT NULL);
INSERT INTO dbo.t VALUES (1, 1), (2, 2)
GO
BEGIN TRANSACTION;
UPDATE dbo.t SET note = 10 WHERE id = 1
GO
-- session 2
SELECT note FROM dbo.t WHERE id = 2
-- expect
--   2
GO
SELECT note FROM dbo.t WITH (TABLOCK) WHERE id = 2
-- waits
GO
-- session 1
COMMIT
GO
-- session 2
-- ends
-- expect
--   2
GO
BEGIN TRANSACTION;
SELECT note FROM dbo.t WITH (TABLOCK, HOLDLOCK) WHERE id = 2
-- expect
--   2
GO
-- session 1
SET LOCK_TIMEOUT 100;
INSERT INTO dbo.t VALUES (3, 3)
-- error 1222
GO
SELECT note FROM dbo.t WHERE id = 1
-- expect
--   10
GO
-- session 2
COMMIT
GO
