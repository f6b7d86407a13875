-- source: "Microsoft: datetime (Transact-SQL), Rounding of datetime fractional second precision"
-- source: "Microsoft: datetime2 (Transact-SQL)"
-- source: "Microsoft: cdc.<capture_instance>_CT (Transact-SQL), Captured Column Data Types"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, a date, b time(7), c time(0), d datetime, e smalldatetime, f datetime2(7), g datetime2(0), h datetimeoffset(7), i datetimeoffset(3));
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t VALUES
	(1, '0001-01-01', '00:00:00', '00:00:00', '1753-01-01', '1900-01-01', '0001-01-01', '0001-01-01', '0001-01-01T14:00:00+14:00', '2026-06-15T12:00:00.0005+02:00'),
	(2, '9999-12-31', '23:59:59.9999999', '13:50:01.5', '2026-01-02T03:04:05.998', '2026-01-02T03:04:30', '9999-12-31T23:59:59.9999999', '2026-01-02T03:04:05.5', '9999-12-31T23:59:59.9999999', '2026-01-02T03:04:05.1234-11:30'),
	(3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
GO
-- capture
SELECT id, a, b, c, d, e, f, g, h, i FROM cdc.dbo_t_CT ORDER BY id
-- expect
--   1 | 0001-01-01 | 00:00:00 | 00:00:00 | 1753-01-01 00:00:00.000 | 1900-01-01 00:00:00 | 0001-01-01 00:00:00 | 0001-01-01 00:00:00 | 0001-01-01 14:00:00 +14:00 | 2026-06-15 12:00:00.001 +02:00
--   2 | 9999-12-31 | 23:59:59.9999999 | 13:50:02 | 2026-01-02 03:04:05.997 | 2026-01-02 03:05:00 | 9999-12-31 23:59:59.9999999 | 2026-01-02 03:04:06 | 9999-12-31 23:59:59.9999999 +00:00 | 2026-01-02 03:04:05.123 -11:30
--   3 | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
GO
EXEC sys.sp_cdc_get_captured_columns N'dbo_t'
-- unordered column_name | data_type | datetime_precision
--   id | int | NULL
--   a | date | 0
--   b | time | 7
--   c | time | 0
--   d | datetime | 3
--   e | smalldatetime | 0
--   f | datetime2 | 7
--   g | datetime2 | 0
--   h | datetimeoffset | 7
--   i | datetimeoffset | 3
GO
