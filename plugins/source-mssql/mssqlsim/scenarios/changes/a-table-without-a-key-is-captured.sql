-- source: "Microsoft: sys.sp_cdc_enable_table (Transact-SQL), @supports_net_changes: the parameter defaults to 0"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.heap (a int NULL, b int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N'heap', @role_name = NULL
GO
INSERT INTO dbo.heap VALUES (1, 1), (1, 1), (NULL, NULL);
UPDATE dbo.heap SET b = 2 WHERE a = 1;
DELETE FROM dbo.heap WHERE a IS NULL
GO
-- capture
SELECT [__$start_lsn], [__$operation], a, b FROM cdc.dbo_heap_CT ORDER BY [__$start_lsn], a, [__$operation], b
-- expect
--   $lsn1 | 2 | NULL | NULL
--   $lsn1 | 2 | 1 | 1
--   $lsn1 | 2 | 1 | 1
--   $lsn2 | 3 | 1 | 1
--   $lsn2 | 3 | 1 | 1
--   $lsn2 | 4 | 1 | 2
--   $lsn2 | 4 | 1 | 2
--   $lsn3 | 1 | NULL | NULL
GO
SELECT supports_net_changes, index_name FROM cdc.change_tables WHERE capture_instance = N'dbo_heap'
-- expect
--   0 | NULL
GO
