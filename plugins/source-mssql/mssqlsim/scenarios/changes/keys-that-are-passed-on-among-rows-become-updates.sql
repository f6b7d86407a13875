-- source: "Microsoft: Showplan logical and physical operators reference, Collapse: when a delete and an insert of the same key are adjacent, they are replaced by an update"
/* No key is twice in the log: the row that gets another's key updates it, the ends are deleted and inserted. */
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note char(1) NOT NULL);
INSERT INTO dbo.t VALUES (1, 'a'), (2, 'b'), (3, 'c');
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
UPDATE dbo.t SET id = id + 1
GO
-- capture
SELECT [__$start_lsn], [__$operation], id, note FROM cdc.dbo_t_CT ORDER BY id, [__$operation]
-- expect
--   $lsn1 | 1 | 1 | a
--   $lsn1 | 3 | 2 | b
--   $lsn1 | 4 | 2 | a
--   $lsn1 | 3 | 3 | c
--   $lsn1 | 4 | 3 | b
--   $lsn1 | 2 | 4 | c
GO
SELECT id, note FROM dbo.t ORDER BY id
-- expect
--   2 | a
--   3 | b
--   4 | c
GO
