-- source: "Microsoft: cdc.ddl_history (Transact-SQL), ddl_lsn: the log sequence number associated with the commitment of the DDL modification"
-- source: "Microsoft: cdc.<capture_instance>_CT (Transact-SQL), __$start_lsn: the commit LSN associated with the change"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, a int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
-- session 2
SET LOCK_TIMEOUT 100
GO
-- session 1
BEGIN TRANSACTION;
ALTER TABLE dbo.t ADD b int NULL;
ALTER TABLE dbo.t ALTER COLUMN a bigint NULL
GO
-- session 1
INSERT INTO dbo.t VALUES (1, 5000000000, 2)
GO
-- session 2
SELECT COUNT(*) FROM dbo.t
-- error 1222
GO
-- session 1
COMMIT
GO
-- capture
SELECT h.ddl_command, h.required_column_update, c.[__$start_lsn], c.id, c.a
FROM cdc.ddl_history AS h JOIN cdc.dbo_t_CT AS c ON c.[__$start_lsn] = h.ddl_lsn
-- unordered
--   ALTER TABLE dbo.t ADD b int NULL | 0 | $lsn1 | 1 | 5000000000
--   ALTER TABLE dbo.t ALTER COLUMN a bigint NULL | 1 | $lsn1 | 1 | 5000000000
GO
