-- source: "Microsoft: Transaction locking and row versioning guide, Lock modes: update locks are used to prevent a common form of deadlock: two transactions hold shared locks and then attempt to update"
-- source: "Microsoft: SET DEADLOCK_PRIORITY (Transact-SQL), Arguments, LOW"
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NOT NULL);
INSERT INTO dbo.t VALUES (1, 0)
GO
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
BEGIN TRANSACTION;
SELECT note FROM dbo.t WHERE id = 1
-- expect
--   0
GO
-- session 2
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
SET DEADLOCK_PRIORITY LOW;
BEGIN TRANSACTION;
SELECT note FROM dbo.t WHERE id = 1
-- expect
--   0
GO
-- session 1
UPDATE dbo.t SET note = 1 WHERE id = 1
-- waits
GO
-- session 2
UPDATE dbo.t SET note = 2 WHERE id = 1
-- error 1205
GO
-- session 1
-- ends
GO
COMMIT;
SELECT note FROM dbo.t
-- expect
--   1
GO
