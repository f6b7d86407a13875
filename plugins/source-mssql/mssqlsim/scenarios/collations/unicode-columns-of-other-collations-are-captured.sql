-- source: "Microsoft: Known issues and errors with CDC, Collation differences: use NCHAR or NVARCHAR data type for columns containing non-ASCII data"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, greek nvarchar(10) COLLATE Greek_CI_AS NULL, chinese nvarchar(10) COLLATE Chinese_PRC_CI_AI NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t VALUES (1, N'άλφα', N'中文');
UPDATE dbo.t SET greek = N'βήτα'
GO
-- capture
SELECT [__$operation], greek, chinese FROM cdc.dbo_t_CT ORDER BY [__$start_lsn], [__$operation]
-- expect
--   2 | άλφα | 中文
--   3 | άλφα | 中文
--   4 | βήτα | 中文
GO
