-- source: "Microsoft: Database engine events and errors, 4711: cannot truncate table because it is published for replication or enabled for Change Data Capture"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;
INSERT INTO dbo.t VALUES (1)
GO
TRUNCATE TABLE dbo.t
-- error 4711
GO
SELECT COUNT(*) FROM dbo.t
-- expect
--   1
GO
EXEC sys.sp_cdc_disable_table N'dbo', N't', N'all';
TRUNCATE TABLE dbo.t
GO
SELECT COUNT(*) FROM dbo.t
-- expect
--   0
GO
