-- source: "Microsoft: Deadlocks guide, Deadlock detection: the session with the lower priority is chosen as the deadlock victim; error 1205, and its transaction is rolled back"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NOT NULL);
INSERT INTO dbo.t VALUES (1, 0), (2, 0);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
BEGIN TRANSACTION;
UPDATE dbo.t SET note = 1 WHERE id = 1
GO
-- session 2
SET DEADLOCK_PRIORITY LOW;
BEGIN TRANSACTION;
UPDATE dbo.t SET note = 2 WHERE id = 2
GO
-- session 1
UPDATE dbo.t SET note = 1 WHERE id = 2
-- waits
GO
-- session 2
UPDATE dbo.t SET note = 2 WHERE id = 1
-- error 1205
GO
SELECT @@TRANCOUNT
-- expect
--   0
GO
-- session 1
-- ends
GO
COMMIT
GO
-- capture
SELECT [__$start_lsn], id, note FROM cdc.dbo_t_CT WHERE [__$operation] = 4 ORDER BY id
-- expect
--   $lsn1 | 1 | 1
--   $lsn1 | 2 | 1
GO
