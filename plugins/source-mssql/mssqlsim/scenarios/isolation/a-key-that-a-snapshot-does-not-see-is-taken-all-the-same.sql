-- source: "Microsoft: Primary and foreign key constraints, Primary key constraints: primary key constraints guarantee unique data"
-- source: "Microsoft: Database engine events and errors, 2627"
ALTER DATABASE CURRENT SET ALLOW_SNAPSHOT_ISOLATION ON
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NOT NULL)
GO
SET TRANSACTION ISOLATION LEVEL SNAPSHOT;
BEGIN TRANSACTION;
SELECT COUNT(*) FROM dbo.t
-- expect
--   0
GO
-- session 2
INSERT INTO dbo.t VALUES (1, 1)
GO
-- session 1
INSERT INTO dbo.t VALUES (1, 2)
-- error 2627
GO
INSERT INTO dbo.t VALUES (2, 2)
GO
COMMIT;
SELECT id, note FROM dbo.t ORDER BY id
-- expect
--   1 | 1
--   2 | 2
GO
