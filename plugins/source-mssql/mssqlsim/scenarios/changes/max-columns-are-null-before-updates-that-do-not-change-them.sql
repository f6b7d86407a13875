-- source: "Microsoft: cdc.<capture_instance>_CT (Transact-SQL), Large Object Data Types: NULL when __$operation = 3 unless the column changed during the update; when __$operation = 1, their value at the time of the delete"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NULL, a varchar(max) NULL, b nvarchar(max) NULL, c varbinary(max) NULL);
INSERT INTO dbo.t VALUES (1, 1, 'one', N'two', 0x03);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
UPDATE dbo.t SET note = 2, b = N'due';
DELETE FROM dbo.t
GO
-- capture
SELECT [__$operation], [__$update_mask], note, a, b, c FROM cdc.dbo_t_CT WHERE [__$operation] IN (1, 3) ORDER BY [__$start_lsn], [__$operation]
-- expect
--   3 | 0x0A | 1 | NULL | two | NULL
--   1 | 0x1F | 2 | one | due | 0x03
GO
/* The after image is there for the column that changed. Whether it has those that did not is not documented. */
SELECT note, b FROM cdc.dbo_t_CT WHERE [__$operation] = 4
-- expect
--   2 | due
GO
