-- source: "Microsoft: Transaction locking and row versioning guide, Modify data without optimized locking: if the data row has been modified outside of the SNAPSHOT transaction, an update conflict occurs and the SNAPSHOT transaction is terminated"
ALTER DATABASE CURRENT SET ALLOW_SNAPSHOT_ISOLATION ON
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NOT NULL);
INSERT INTO dbo.t VALUES (1, 1)
GO
SET TRANSACTION ISOLATION LEVEL SNAPSHOT;
BEGIN TRANSACTION;
SELECT note FROM dbo.t
-- expect
--   1
GO
-- session 2
UPDATE dbo.t SET note = 2
GO
-- session 1
UPDATE dbo.t SET note = 3
-- error 3960
GO
SELECT @@TRANCOUNT
-- expect
--   0
GO
SELECT note FROM dbo.t
-- expect
--   2
GO
