-- source: "Microsoft: Primary and foreign key constraints, Cascading referential integrity: CASCADE, corresponding rows are updated or deleted in the referencing table"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.p (id int NOT NULL CONSTRAINT PK_p PRIMARY KEY, code int NOT NULL CONSTRAINT UQ_p UNIQUE);
CREATE TABLE dbo.c (id int NOT NULL CONSTRAINT PK_c PRIMARY KEY, code int NULL CONSTRAINT FK_c FOREIGN KEY REFERENCES dbo.p (code) ON UPDATE CASCADE);
EXEC sys.sp_cdc_enable_table N'dbo', N'c', @role_name = NULL
GO
INSERT INTO dbo.p VALUES (1, 100);
INSERT INTO dbo.c VALUES (10, 100), (11, NULL)
GO
UPDATE dbo.p SET code = 200
GO
-- capture
SELECT [__$operation], id, code FROM cdc.dbo_c_CT WHERE [__$operation] > 2 ORDER BY [__$operation]
-- expect
--   3 | 10 | 100
--   4 | 10 | 200
GO
