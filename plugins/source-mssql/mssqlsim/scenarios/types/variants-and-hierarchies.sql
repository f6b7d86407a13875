-- source: "Microsoft: sql_variant (Transact-SQL)"
-- source: "Microsoft: hierarchyid data type method reference"
-- source: "Microsoft: cdc.<capture_instance>_CT (Transact-SQL), Captured Column Data Types"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, v sql_variant NULL, h hierarchyid NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t VALUES (1, 42, '/1/2/'), (2, CAST(N'text' AS nvarchar(10)), '/'), (3, NULL, NULL)
GO
-- capture
SELECT id, CAST(SQL_VARIANT_PROPERTY(v, 'BaseType') AS nvarchar(20)), CAST(v AS nvarchar(20)), CAST(h AS nvarchar(20)) FROM cdc.dbo_t_CT ORDER BY id
-- expect
--   1 | int | 42 | /1/2/
--   2 | nvarchar | text | /
--   3 | NULL | NULL | NULL
GO
