-- source: "Microsoft: binary and varbinary (Transact-SQL)"
-- source: "Microsoft: uniqueidentifier (Transact-SQL)"
-- source: "Microsoft: cdc.<capture_instance>_CT (Transact-SQL), Captured Column Data Types"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, a binary(4), b varbinary(10), c varbinary(max), d image, e uniqueidentifier);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t VALUES (1, 0xFF, 0xFF00, 0xFFEE, 0x01, '6F9619FF-8B86-D011-B42D-00C04FC964FF'), (2, 0x, 0x, 0x, 0x, NULL), (3, NULL, NULL, NULL, NULL, NULL)
GO
-- capture
SELECT id, a, b, c, d, e FROM cdc.dbo_t_CT ORDER BY id
-- expect
--   1 | 0xFF000000 | 0xFF00 | 0xFFEE | 0x01 | 6F9619FF-8B86-D011-B42D-00C04FC964FF
--   2 | 0x00000000 | 0x | 0x | 0x | NULL
--   3 | NULL | NULL | NULL | NULL | NULL
GO
