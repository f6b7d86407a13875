-- source: "Microsoft: cdc.<capture_instance>_CT (Transact-SQL), Captured Column Data Types: timestamp columns are defined as binary(8)"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NULL, rv rowversion NOT NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t (id, note) VALUES (1, 1);
UPDATE dbo.t SET note = 2
GO
-- capture
SELECT c.[__$operation], DATALENGTH(c.rv), CASE WHEN c.rv = t.rv THEN 'as it is' ELSE 'as it was' END FROM cdc.dbo_t_CT AS c JOIN dbo.t AS t ON t.id = c.id ORDER BY c.[__$start_lsn], c.[__$operation]
-- expect
--   2 | 8 | as it was
--   3 | 8 | as it was
--   4 | 8 | as it is
GO
SELECT t.name, c.max_length FROM sys.columns AS c JOIN sys.types AS t ON t.user_type_id = c.user_type_id WHERE c.object_id = OBJECT_ID('cdc.dbo_t_CT') AND c.name = 'rv'
-- expect
--   binary | 8
GO
