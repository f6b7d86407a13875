-- source: "Microsoft: cdc.<capture_instance>_CT (Transact-SQL), Data Manipulation Language Modifications: entries are added to the change table in the same order that they were committed"
-- source: "Microsoft: ROLLBACK TRANSACTION (Transact-SQL)"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
BEGIN TRANSACTION;
INSERT INTO dbo.t VALUES (1);
ROLLBACK;
INSERT INTO dbo.t VALUES (2)
GO
-- capture
SELECT id FROM cdc.dbo_t_CT
-- expect
--   2
GO
