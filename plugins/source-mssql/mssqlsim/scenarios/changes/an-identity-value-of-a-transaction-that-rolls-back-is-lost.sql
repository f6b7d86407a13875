-- source: "Microsoft: CREATE TABLE (Transact-SQL) IDENTITY (Property), Remarks: consecutive values, reuse of values"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int IDENTITY(1, 1) NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t (note) VALUES (1);
BEGIN TRANSACTION;
INSERT INTO dbo.t (note) VALUES (2);
ROLLBACK;
INSERT INTO dbo.t (note) VALUES (3)
GO
-- capture
SELECT id, note FROM cdc.dbo_t_CT ORDER BY id
-- expect
--   1 | 1
--   3 | 3
GO
