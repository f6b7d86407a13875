-- source: "Microsoft: Collation and Unicode support, Collation options: case-sensitive (_CS)"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.ci (code varchar(10) COLLATE Latin1_General_CI_AS NOT NULL CONSTRAINT PK_ci PRIMARY KEY, note int NULL);
CREATE TABLE dbo.cs (code varchar(10) COLLATE Latin1_General_CS_AS NOT NULL CONSTRAINT PK_cs PRIMARY KEY, note int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N'ci', @role_name = NULL, @supports_net_changes = 1;
EXEC sys.sp_cdc_enable_table N'dbo', N'cs', @role_name = NULL, @supports_net_changes = 1;
INSERT INTO dbo.ci VALUES ('n', 1);
INSERT INTO dbo.cs VALUES ('n', 1)
GO
INSERT INTO dbo.ci VALUES ('N', 2)
-- error 2627
GO
INSERT INTO dbo.cs VALUES ('N', 2);
UPDATE dbo.ci SET note = 3 WHERE code = 'N';
UPDATE dbo.cs SET note = 3 WHERE code = 'N'
GO
-- capture
SELECT code, note FROM cdc.fn_cdc_get_net_changes_dbo_ci(sys.fn_cdc_get_min_lsn(N'dbo_ci'), sys.fn_cdc_get_max_lsn(), N'all')
-- expect
--   n | 3
GO
SELECT code, note FROM cdc.fn_cdc_get_net_changes_dbo_cs(sys.fn_cdc_get_min_lsn(N'dbo_cs'), sys.fn_cdc_get_max_lsn(), N'all') ORDER BY code COLLATE Latin1_General_BIN2
-- expect
--   N | 3
--   n | 1
GO
