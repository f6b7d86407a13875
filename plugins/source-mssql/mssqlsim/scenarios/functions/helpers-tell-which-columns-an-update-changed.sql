-- source: "Microsoft: sys.fn_cdc_is_bit_set (Transact-SQL), Remarks"
-- source: "Microsoft: sys.fn_cdc_has_column_changed (Transact-SQL), Remarks"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, a int NULL, b int NULL);
INSERT INTO dbo.t VALUES (1, 1, 1);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
UPDATE dbo.t SET a = 2;
UPDATE dbo.t SET b = 2
GO
-- capture
DECLARE @a int = sys.fn_cdc_get_column_ordinal(N'dbo_t', N'a');
SELECT a, b, sys.fn_cdc_is_bit_set(@a, [__$update_mask]), sys.fn_cdc_has_column_changed(N'dbo_t', N'b', [__$update_mask]), sys.fn_cdc_has_column_changed(N'dbo_t', N'id', [__$update_mask])
FROM cdc.fn_cdc_get_all_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), sys.fn_cdc_get_max_lsn(), N'all') WHERE [__$operation] = 4 ORDER BY [__$start_lsn]
-- expect
--   2 | 1 | 1 | 0 | 0
--   2 | 2 | 0 | 1 | 0
GO
SELECT sys.fn_cdc_is_bit_set(1, 0x05), sys.fn_cdc_is_bit_set(2, 0x05), sys.fn_cdc_is_bit_set(3, 0x05), sys.fn_cdc_is_bit_set(9, 0x0100), sys.fn_cdc_is_bit_set(1, 0x0100)
-- expect
--   1 | 0 | 1 | 1 | 0
GO
