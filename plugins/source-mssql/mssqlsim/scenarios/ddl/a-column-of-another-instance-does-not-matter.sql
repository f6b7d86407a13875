-- source: "Microsoft: About change data capture (SQL Server), Handling changes to source tables"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, a int NULL, b int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', N'only_a', @role_name = NULL, @captured_column_list = N'id, a';
EXEC sys.sp_cdc_enable_table N'dbo', N't', N'only_b', @role_name = NULL, @captured_column_list = N'id, b'
GO
INSERT INTO dbo.t VALUES (1, 1, 1)
GO
ALTER TABLE dbo.t DROP COLUMN b
GO
ALTER TABLE dbo.t ALTER COLUMN a bigint NULL
GO
UPDATE dbo.t SET a = 5000000000
GO
-- capture
SELECT [__$operation], id, a FROM cdc.only_a_CT ORDER BY [__$start_lsn], [__$operation]
-- expect
--   2 | 1 | 1
--   3 | 1 | 1
--   4 | 1 | 5000000000
GO
/* the update changes none of its columns */
SELECT [__$operation], id, b FROM cdc.only_b_CT
-- expect
--   2 | 1 | 1
GO
