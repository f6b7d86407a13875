-- source: "Microsoft: sys.sp_cdc_enable_table (Transact-SQL), Arguments"
-- source: "Microsoft: Database engine events and errors, 22926, 22927, 22931, 22963 and 22974"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
CREATE TABLE dbo.u (id int NOT NULL CONSTRAINT PK_u PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @capture_instance = N'taken'
GO
/* @role_name has no default */
EXEC sys.sp_cdc_enable_table N'dbo', N'u'
-- error 201
GO
EXEC sys.sp_cdc_enable_table N'dbo', N'none', @role_name = NULL
-- error 22931
GO
EXEC sys.sp_cdc_enable_table NULL, N'u', @role_name = NULL
-- error 22963
GO
EXEC sys.sp_cdc_enable_table N'cdc', N'taken_CT', @role_name = NULL
-- error 22974
GO
EXEC sys.sp_cdc_enable_table N'dbo', N'u', @role_name = NULL, @capture_instance = N'Taken  '
-- error 22926
GO
DECLARE @long nvarchar(128) = REPLICATE(N'n', 101);
EXEC sys.sp_cdc_enable_table N'dbo', N'u', @role_name = NULL, @capture_instance = @long
-- error 22927
GO
DECLARE @long nvarchar(128) = REPLICATE(N'n', 100);
EXEC sys.sp_cdc_enable_table N'dbo', N'u', @role_name = NULL, @capture_instance = @long
GO
