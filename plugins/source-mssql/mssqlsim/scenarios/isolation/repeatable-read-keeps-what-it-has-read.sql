-- source: "Microsoft: SET TRANSACTION ISOLATION LEVEL (Transact-SQL), REPEATABLE READ: no other transactions can modify data that has been read by the current transaction until the current transaction completes; other transactions can insert new rows"
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NOT NULL);
INSERT INTO dbo.t VALUES (1, 1), (5, 5), (9, 9)
GO
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
BEGIN TRANSACTION;
SELECT id FROM dbo.t WHERE id BETWEEN 1 AND 5 ORDER BY id
-- expect
--   1
--   5
GO
-- session 2
UPDATE dbo.t SET note = 90 WHERE id = 9;
INSERT INTO dbo.t VALUES (3, 3)
GO
SELECT note FROM dbo.t WHERE id = 5
-- expect
--   5
GO
UPDATE dbo.t SET note = 50 WHERE id = 5
-- waits
GO
/* the row that came meanwhile is there, and the other one still as it was */
-- session 1
SELECT id, note FROM dbo.t WHERE id BETWEEN 1 AND 5 ORDER BY id
-- expect
--   1 | 1
--   3 | 3
--   5 | 5
GO
COMMIT
GO
-- session 2
-- ends
GO
SELECT id, note FROM dbo.t ORDER BY id
-- expect
--   1 | 1
--   3 | 3
--   5 | 50
--   9 | 90
GO
