-- source: "Microsoft: Transaction locking and row versioning guide, Key-range locking, Singleton fetch of nonexistent data: no other transaction can be allowed to insert that nonexistent row"
-- source: "Microsoft: Table hints (Transact-SQL), UPDLOCK: update locks are held until the transaction completes; HOLDLOCK: equivalent to SERIALIZABLE"
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NOT NULL);
INSERT INTO dbo.t VALUES (1, 1), (9, 9)
GO
BEGIN TRANSACTION;
SELECT COUNT(*) FROM dbo.t WITH (UPDLOCK, HOLDLOCK) WHERE id = 5
-- expect
--   0
GO
-- session 2
SELECT COUNT(*) FROM dbo.t WITH (UPDLOCK, HOLDLOCK) WHERE id = 5
-- waits
GO
-- session 1
INSERT INTO dbo.t VALUES (5, 5);
COMMIT
GO
-- session 2
-- ends
-- expect
--   1
GO
