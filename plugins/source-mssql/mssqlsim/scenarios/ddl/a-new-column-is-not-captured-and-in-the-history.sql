-- source: "Microsoft: About change data capture (SQL Server), Handling changes to source tables: the capture process will ignore any new columns"
-- source: "Microsoft: sys.sp_cdc_get_ddl_history (Transact-SQL), Result sets"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t VALUES (1, 1)
GO
ALTER TABLE dbo.t ADD extra int NULL
GO
INSERT INTO dbo.t (id, note, extra) VALUES (2, 2, 2);
UPDATE dbo.t SET extra = 3
GO
-- capture
SELECT [__$operation], [__$update_mask], id, note FROM cdc.dbo_t_CT ORDER BY id
-- expect
--   2 | 0x03 | 1 | 1
--   2 | 0x03 | 2 | 2
GO
SELECT extra FROM cdc.dbo_t_CT
-- error 207
GO
EXEC sys.sp_cdc_get_ddl_history @capture_instance = N'dbo_t'
-- unordered source_schema | source_table | capture_instance | required_column_update | ddl_command | ddl_lsn | ddl_time
--   dbo | t | dbo_t | 0 | ALTER TABLE dbo.t ADD extra int NULL | $lsn2 | $time1
GO
/* between the commits before and after it */
SELECT MIN([__$start_lsn]), MAX([__$start_lsn]) FROM cdc.dbo_t_CT
-- expect
--   $lsn1 | $lsn3
GO
