-- source: "Microsoft: Table hints (Transact-SQL), TABLOCKX: specifies that an exclusive lock is taken on the table; XLOCK: exclusive locks are to be taken and held until the transaction completes"
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NOT NULL)
GO
BEGIN TRANSACTION;
SELECT COUNT(*) FROM dbo.t WITH (TABLOCKX)
-- expect
--   0
GO
-- session 2
SELECT COUNT(*) FROM dbo.t
-- waits
GO
-- session 1
INSERT INTO dbo.t VALUES (1, 1), (2, 2);
COMMIT
GO
-- session 2
-- ends
-- expect
--   2
GO
-- session 1
BEGIN TRANSACTION;
SELECT note FROM dbo.t WITH (XLOCK, TABLOCK) WHERE id = 1
-- expect
--   1
GO
-- session 2
SET LOCK_TIMEOUT 100;
SELECT note FROM dbo.t WHERE id = 1
-- error 1222
GO
SELECT note FROM dbo.t WITH (NOLOCK) WHERE id = 1
-- expect
--   1
GO
-- session 1
COMMIT
GO
-- session 2
SELECT note FROM dbo.t WHERE id = 1
-- expect
--   1
GO
