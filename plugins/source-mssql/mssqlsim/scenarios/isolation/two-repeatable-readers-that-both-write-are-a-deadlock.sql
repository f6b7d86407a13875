-- source: "Microsoft: Transaction locking and row versioning guide, Update locks: both transactions are converting to exclusive locks, and each waits for the other to release its shared lock, a deadlock"
-- source: "Microsoft: SET DEADLOCK_PRIORITY (Transact-SQL), LOW: the current session will be the deadlock victim if other sessions have deadlock priority NORMAL"
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
