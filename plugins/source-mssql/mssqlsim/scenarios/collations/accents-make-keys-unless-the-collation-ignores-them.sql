-- source: "Microsoft: Collation and Unicode support, Collation options: accent-sensitive (_AS): if this option is not selected, the collation is accent-insensitive"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.sensitive (code nvarchar(10) COLLATE Latin1_General_CI_AS NOT NULL CONSTRAINT PK_sensitive PRIMARY KEY);
CREATE TABLE dbo.insensitive (code nvarchar(10) COLLATE Latin1_General_CI_AI NOT NULL CONSTRAINT PK_insensitive PRIMARY KEY, note int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N'insensitive', @role_name = NULL, @supports_net_changes = 1;
INSERT INTO dbo.sensitive VALUES (N'e'), (N'é');
INSERT INTO dbo.insensitive VALUES (N'e', 1)
GO
INSERT INTO dbo.insensitive VALUES (N'É', 2)
-- error 2627
GO
UPDATE dbo.insensitive SET note = 3 WHERE code = N'é'
GO
-- capture
SELECT code, note FROM cdc.fn_cdc_get_net_changes_dbo_insensitive(sys.fn_cdc_get_min_lsn(N'dbo_insensitive'), sys.fn_cdc_get_max_lsn(), N'all')
-- expect
--   e | 3
GO
SELECT COUNT(DISTINCT code) FROM dbo.sensitive
-- expect
--   2
GO
