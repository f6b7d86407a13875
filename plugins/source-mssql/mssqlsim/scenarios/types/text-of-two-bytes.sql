-- source: "Microsoft: nchar and nvarchar (Transact-SQL)"
-- source: "Microsoft: cdc.<capture_instance>_CT (Transact-SQL), Captured Column Data Types"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, a nchar(3), b nvarchar(10), c nvarchar(max), d ntext, e xml);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t VALUES (1, N'東', N'Łódź 🙂', N'ñ', N'京', N'<a b="1">x</a>'), (2, NULL, NULL, NULL, NULL, NULL)
GO
-- capture
SELECT id, a, b, c, d, e FROM cdc.dbo_t_CT ORDER BY id
-- expect
--   1 | '東  ' | Łódź 🙂 | ñ | 京 | <a b="1">x</a>
--   2 | NULL | NULL | NULL | NULL | NULL
GO
SELECT DATALENGTH(a), DATALENGTH(b) FROM cdc.dbo_t_CT WHERE id = 1
-- expect
--   6 | 14
GO
