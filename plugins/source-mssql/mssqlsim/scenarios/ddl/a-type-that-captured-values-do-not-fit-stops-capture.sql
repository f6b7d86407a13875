-- source: "Microsoft: Known issues and errors with CDC, DDL changes to source tables: can cause issues with the subsequent CDC capture process, resulting in error 2628 or error 8115"
-- source: "Microsoft: cdc.<capture_instance>_CT (Transact-SQL), Data Definition Language Modifications: modify the data type in a way that decreases the size"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, s varchar(10) NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;
INSERT INTO dbo.t VALUES (1, 'abcdef')
GO
-- capture
UPDATE dbo.t SET s = 'abc'
GO
-- capture
/* the table's own rows fit, those of the change table do not */
ALTER TABLE dbo.t ALTER COLUMN s varchar(3) NULL
GO
INSERT INTO dbo.t VALUES (2, 'xyz')
GO
SELECT CASE WHEN COUNT(*) > 0 THEN 'it fails' END FROM sys.dm_cdc_errors WHERE error_number = 2628
-- eventually
-- expect
--   it fails
GO
SELECT COUNT(*) FROM cdc.dbo_t_CT WHERE id = 2
-- expect
--   0
GO
/* the page's way out: the same in the change table */
UPDATE cdc.dbo_t_CT SET s = 'abc' WHERE s = 'abcdef'
-- refused by the simulator
GO
SELECT id, s FROM cdc.dbo_t_CT WHERE id = 2
-- eventually
-- expect
--   2 | xyz
GO
