-- source: "Microsoft: Enable and disable change data capture, Enable for a table: subsequent changes to the primary key will not be allowed without first disabling change data capture for the table"
-- source: "Microsoft: Database engine events and errors, 22979"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NULL);
CREATE TABLE dbo.heap (id int NOT NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @supports_net_changes = 0;
EXEC sys.sp_cdc_enable_table N'dbo', N'heap', @role_name = NULL
GO
ALTER TABLE dbo.t DROP CONSTRAINT PK_t
-- error 22979
GO
/* a key that came after the instance is of no interest to it */
ALTER TABLE dbo.heap ADD CONSTRAINT PK_heap PRIMARY KEY (id)
GO
ALTER TABLE dbo.heap DROP CONSTRAINT PK_heap
GO
EXEC sys.sp_cdc_disable_table N'dbo', N't', N'all';
ALTER TABLE dbo.t DROP CONSTRAINT PK_t
GO
