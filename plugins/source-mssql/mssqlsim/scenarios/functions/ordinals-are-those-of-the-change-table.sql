-- source: "Microsoft: sys.fn_cdc_get_column_ordinal (Transact-SQL): the column ordinal of the specified column as it appears in the change table"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, a int NULL, b int NULL, c int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;
EXEC sys.sp_cdc_enable_table N'dbo', N't', N'some', @role_name = NULL, @captured_column_list = N'c, id'
GO
-- capture
SELECT sys.fn_cdc_get_column_ordinal(N'dbo_t', N'c'), sys.fn_cdc_get_column_ordinal(N'some', N'id'), sys.fn_cdc_get_column_ordinal(N'some', N'c')
-- expect
--   4 | 1 | 2
GO
