-- source: "Microsoft: UPDATE statements may be replicated as DELETE/INSERT pairs, Summary: any column that is part of a unique constraint"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, code int NOT NULL CONSTRAINT UQ_code UNIQUE, note int NULL);
INSERT INTO dbo.t VALUES (1, 10, 0), (2, 20, 0);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
UPDATE dbo.t SET code = 11 WHERE id = 1;
UPDATE dbo.t SET note = 1 WHERE id = 2
GO
-- capture
SELECT [__$start_lsn], [__$operation], id, code, note FROM cdc.dbo_t_CT ORDER BY [__$start_lsn], [__$command_id], [__$operation]
-- expect
--   $lsn1 | 1 | 1 | 10 | 0
--   $lsn1 | 2 | 1 | 11 | 0
--   $lsn2 | 3 | 2 | 20 | 0
--   $lsn2 | 4 | 2 | 20 | 1
GO
