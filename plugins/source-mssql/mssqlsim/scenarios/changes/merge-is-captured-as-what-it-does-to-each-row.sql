-- source: "Microsoft: MERGE (Transact-SQL), Remarks"
-- source: "Microsoft: cdc.<capture_instance>_CT (Transact-SQL), __$operation"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NULL);
CREATE TABLE dbo.s (id int NOT NULL, note int NULL);
INSERT INTO dbo.t VALUES (1, 1), (2, 2), (3, 3);
INSERT INTO dbo.s VALUES (2, 20), (3, 3), (4, 40);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
MERGE dbo.t AS t USING dbo.s AS s ON t.id = s.id
WHEN MATCHED AND t.note <> s.note THEN UPDATE SET note = s.note
WHEN NOT MATCHED THEN INSERT (id, note) VALUES (s.id, s.note)
WHEN NOT MATCHED BY SOURCE THEN DELETE;
GO
-- capture
SELECT [__$start_lsn], [__$operation], id, note FROM cdc.dbo_t_CT ORDER BY id, [__$operation]
-- expect
--   $lsn1 | 1 | 1 | 1
--   $lsn1 | 3 | 2 | 2
--   $lsn1 | 4 | 2 | 20
--   $lsn1 | 2 | 4 | 40
GO
