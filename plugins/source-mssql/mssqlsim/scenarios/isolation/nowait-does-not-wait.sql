-- source: "Microsoft: Table hints (Transact-SQL), NOWAIT: return a message as soon as a lock is encountered on the table; equivalent to specifying SET LOCK_TIMEOUT 0 for a specific table"
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NOT NULL);
INSERT INTO dbo.t VALUES (1, 1), (2, 2)
GO
BEGIN TRANSACTION;
UPDATE dbo.t SET note = 10 WHERE id = 1
GO
-- session 2
SELECT note FROM dbo.t WITH (NOWAIT) WHERE id = 1
-- error 1222
GO
SELECT note FROM dbo.t WITH (NOWAIT) WHERE id = 2
-- expect
--   2
GO
-- session 1
ROLLBACK
GO
