-- source: "Microsoft: Transaction locking and row versioning guide, Lock modes: schema modification locks"
-- seen: on SQL Server 2022, the commit it waits for is in no change row of the new instance
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
-- session 2
BEGIN TRANSACTION;
INSERT INTO dbo.t VALUES (1)
GO
-- session 1
EXEC sys.sp_cdc_enable_table N'dbo', N't', N'second', @role_name = NULL
-- waits
GO
-- session 2
INSERT INTO dbo.t VALUES (2);
COMMIT
GO
-- session 1
-- ends
GO
INSERT INTO dbo.t VALUES (3)
GO
-- capture
SELECT id FROM cdc.dbo_t_CT ORDER BY id
-- expect
--   1
--   2
--   3
GO
SELECT id FROM cdc.second_CT
-- expect
--   3
GO
