-- source: "Microsoft: Table hints (Transact-SQL), NOLOCK, READCOMMITTEDLOCK, REPEATABLEREAD; for each table one hint of isolation only (error 1047), and NOLOCK not for the target of a change (error 1065)"
ALTER DATABASE CURRENT SET READ_COMMITTED_SNAPSHOT ON WITH ROLLBACK IMMEDIATE
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NOT NULL);
INSERT INTO dbo.t VALUES (1, 1), (2, 2)
GO
BEGIN TRANSACTION;
UPDATE dbo.t SET note = 10 WHERE id = 1
GO
-- session 2
SELECT note FROM dbo.t WHERE id = 1
-- expect
--   1
GO
SELECT note FROM dbo.t WITH (NOLOCK) WHERE id = 1
-- expect
--   10
GO
SELECT note FROM dbo.t WITH (READCOMMITTEDLOCK) WHERE id = 1
-- waits
GO
-- session 1
COMMIT
GO
-- session 2
-- ends
-- expect
--   10
GO
BEGIN TRANSACTION;
SELECT note FROM dbo.t WITH (REPEATABLEREAD) WHERE id = 2
-- expect
--   2
GO
-- session 1
SET LOCK_TIMEOUT 100;
UPDATE dbo.t SET note = 20 WHERE id = 2
-- error 1222
GO
-- session 2
ROLLBACK
GO
SELECT note FROM dbo.t WITH (NOLOCK, HOLDLOCK)
-- error 1047
GO
UPDATE dbo.t WITH (NOLOCK) SET note = 1
-- error 1065
GO
