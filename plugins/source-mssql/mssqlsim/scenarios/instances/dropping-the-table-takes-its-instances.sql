-- source: "Microsoft: Enable and disable change data capture, Disable for a table: if a change data capture-enabled table is dropped, change data capture metadata that is associated with the table is automatically removed"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;
INSERT INTO dbo.t VALUES (1)
GO
-- capture
DROP TABLE dbo.t
GO
SELECT OBJECT_ID('cdc.dbo_t_CT'), sys.fn_cdc_get_min_lsn(N'dbo_t'), (SELECT COUNT(*) FROM cdc.change_tables WHERE capture_instance = N'dbo_t')
-- expect
--   NULL | 0x00000000000000000000 | 0
GO
/* a new table of the name is not captured until it is enabled */
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY)
GO
EXEC sys.sp_cdc_help_change_data_capture N'dbo', N't'
-- error 22985
GO
