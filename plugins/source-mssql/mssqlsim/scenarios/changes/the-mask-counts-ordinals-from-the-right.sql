-- source: "Microsoft: cdc.<capture_instance>_CT (Transact-SQL), __$update_mask: a bit mask based upon the column ordinals of the change table"
-- source: "Microsoft: sys.fn_cdc_get_column_ordinal (Transact-SQL), Remarks"
/* Ten captured columns need two bytes; the last column is the second bit of the first byte. */
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, c2 int, c3 int, c4 int, c5 int, c6 int, c7 int, c8 int, c9 int, c10 int);
INSERT INTO dbo.t (id) VALUES (1);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
UPDATE dbo.t SET c8 = 1;
UPDATE dbo.t SET c9 = 1;
UPDATE dbo.t SET c10 = 1;
UPDATE dbo.t SET c2 = 2, c10 = 2;
DELETE FROM dbo.t
GO
-- capture
SELECT [__$operation], [__$update_mask] FROM cdc.dbo_t_CT WHERE [__$operation] <> 3 ORDER BY [__$start_lsn]
-- expect
--   4 | 0x0080
--   4 | 0x0100
--   4 | 0x0200
--   4 | 0x0202
--   1 | 0x03FF
GO
SELECT sys.fn_cdc_get_column_ordinal('dbo_t', 'id'), sys.fn_cdc_get_column_ordinal('dbo_t', 'c8'), sys.fn_cdc_get_column_ordinal('dbo_t', 'c10')
-- expect
--   1 | 8 | 10
GO
