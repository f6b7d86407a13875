-- source: "Microsoft: sys.fn_cdc_get_max_lsn (Transact-SQL), Permissions: membership in the public database role"
-- source: "Microsoft: sys.fn_cdc_map_time_to_lsn (Transact-SQL), Permissions: membership in the public role"
-- seen: on SQL Server 2022, cdc.lsn_time_mapping is readable and the other tables of the schema are not
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;
INSERT INTO dbo.t VALUES (1)
GO
-- capture
-- login reader
-- as reader
SELECT sys.fn_cdc_get_max_lsn(), sys.fn_cdc_map_lsn_to_time(sys.fn_cdc_get_max_lsn()), sys.fn_cdc_increment_lsn(0x0000002A000001F00003), sys.fn_cdc_is_bit_set(1, 0x01)
-- expect
--   $lsn1 | $time1 | 0x0000002A000001F00004 | 1
GO
SELECT COUNT(*) FROM cdc.lsn_time_mapping WHERE start_lsn = sys.fn_cdc_get_max_lsn()
-- expect
--   1
GO
SELECT * FROM cdc.change_tables
-- error 229
GO
SELECT * FROM cdc.captured_columns
-- error 229
GO
SELECT * FROM cdc.ddl_history
-- error 229
GO
SELECT * FROM cdc.index_columns
-- error 229
GO
