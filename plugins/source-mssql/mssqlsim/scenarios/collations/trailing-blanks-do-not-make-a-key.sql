-- source: "Microsoft: = (String comparison or assignment), Remarks: trailing spaces"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (code varchar(10) NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;
INSERT INTO dbo.t VALUES ('a')
GO
INSERT INTO dbo.t VALUES ('a  ')
-- error 2627
GO
DELETE FROM dbo.t WHERE code = 'a    '
GO
INSERT INTO dbo.t VALUES ('a  ')
GO
-- capture
SELECT [__$operation], code FROM cdc.dbo_t_CT ORDER BY [__$start_lsn]
-- expect
--   2 | a
--   1 | a
--   2 | 'a  '
GO
