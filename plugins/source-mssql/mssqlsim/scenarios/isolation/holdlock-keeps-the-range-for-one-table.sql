-- source: "Microsoft: Table hints (Transact-SQL), HOLDLOCK: equivalent to SERIALIZABLE, applies only to the table or view for which it is specified; SERIALIZABLE: makes shared locks more restrictive by holding them until a transaction is completed"
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
CREATE TABLE dbo.u (id int NOT NULL CONSTRAINT PK_u PRIMARY KEY);
INSERT INTO dbo.t VALUES (1), (5), (9), (20)
GO
BEGIN TRANSACTION;
SELECT COUNT(*) FROM dbo.u;
SELECT COUNT(*) FROM dbo.t WITH (HOLDLOCK) WHERE id BETWEEN 1 AND 5
-- expect
--   0
-- expect
--   2
GO
-- session 2
INSERT INTO dbo.u VALUES (1);
INSERT INTO dbo.t VALUES (15)
GO
INSERT INTO dbo.t VALUES (3)
-- waits
GO
-- session 1
SELECT COUNT(*) FROM dbo.u;
SELECT COUNT(*) FROM dbo.t WHERE id BETWEEN 1 AND 5;
COMMIT
-- expect
--   1
-- expect
--   2
GO
-- session 2
-- ends
GO
