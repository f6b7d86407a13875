-- source: "Microsoft: TRY...CATCH (Transact-SQL), Uncommittable transactions and XACT_STATE"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
BEGIN TRY
	BEGIN TRANSACTION;
	INSERT INTO dbo.t VALUES (1);
	INSERT INTO dbo.t VALUES (1);
	COMMIT;
END TRY
BEGIN CATCH
	SELECT ERROR_NUMBER(), @@TRANCOUNT;
	ROLLBACK;
END CATCH
-- expect
--   2627 | 1
GO
INSERT INTO dbo.t VALUES (5)
GO
-- capture
SELECT id FROM cdc.dbo_t_CT
-- expect
--   5
GO
