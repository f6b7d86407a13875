-- source: "Microsoft: MSSQLSERVER_3961: the object accessed by the statement has been modified by a DDL statement in another concurrent transaction since the start of this transaction"
ALTER DATABASE CURRENT SET ALLOW_SNAPSHOT_ISOLATION ON
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
CREATE TABLE dbo.u (id int NOT NULL CONSTRAINT PK_u PRIMARY KEY);
INSERT INTO dbo.t VALUES (1);
INSERT INTO dbo.u VALUES (1)
GO
SET TRANSACTION ISOLATION LEVEL SNAPSHOT;
BEGIN TRANSACTION;
SELECT id FROM dbo.t
-- expect
--   1
GO
-- session 2
ALTER TABLE dbo.u ADD note int NULL
GO
-- session 1
SELECT id FROM dbo.t
-- expect
--   1
GO
SELECT id FROM dbo.u
-- error 3961
GO
IF @@TRANCOUNT > 0 ROLLBACK
GO
SELECT id FROM dbo.u
-- expect
--   1
GO
