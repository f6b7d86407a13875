-- source: "Microsoft: Primary and foreign key constraints, Cascading referential integrity: CASCADE, corresponding rows are updated or deleted in the referencing table"
-- source: "Microsoft: cdc.<capture_instance>_CT (Transact-SQL), __$start_lsn: all changes committed in the same transaction share the same commit LSN"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.orders (id int NOT NULL CONSTRAINT PK_orders PRIMARY KEY, note int NULL);
CREATE TABLE dbo.lines (id int NOT NULL CONSTRAINT PK_lines PRIMARY KEY, order_id int NOT NULL CONSTRAINT FK_lines FOREIGN KEY REFERENCES dbo.orders (id) ON DELETE CASCADE, n int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N'orders', @role_name = NULL;
EXEC sys.sp_cdc_enable_table N'dbo', N'lines', @role_name = NULL
GO
INSERT INTO dbo.orders VALUES (1, 5), (2, 6);
INSERT INTO dbo.lines VALUES (10, 1, 1), (11, 1, 2), (20, 2, 3)
GO
DELETE FROM dbo.orders WHERE id = 1
GO
-- capture
SELECT [__$start_lsn], [__$operation], id, note FROM cdc.dbo_orders_CT WHERE [__$operation] = 1
-- expect
--   $lsn1 | 1 | 1 | 5
GO
SELECT [__$start_lsn], [__$operation], id, order_id, n FROM cdc.dbo_lines_CT WHERE [__$operation] = 1
-- unordered
--   $lsn1 | 1 | 10 | 1 | 1
--   $lsn1 | 1 | 11 | 1 | 2
GO
