-- source: "Microsoft: sys.sp_cdc_enable_table (Transact-SQL), @capture_instance: derived from the source schema name plus the source table name"
-- source: "Microsoft: sys.sp_cdc_help_change_data_capture (Transact-SQL), Result sets"
EXEC sys.sp_cdc_enable_db
GO
CREATE SCHEMA sales
GO
CREATE TABLE sales.orders (id int NOT NULL CONSTRAINT PK_orders PRIMARY KEY, [a b] int NULL);
EXEC sys.sp_cdc_enable_table N'sales', N'orders', @role_name = NULL
GO
EXEC sys.sp_cdc_help_change_data_capture
-- unordered source_schema | source_table | capture_instance | object_id | source_object_id | end_lsn | supports_net_changes | role_name | index_name | filegroup_name | index_column_list | captured_column_list
--   sales | orders | sales_orders | $id1 | $id2 | NULL | 1 | NULL | PK_orders | NULL | [id] | [id], [a b]
GO
SELECT OBJECT_ID('cdc.sales_orders_CT'), OBJECT_ID('sales.orders')
-- expect
--   $id1 | $id2
GO
