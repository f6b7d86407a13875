-- source: "Microsoft: About change data capture (SQL Server), Change data capture data flow"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note varchar(10) NULL);
CREATE TABLE dbo.s (id int NOT NULL, note varchar(10) NULL);
INSERT INTO dbo.s VALUES (1, 'one'), (2, 'two');
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t SELECT id, note FROM dbo.s;
UPDATE t SET note = UPPER(s.note) FROM dbo.t AS t JOIN dbo.s AS s ON s.id = t.id WHERE s.id = 2;
DELETE t FROM dbo.t AS t JOIN dbo.s AS s ON s.id = t.id WHERE s.id = 1
GO
-- capture
SELECT [__$start_lsn], [__$operation], id, note FROM cdc.dbo_t_CT ORDER BY [__$start_lsn], id, [__$operation]
-- expect
--   $lsn1 | 2 | 1 | one
--   $lsn1 | 2 | 2 | two
--   $lsn2 | 3 | 2 | two
--   $lsn2 | 4 | 2 | TWO
--   $lsn3 | 1 | 1 | one
GO
