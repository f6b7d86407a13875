-- source: "Microsoft: sys.sp_cdc_enable_table (Transact-SQL), @index_name: the identified index columns takes precedence over any defined primary key columns as the unique row identifier"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, code varchar(5) NOT NULL, note int NULL);
CREATE UNIQUE INDEX UX_code ON dbo.t (code);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @supports_net_changes = 1, @index_name = N'UX_code', @captured_column_list = N'code, note'
GO
/* the row's primary key moves; by its code it is the same row */
INSERT INTO dbo.t VALUES (1, 'a', 1), (2, 'b', 2);
UPDATE dbo.t SET id = 3, note = 3 WHERE code = 'a'
GO
-- capture
SELECT [__$operation], code, note FROM cdc.fn_cdc_get_net_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), sys.fn_cdc_get_max_lsn(), N'all') ORDER BY code
-- expect
--   2 | a | 3
--   2 | b | 2
GO
