-- source: "Microsoft: sys.fn_cdc_get_min_lsn (Transact-SQL), Arguments: capture_instance_name is sysname"
-- seen: on SQL Server 2022, under the default collation
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.Orders (id int NOT NULL CONSTRAINT PK_Orders PRIMARY KEY, Note int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N'orders', @role_name = NULL
GO
-- capture
SELECT CASE WHEN sys.fn_cdc_get_min_lsn(N'DBO_ORDERS') = sys.fn_cdc_get_min_lsn(N'dbo_orders') AND sys.fn_cdc_get_min_lsn(N'dbo_ORDERS') > 0x00 THEN 'one' END, sys.fn_cdc_get_column_ordinal(N'dbo_ORDERS', N'NOTE')
-- expect
--   one | 2
GO
