-- source: "Microsoft: Deadlocks guide, Understand deadlocks: a deadlock occurs when two or more tasks permanently block each other"
-- source: "Microsoft: SET LOCK_TIMEOUT (Transact-SQL): when a wait for a lock exceeds the time-out value, an error is returned"
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NOT NULL);
INSERT INTO dbo.t VALUES (1, 0), (2, 0)
GO
BEGIN TRANSACTION;
UPDATE dbo.t SET note = 1 WHERE id = 1
GO
-- session 2
SET LOCK_TIMEOUT 0;
BEGIN TRANSACTION;
UPDATE dbo.t SET note = 2 WHERE id = 2
GO
UPDATE dbo.t SET note = 2 WHERE id = 1
-- error 1222
GO
/* the second one has given up, so there is no circle */
-- session 1
UPDATE dbo.t SET note = 1 WHERE id = 2
-- waits
GO
-- session 2
COMMIT
GO
-- session 1
-- ends
GO
COMMIT;
SELECT id, note FROM dbo.t ORDER BY id
-- expect
--   1 | 1
--   2 | 1
GO
