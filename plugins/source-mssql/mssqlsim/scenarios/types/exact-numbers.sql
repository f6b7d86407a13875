-- source: "Microsoft: cdc.<capture_instance>_CT (Transact-SQL), Captured Column Data Types: the same data type and value as their corresponding source columns"
-- source: "Microsoft: int, bigint, smallint, and tinyint (Transact-SQL)"
-- source: "Microsoft: decimal and numeric (Transact-SQL)"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, a tinyint, b smallint, c int, d bigint, f decimal(9, 2), g numeric(38, 10), h decimal(38, 38), i money, j smallmoney);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t VALUES
	(1, 0, -32768, -2147483648, -9223372036854775808, -1234567.89, -9999999999999999999999999999.9999999999, 0.00000000000000000000000000000000000001, -922337203685477.5808, -214748.3648),
	(2, 255, 32767, 2147483647, 9223372036854775807, 0.005, 9999999999999999999999999999.9999999999, 0.99999999999999999999999999999999999999, 922337203685477.5807, 214748.3647),
	(3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
GO
-- capture
SELECT id, a, b, c, d, f, g, h, i, j FROM cdc.dbo_t_CT ORDER BY id
-- expect
--   1 | 0 | -32768 | -2147483648 | -9223372036854775808 | -1234567.89 | -9999999999999999999999999999.9999999999 | 0.00000000000000000000000000000000000001 | -922337203685477.5808 | -214748.3648
--   2 | 255 | 32767 | 2147483647 | 9223372036854775807 | 0.01 | 9999999999999999999999999999.9999999999 | 0.99999999999999999999999999999999999999 | 922337203685477.5807 | 214748.3647
--   3 | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
GO
EXEC sys.sp_cdc_get_captured_columns N'dbo_t'
-- unordered column_name | data_type | numeric_precision | numeric_scale
--   id | int | 10 | 0
--   a | tinyint | 3 | 0
--   b | smallint | 5 | 0
--   c | int | 10 | 0
--   d | bigint | 19 | 0
--   f | decimal | 9 | 2
--   g | numeric | 38 | 10
--   h | decimal | 38 | 38
--   i | money | 19 | 4
--   j | smallmoney | 10 | 4
GO
