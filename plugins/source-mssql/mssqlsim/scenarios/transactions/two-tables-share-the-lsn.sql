-- source: "Microsoft: cdc.<capture_instance>_CT (Transact-SQL), __$start_lsn"
-- source: "Microsoft: About change data capture (SQL Server), Change table: the commit LSN both identifies changes that were committed within the same transaction, and orders those transactions"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.orders (id int NOT NULL CONSTRAINT PK_orders PRIMARY KEY);
CREATE TABLE dbo.lines (id int NOT NULL, n int NOT NULL, CONSTRAINT PK_lines PRIMARY KEY (id, n));
EXEC sys.sp_cdc_enable_table N'dbo', N'orders', @role_name = NULL;
EXEC sys.sp_cdc_enable_table N'dbo', N'lines', @role_name = NULL
GO
BEGIN TRANSACTION;
INSERT INTO dbo.orders VALUES (1);
INSERT INTO dbo.lines VALUES (1, 1), (1, 2);
COMMIT;
INSERT INTO dbo.lines VALUES (1, 3)
GO
-- capture
SELECT [__$start_lsn], id FROM cdc.dbo_orders_CT
-- expect
--   $lsn1 | 1
GO
SELECT [__$start_lsn], n FROM cdc.dbo_lines_CT ORDER BY n
-- expect
--   $lsn1 | 1
--   $lsn1 | 2
--   $lsn2 | 3
GO
SELECT COUNT(*) FROM cdc.lsn_time_mapping WHERE start_lsn IN (SELECT [__$start_lsn] FROM cdc.dbo_lines_CT)
-- expect
--   2
GO
