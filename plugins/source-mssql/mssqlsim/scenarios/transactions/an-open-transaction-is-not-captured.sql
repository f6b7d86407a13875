-- source: "Microsoft: About change data capture (SQL Server), Change data capture validity interval for a database"
-- seen: on SQL Server 2022, no row ever appeared at or below a maximum that was seen before
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
BEGIN TRANSACTION;
INSERT INTO dbo.t VALUES (1)
GO
-- capture
-- session 2
SELECT sys.fn_cdc_get_max_lsn(), (SELECT COUNT(*) FROM cdc.dbo_t_CT)
-- expect
--   $lsn1 | 0
GO
-- session 1
COMMIT
GO
-- capture
SELECT [__$start_lsn], id FROM cdc.dbo_t_CT
-- expect
--   $lsn2 | 1
GO
