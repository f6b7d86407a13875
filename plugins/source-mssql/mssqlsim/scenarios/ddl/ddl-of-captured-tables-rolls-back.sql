-- source: "Microsoft: cdc.ddl_history (Transact-SQL), ddl_lsn: the log sequence number associated with the commitment of the DDL modification"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
BEGIN TRANSACTION;
ALTER TABLE dbo.t ADD a int NULL;
ROLLBACK
GO
INSERT INTO dbo.t VALUES (1)
GO
-- capture
EXEC sys.sp_cdc_get_ddl_history N'dbo_t'
-- unordered ddl_command
--   (no rows)
GO
SELECT id FROM cdc.dbo_t_CT
-- expect
--   1
GO
