-- source: "Microsoft: cdc.fn_cdc_get_all_changes_<capture_instance> (Transact-SQL), Remarks"
-- source: "Microsoft: cdc.<capture_instance>_CT (Transact-SQL), Large Object Data Types"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NULL, a text NULL, b ntext NULL, c image NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t VALUES (1, 1, 'one', N'two', 0x03);
UPDATE dbo.t SET a = 'uno', b = N'due', c = 0x33;
DELETE FROM dbo.t
GO
-- capture
SELECT [__$operation], id, note, a, b, c FROM cdc.fn_cdc_get_all_changes_dbo_t(sys.fn_cdc_get_min_lsn('dbo_t'), sys.fn_cdc_get_max_lsn(), N'all update old')
ORDER BY [__$start_lsn], [__$operation]
-- expect
--   2 | 1 | 1 | one | two | 0x03
--   3 | 1 | 1 | NULL | NULL | NULL
--   4 | 1 | 1 | uno | due | 0x33
--   1 | 1 | 1 | NULL | NULL | NULL
GO
