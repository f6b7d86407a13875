-- source: "Microsoft: Primary and foreign key constraints, Cascading referential integrity: NO ACTION, the delete or update action on the row in the parent table is rolled back; it is checked for when all other actions are applied"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.p (id int NOT NULL CONSTRAINT PK_p PRIMARY KEY);
CREATE TABLE dbo.c (id int NOT NULL CONSTRAINT PK_c PRIMARY KEY, p int NULL CONSTRAINT FK_c FOREIGN KEY REFERENCES dbo.p (id) ON DELETE CASCADE);
CREATE TABLE dbo.g (id int NOT NULL CONSTRAINT PK_g PRIMARY KEY, c int NULL CONSTRAINT FK_g FOREIGN KEY REFERENCES dbo.c (id));
EXEC sys.sp_cdc_enable_table N'dbo', N'p', @role_name = NULL;
EXEC sys.sp_cdc_enable_table N'dbo', N'c', @role_name = NULL
GO
INSERT INTO dbo.p VALUES (1), (2);
INSERT INTO dbo.c VALUES (10, 1), (20, 2);
INSERT INTO dbo.g VALUES (100, 10)
GO
INSERT INTO dbo.c VALUES (30, 3)
-- error 547
GO
DELETE FROM dbo.p WHERE id = 1
-- error 547
GO
BEGIN TRANSACTION
DELETE FROM dbo.p WHERE id = 2
GO
DELETE FROM dbo.p WHERE id = 1
-- error 547
GO
COMMIT
GO
-- capture
SELECT [__$start_lsn], id FROM cdc.dbo_p_CT WHERE [__$operation] = 1
-- expect
--   $lsn1 | 2
GO
SELECT [__$start_lsn], id, p FROM cdc.dbo_c_CT WHERE [__$operation] = 1
-- expect
--   $lsn1 | 20 | 2
GO
