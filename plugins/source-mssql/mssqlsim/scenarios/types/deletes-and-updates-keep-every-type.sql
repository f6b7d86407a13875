-- source: "Microsoft: About change data capture (SQL Server), Change table: the data columns of the row that results from a delete operation contain the column values before the delete"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, a decimal(18, 4), b datetime2(7), c nvarchar(20), d varbinary(5), e uniqueidentifier, f bit, g time(7));
INSERT INTO dbo.t VALUES (1, 1.5, '2026-01-02T03:04:05.1234567', N'é', 0x01, '6F9619FF-8B86-D011-B42D-00C04FC964FF', 1, '01:02:03.0000001');
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
UPDATE dbo.t SET a = NULL, b = NULL, c = NULL, d = NULL, e = NULL, f = NULL, g = NULL;
UPDATE dbo.t SET a = -1.5, c = N'', f = 0;
DELETE FROM dbo.t
GO
-- capture
SELECT [__$operation], [__$update_mask], a, b, c, d, e, f, g FROM cdc.dbo_t_CT ORDER BY [__$start_lsn], [__$operation]
-- expect
--   3 | 0xFE | 1.5000 | 2026-01-02 03:04:05.1234567 | é | 0x01 | 6F9619FF-8B86-D011-B42D-00C04FC964FF | 1 | 01:02:03.0000001
--   4 | 0xFE | NULL | NULL | NULL | NULL | NULL | NULL | NULL
--   3 | 0x4A | NULL | NULL | NULL | NULL | NULL | NULL | NULL
--   4 | 0x4A | -1.5000 | NULL | '' | NULL | NULL | 0 | NULL
--   1 | 0xFF | -1.5000 | NULL | '' | NULL | NULL | 0 | NULL
GO
