-- source: "Microsoft: cdc.<capture_instance>_CT (Transact-SQL), Large Object Data Types: computed columns that are included in a capture instance always have a value of NULL"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, price int NOT NULL, doubled AS price * 2, kept AS price + 1 PERSISTED);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t (id, price) VALUES (1, 5);
UPDATE dbo.t SET price = 6;
DELETE FROM dbo.t
GO
-- capture
SELECT [__$operation], id, price, doubled, kept FROM cdc.dbo_t_CT ORDER BY [__$start_lsn], [__$operation]
-- expect
--   2 | 1 | 5 | NULL | NULL
--   3 | 1 | 5 | NULL | NULL
--   4 | 1 | 6 | NULL | NULL
--   1 | 1 | 6 | NULL | NULL
GO
