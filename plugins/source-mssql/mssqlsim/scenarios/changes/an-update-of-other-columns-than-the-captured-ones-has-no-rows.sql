-- source: "Microsoft: cdc.<capture_instance>_CT (Transact-SQL), Data Definition Language Modifications: the capture process ignores those columns that do not appear in the captured column list"
-- seen: on SQL Server 2022, an update that touches only such columns writes no change row
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, secret int NULL, note int NULL);
INSERT INTO dbo.t VALUES (1, 1, 1);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @captured_column_list = N'id, note'
GO
UPDATE dbo.t SET secret = 2;
UPDATE dbo.t SET secret = 3, note = 2
GO
-- capture
SELECT [__$operation], [__$update_mask], id, note FROM cdc.dbo_t_CT ORDER BY [__$operation]
-- expect
--   3 | 0x02 | 1 | 1
--   4 | 0x02 | 1 | 2
GO
SELECT secret FROM cdc.dbo_t_CT
-- error 207
GO
