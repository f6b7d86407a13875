-- source: "Microsoft: Table hints (Transact-SQL), UPDLOCK: specifies that update locks are to be taken and held until the transaction completes"
-- source: "Microsoft: Transaction locking and row versioning guide, Lock compatibility, the table: a shared lock is granted beside an update lock, another update lock is not"
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NOT NULL);
INSERT INTO dbo.t VALUES (1, 1), (2, 2)
GO
BEGIN TRANSACTION;
SELECT note FROM dbo.t WITH (UPDLOCK) WHERE id = 1
-- expect
--   1
GO
-- session 2
SELECT note FROM dbo.t WHERE id = 1
-- expect
--   1
GO
UPDATE dbo.t SET note = 7 WHERE id = 2
GO
SELECT note FROM dbo.t WITH (UPDLOCK) WHERE id = 1
-- waits
GO
-- session 1
UPDATE dbo.t SET note = note + 10 WHERE id = 1;
COMMIT
GO
-- session 2
-- ends
-- expect
--   11
GO
