-- source: "Microsoft: CREATE PROCEDURE (Transact-SQL)"
-- source: "Microsoft: About change data capture (SQL Server), Change data capture data flow"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
CREATE PROCEDURE dbo.add_two @first int AS
BEGIN
	BEGIN TRANSACTION;
	INSERT INTO dbo.t VALUES (@first, 1);
	INSERT INTO dbo.t VALUES (@first + 1, 2);
	COMMIT;
END
GO
EXEC dbo.add_two 1;
EXEC dbo.add_two @first = 5
GO
-- capture
SELECT [__$start_lsn], [__$operation], id, note FROM cdc.dbo_t_CT ORDER BY id
-- expect
--   $lsn1 | 2 | 1 | 1
--   $lsn1 | 2 | 2 | 2
--   $lsn2 | 2 | 5 | 1
--   $lsn2 | 2 | 6 | 2
GO
