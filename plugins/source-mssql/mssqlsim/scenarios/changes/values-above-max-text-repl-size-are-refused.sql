-- source: "Microsoft: cdc.<capture_instance>_CT (Transact-SQL), Large Object Data Types: by default, the maximum size that can be added to a captured column is 65,536 bytes"
-- source: "Microsoft: Database engine events and errors, 7139: length of LOB data to be replicated exceeds configured maximum"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note varchar(max) NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t VALUES (1, REPLICATE(CAST('x' AS varchar(max)), 65536))
GO
INSERT INTO dbo.t VALUES (2, REPLICATE(CAST('x' AS varchar(max)), 65537))
-- error 7139
GO
-- capture
SELECT id, DATALENGTH(note) FROM cdc.dbo_t_CT
-- expect
--   1 | 65536
GO
