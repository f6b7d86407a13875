-- source: "Microsoft: SET TRANSACTION ISOLATION LEVEL (Transact-SQL), SERIALIZABLE: other transactions cannot insert new rows with key values that would fall in the range of keys read by any statements in the current transaction until the current transaction completes"
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
INSERT INTO dbo.t VALUES (1), (5), (9), (20)
GO
SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;
BEGIN TRANSACTION;
SELECT COUNT(*) FROM dbo.t WHERE id BETWEEN 1 AND 5
-- expect
--   2
GO
-- session 2
INSERT INTO dbo.t VALUES (15)
GO
INSERT INTO dbo.t VALUES (3)
-- waits
GO
-- session 1
SELECT COUNT(*) FROM dbo.t WHERE id BETWEEN 1 AND 5;
COMMIT
-- expect
--   2
GO
-- session 2
-- ends
GO
SELECT id FROM dbo.t ORDER BY id
-- expect
--   1
--   3
--   5
--   9
--   15
--   20
GO
