-- source: "Microsoft: Deadlocks guide, Deadlock detection: by default, the Database Engine chooses as the deadlock victim the session running the transaction that is least expensive to roll back"
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note varchar(200) NOT NULL);
INSERT INTO dbo.t VALUES (1, ''), (2, ''), (3, ''), (4, ''), (5, '')
GO
BEGIN TRANSACTION;
UPDATE dbo.t SET note = 'a' WHERE id = 1
GO
-- session 2
BEGIN TRANSACTION;
UPDATE dbo.t SET note = REPLICATE('much', 50) WHERE id BETWEEN 2 AND 5
GO
-- session 1
UPDATE dbo.t SET note = 'b' WHERE id = 2
-- waits
GO
-- session 2
UPDATE dbo.t SET note = 'c' WHERE id = 1
GO
-- session 1
-- ends
-- error 1205
GO
SELECT @@TRANCOUNT
-- expect
--   0
GO
-- session 2
COMMIT;
SELECT note FROM dbo.t WHERE id = 1
-- expect
--   c
GO
