-- source: "Microsoft: cdc.<capture_instance>_CT (Transact-SQL), Captured Column Data Types: the values in these columns are the same as the source column values"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int IDENTITY(10, 5) NOT NULL CONSTRAINT PK_t PRIMARY KEY, state varchar(10) NOT NULL DEFAULT 'new', note int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t (note) VALUES (1), (2);
INSERT INTO dbo.t DEFAULT VALUES
GO
SET IDENTITY_INSERT dbo.t ON;
INSERT INTO dbo.t (id, note) VALUES (3, 3);
SET IDENTITY_INSERT dbo.t OFF
GO
-- capture
SELECT [__$operation], id, state, note FROM cdc.dbo_t_CT ORDER BY [__$start_lsn], id
-- expect
--   2 | 10 | new | 1
--   2 | 15 | new | 2
--   2 | 20 | new | NULL
--   2 | 3 | new | 3
GO
