-- source: "Microsoft: ALTER TABLE (Transact-SQL), ALTER COLUMN, COLLATE: if not specified, the column is assigned the default collation of the database"
-- source: "Microsoft: What is change data capture (CDC)?, Handling changes to source tables: an existing column that undergoes a change in its data type has the change propagated to the change table"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note nvarchar(10) COLLATE Greek_CS_AS NULL, kept nvarchar(10) COLLATE Greek_CS_AS NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t VALUES (1, N'α', N'α')
GO
ALTER TABLE dbo.t ALTER COLUMN note nvarchar(20) NULL
GO
ALTER TABLE dbo.t ALTER COLUMN kept nvarchar(20) COLLATE Greek_CS_AS NULL
GO
INSERT INTO dbo.t VALUES (2, N'β', N'β')
GO
-- capture
SELECT s.name, CASE s.collation_name WHEN CAST(DATABASEPROPERTYEX(DB_NAME(), 'Collation') AS nvarchar(128)) THEN 'database' ELSE s.collation_name END,
       CASE c.collation_name WHEN s.collation_name THEN 'same' ELSE c.collation_name END
FROM sys.columns AS s JOIN sys.columns AS c ON c.object_id = OBJECT_ID(N'cdc.dbo_t_CT') AND c.name = s.name
WHERE s.object_id = OBJECT_ID(N'dbo.t') AND s.column_id > 1 ORDER BY s.column_id
-- expect
--   note | database | same
--   kept | Greek_CS_AS | same
GO
SELECT id, note, kept FROM cdc.dbo_t_CT ORDER BY id
-- expect
--   1 | α | α
--   2 | β | β
GO
