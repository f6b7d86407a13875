-- source: "Microsoft: float and real (Transact-SQL)"
-- source: "Microsoft: cdc.<capture_instance>_CT (Transact-SQL), Captured Column Data Types"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, a real, b float, c float(24));
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t VALUES (1, 0.1, 0.1, 1.5), (2, -3.4e38, -1.7976931348623157e308, 0), (3, NULL, 2.2250738585072014e-308, NULL)
GO
-- capture
SELECT c.id, c.a, c.b, c.c, CASE WHEN c.a = t.a AND c.b = t.b AND c.c = t.c THEN 'equal' END FROM cdc.dbo_t_CT AS c JOIN dbo.t AS t ON t.id = c.id ORDER BY c.id
-- expect
--   1 | 0.1 | 0.1 | 1.5 | equal
--   2 | -3.4e+38 | -1.7976931348623157e+308 | 0 | equal
--   3 | NULL | 2.2250738585072014e-308 | NULL | NULL
GO
