-- source: "Microsoft: Primary and foreign key constraints, Cascading referential integrity: SET NULL, all the values that make up the foreign key are set to NULL"
-- source: "Microsoft: cdc.<capture_instance>_CT (Transact-SQL), __$operation: 3 = update (old values), 4 = update (new values)"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.p (id int NOT NULL CONSTRAINT PK_p PRIMARY KEY);
CREATE TABLE dbo.c (id int NOT NULL CONSTRAINT PK_c PRIMARY KEY, p int NULL CONSTRAINT FK_c FOREIGN KEY REFERENCES dbo.p (id) ON DELETE SET NULL, note int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N'c', @role_name = NULL
GO
INSERT INTO dbo.p VALUES (1), (2);
INSERT INTO dbo.c VALUES (10, 1, 7), (20, 2, 8)
GO
DELETE FROM dbo.p WHERE id = 1
GO
-- capture
SELECT [__$start_lsn], [__$operation], [__$update_mask], id, p, note FROM cdc.dbo_c_CT WHERE [__$operation] > 2 ORDER BY [__$operation]
-- expect
--   $lsn1 | 3 | 0x02 | 10 | 1 | 7
--   $lsn1 | 4 | 0x02 | 10 | NULL | 7
GO
