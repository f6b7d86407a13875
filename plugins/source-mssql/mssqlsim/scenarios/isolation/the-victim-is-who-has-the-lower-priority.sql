-- source: "Microsoft: SET DEADLOCK_PRIORITY (Transact-SQL), Remarks: which session is chosen as the deadlock victim depends on each session's deadlock priority"
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NOT NULL);
INSERT INTO dbo.t VALUES (1, 0), (2, 0)
GO
SET DEADLOCK_PRIORITY -3;
BEGIN TRANSACTION;
UPDATE dbo.t SET note = 1 WHERE id = 1
GO
-- session 2
SET DEADLOCK_PRIORITY NORMAL;
BEGIN TRANSACTION;
UPDATE dbo.t SET note = 2 WHERE id = 2
GO
-- session 1
UPDATE dbo.t SET note = 1 WHERE id = 2
-- waits
GO
/* this closes the circle; who has waited goes */
-- session 2
UPDATE dbo.t SET note = 2 WHERE id = 1
GO
COMMIT
GO
-- session 1
-- ends
-- error 1205
GO
SELECT id, note FROM dbo.t ORDER BY id
-- expect
--   1 | 2
--   2 | 2
GO
