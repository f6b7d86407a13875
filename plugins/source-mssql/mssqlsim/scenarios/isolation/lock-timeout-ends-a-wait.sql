-- source: "Microsoft: SET LOCK_TIMEOUT (Transact-SQL): when a wait for a lock exceeds the time-out value, an error is returned"
-- source: "Microsoft: Database engine events and errors, 1222"
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NOT NULL);
INSERT INTO dbo.t VALUES (1, 1), (2, 2)
GO
BEGIN TRANSACTION;
UPDATE dbo.t SET note = 10 WHERE id = 1
GO
-- session 2
SET LOCK_TIMEOUT 0;
SELECT @@LOCK_TIMEOUT
-- expect
--   0
GO
SELECT note FROM dbo.t WHERE id = 1
-- error 1222
GO
UPDATE dbo.t SET note = 11 WHERE id = 1
-- error 1222
GO
SET LOCK_TIMEOUT 50;
SELECT COUNT(*) FROM dbo.t
-- error 1222
GO
/* it ends the statement, not the transaction */
BEGIN TRANSACTION;
UPDATE dbo.t SET note = 20 WHERE id = 2
GO
SELECT note FROM dbo.t WHERE id = 1
-- error 1222
GO
SELECT @@TRANCOUNT;
COMMIT
-- expect
--   1
GO
-- session 1
ROLLBACK
GO
SELECT id, note FROM dbo.t ORDER BY id
-- expect
--   1 | 1
--   2 | 20
GO
