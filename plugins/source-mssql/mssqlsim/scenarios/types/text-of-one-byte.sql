-- source: "Microsoft: char and varchar (Transact-SQL)"
-- source: "Microsoft: cdc.<capture_instance>_CT (Transact-SQL), Captured Column Data Types"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, a char(5), b varchar(10), c varchar(max), d text);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t VALUES (1, 'ab', 'ab ', REPLICATE(CAST('x' AS varchar(max)), 9000), 'long'), (2, '', '', '', ''), (3, NULL, NULL, NULL, NULL), (4, 'a|b', 'it''s', 'NULL', 'd')
GO
-- capture
SELECT id, a, b, CASE WHEN LEN(c) > 100 THEN CONCAT(LEN(c), ' ', LEFT(c, 3)) ELSE c END, d FROM cdc.dbo_t_CT ORDER BY id
-- expect
--   1 | 'ab   ' | 'ab ' | 9000 xxx | long
--   2 | '     ' | '' | '' | ''
--   3 | NULL | NULL | NULL | NULL
--   4 | 'a|b  ' | 'it''s' | 'NULL' | d
GO
EXEC sys.sp_cdc_get_captured_columns N'dbo_t'
-- unordered column_name | data_type | character_maximum_length
--   id | int | NULL
--   a | char | 5
--   b | varchar | 10
--   c | varchar | -1
--   d | text | 2147483647
GO
