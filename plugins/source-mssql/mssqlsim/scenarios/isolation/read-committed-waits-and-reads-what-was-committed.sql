-- source: "Microsoft: SET TRANSACTION ISOLATION LEVEL (Transact-SQL), READ COMMITTED: statements cannot read data that has been modified but not committed by other transactions"
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NOT NULL);
INSERT INTO dbo.t VALUES (1, 1), (2, 2)
GO
BEGIN TRANSACTION;
UPDATE dbo.t SET note = 10 WHERE id = 1
GO
-- session 2
SELECT id, note FROM dbo.t WHERE id = 2
-- expect
--   2 | 2
GO
SELECT id, note FROM dbo.t ORDER BY id
-- waits
GO
-- session 1
COMMIT
GO
-- session 2
-- ends
-- expect
--   1 | 10
--   2 | 2
GO
