-- source: "Microsoft: Transaction locking and row versioning guide, Exclusive locks: no other transactions can modify the data protected by the lock"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NOT NULL);
INSERT INTO dbo.t VALUES (1, 0);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
BEGIN TRANSACTION;
UPDATE dbo.t SET note = note + 1
GO
-- session 2
UPDATE dbo.t SET note = note + 10
-- waits
GO
-- session 1
COMMIT
GO
-- session 2
-- ends
GO
-- capture
SELECT [__$start_lsn], [__$operation], note FROM cdc.dbo_t_CT ORDER BY [__$start_lsn], [__$operation]
-- expect
--   $lsn1 | 3 | 0
--   $lsn1 | 4 | 1
--   $lsn2 | 3 | 1
--   $lsn2 | 4 | 11
GO
