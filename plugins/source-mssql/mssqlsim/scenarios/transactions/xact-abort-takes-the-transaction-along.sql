-- source: "Microsoft: SET XACT_ABORT (Transact-SQL), Remarks: when ON, if a Transact-SQL statement raises a run-time error, the entire transaction is terminated and rolled back"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
SET XACT_ABORT ON;
BEGIN TRANSACTION;
INSERT INTO dbo.t VALUES (1);
INSERT INTO dbo.t VALUES (1)
-- error 2627
GO
SELECT @@TRANCOUNT
-- expect
--   0
GO
INSERT INTO dbo.t VALUES (2)
GO
-- capture
SELECT id FROM cdc.dbo_t_CT
-- expect
--   2
GO
