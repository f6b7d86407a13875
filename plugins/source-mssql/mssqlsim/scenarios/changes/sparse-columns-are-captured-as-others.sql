-- source: "Microsoft: Use sparse columns, SQL Server technologies that support sparse columns: change data capture supports sparse columns, but does not support column sets"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, a int SPARSE NULL, b varchar(10) SPARSE NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t VALUES (1, NULL, 'b'), (2, 2, NULL);
UPDATE dbo.t SET a = 1 WHERE id = 1
GO
-- capture
SELECT [__$operation], [__$update_mask], id, a, b FROM cdc.dbo_t_CT ORDER BY [__$start_lsn], id, [__$operation]
-- expect
--   2 | 0x07 | 1 | NULL | b
--   2 | 0x07 | 2 | 2 | NULL
--   3 | 0x02 | 1 | NULL | b
--   4 | 0x02 | 1 | 1 | b
GO
