-- source: "Microsoft: OUTPUT clause (Transact-SQL)"
-- source: "Microsoft: About change data capture (SQL Server), Change table"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NULL);
INSERT INTO dbo.t VALUES (1, 1), (2, 2);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
UPDATE dbo.t SET note = note * 10 OUTPUT deleted.id, deleted.note, inserted.note WHERE id = 2;
DELETE FROM dbo.t OUTPUT deleted.id, deleted.note WHERE id = 1
-- expect
--   2 | 2 | 20
-- expect
--   1 | 1
GO
-- capture
SELECT [__$operation], id, note FROM cdc.dbo_t_CT ORDER BY [__$start_lsn], [__$operation]
-- expect
--   3 | 2 | 2
--   4 | 2 | 20
--   1 | 1 | 1
GO
