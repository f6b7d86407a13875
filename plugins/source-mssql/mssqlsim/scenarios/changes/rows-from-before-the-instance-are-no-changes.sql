-- source: "Microsoft: About change data capture (SQL Server), Change data capture validity interval for a capture instance"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NULL);
INSERT INTO dbo.t VALUES (1, 10), (2, 20);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
UPDATE dbo.t SET note = 11 WHERE id = 1
GO
-- capture
SELECT [__$operation], id, note FROM cdc.dbo_t_CT ORDER BY [__$operation]
-- expect
--   3 | 1 | 10
--   4 | 1 | 11
GO
