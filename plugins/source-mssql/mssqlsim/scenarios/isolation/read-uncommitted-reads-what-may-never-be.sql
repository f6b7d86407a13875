-- source: "Microsoft: SET TRANSACTION ISOLATION LEVEL (Transact-SQL), READ UNCOMMITTED: statements can read rows that have been modified by other transactions but not yet committed"
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
INSERT INTO dbo.t VALUES (1)
GO
BEGIN TRANSACTION;
INSERT INTO dbo.t VALUES (2)
GO
-- session 2
SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED
GO
SELECT id FROM dbo.t ORDER BY id
-- expect
--   1
--   2
GO
-- session 1
ROLLBACK
GO
-- session 2
SELECT id FROM dbo.t
-- expect
--   1
GO
