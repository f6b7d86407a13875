-- source: "Microsoft: sys.sp_cdc_scan (Transact-SQL), Arguments"
-- source: "Microsoft: Database engine events and errors, 22970, 22991, 22998 and 22999"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
EXEC sys.sp_cdc_scan @maxtrans = 0
-- error 22991
GO
EXEC sys.sp_cdc_scan @maxscans = 0
-- error 22970
GO
EXEC sys.sp_cdc_scan @continuous = 2
-- error 22998
GO
EXEC sys.sp_cdc_scan @continuous = 0, @pollinginterval = 5
-- error 22999
GO
