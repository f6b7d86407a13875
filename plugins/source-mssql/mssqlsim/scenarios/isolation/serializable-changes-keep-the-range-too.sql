-- source: "Microsoft: SET TRANSACTION ISOLATION LEVEL (Transact-SQL), SERIALIZABLE: range locks are placed in the range of key values that match the search conditions of each statement executed in a transaction"
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NOT NULL);
INSERT INTO dbo.t VALUES (1, 1), (5, 5), (9, 9)
GO
SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;
BEGIN TRANSACTION;
UPDATE dbo.t SET note = 0 WHERE id BETWEEN 1 AND 6
GO
-- session 2
INSERT INTO dbo.t VALUES (3, 3)
-- waits
GO
-- session 1
UPDATE dbo.t SET note = 0 WHERE id BETWEEN 1 AND 6;
SELECT COUNT(*) FROM dbo.t;
COMMIT
-- expect
--   3
GO
-- session 2
-- ends
GO
