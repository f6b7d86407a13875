-- source: "Microsoft: sys.sp_cdc_cleanup_change_table (Transact-SQL), @low_water_mark: it must appear as the start_lsn value of a current entry in the cdc.lsn_time_mapping table"
-- source: "Microsoft: Database engine events and errors, 22850, 22920, 22963 and 22964"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;
INSERT INTO dbo.t VALUES (1)
GO
-- capture
EXEC sys.sp_cdc_cleanup_change_table N'dbo_t', 0x00000000000000000001
-- error 22964
GO
DECLARE @beyond binary(10) = sys.fn_cdc_increment_lsn((SELECT MAX([__$start_lsn]) FROM cdc.dbo_t_CT));
EXEC sys.sp_cdc_cleanup_change_table N'dbo_t', @beyond
-- error 22964
GO
EXEC sys.sp_cdc_cleanup_change_table N'none', NULL
-- error 22920
GO
EXEC sys.sp_cdc_cleanup_change_table NULL, NULL
-- error 22963
GO
EXEC sys.sp_cdc_cleanup_change_table N'dbo_t', NULL, 0
-- error 22850
GO
/* @low_water_mark has no default */
EXEC sys.sp_cdc_cleanup_change_table N'dbo_t'
-- error 201
GO
SELECT COUNT(*) FROM cdc.dbo_t_CT
-- expect
--   1
GO
