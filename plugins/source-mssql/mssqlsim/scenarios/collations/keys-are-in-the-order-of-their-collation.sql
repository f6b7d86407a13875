-- source: "Microsoft: Collation and Unicode support, Binary collations: sort by code point"
-- source: "Microsoft: Compare GUID and uniqueidentifier values: the last six bytes of a value are most significant"
-- source: "Microsoft: SELECT - ORDER BY clause (Transact-SQL): NULL values are treated as the lowest possible values"
CREATE TABLE dbo.ci (code nvarchar(10) COLLATE Latin1_General_CI_AS NULL);
CREATE TABLE dbo.bin (code nvarchar(10) COLLATE Latin1_General_BIN2 NULL);
CREATE TABLE dbo.guid (code uniqueidentifier NULL);
INSERT INTO dbo.ci VALUES (N'b'), (N'C'), (N'a'), (NULL), (N'é'), (N'f');
INSERT INTO dbo.bin VALUES (N'b'), (N'C'), (N'a'), (NULL), (N'é'), (N'f');
INSERT INTO dbo.guid VALUES ('00000000-0000-0000-0000-000000000002'), ('FF000000-0000-0000-0000-000000000001'), (NULL), ('00000000-0000-0000-0001-000000000001')
GO
SELECT code FROM dbo.ci ORDER BY code
-- expect
--   NULL
--   a
--   b
--   C
--   é
--   f
GO
SELECT code FROM dbo.bin ORDER BY code
-- expect
--   NULL
--   C
--   a
--   b
--   f
--   é
GO
SELECT code FROM dbo.guid ORDER BY code
-- expect
--   NULL
--   FF000000-0000-0000-0000-000000000001
--   00000000-0000-0000-0001-000000000001
--   00000000-0000-0000-0000-000000000002
GO
