-- source: "Microsoft: sys.sp_cdc_enable_table (Transact-SQL), @index_name and @supports_net_changes"
-- source: "Microsoft: Database engine events and errors, 22838, 22928, 22929 and 22939"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.heap (id int NULL, code int NOT NULL);
CREATE UNIQUE INDEX UX_id ON dbo.heap (id);
CREATE INDEX IX_code ON dbo.heap (code)
GO
EXEC sys.sp_cdc_enable_table N'dbo', N'heap', @role_name = NULL, @supports_net_changes = 1
-- error 22939
GO
EXEC sys.sp_cdc_enable_table N'dbo', N'heap', @role_name = NULL, @index_name = N'none'
-- error 22928
GO
EXEC sys.sp_cdc_enable_table N'dbo', N'heap', @role_name = NULL, @index_name = N'IX_code'
-- error 22929
GO
EXEC sys.sp_cdc_enable_table N'dbo', N'heap', @role_name = NULL, @index_name = N'UX_id'
-- error 22838
GO
