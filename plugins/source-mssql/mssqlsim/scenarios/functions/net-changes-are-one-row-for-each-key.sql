-- source: "Microsoft: cdc.fn_cdc_get_net_changes_<capture_instance> (Transact-SQL): a single row that reflects the final content of the row"
-- source: "Microsoft: Work with change data (SQL Server), Query functions: the TVF must consider both the initial operation on the row during the interval and the final operation"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NULL);
INSERT INTO dbo.t VALUES (1, 1), (2, 2), (3, 3), (4, 4);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @supports_net_changes = 1
GO
/* 1: updated twice; 2: updated, then deleted; 3: deleted, then inserted; 4: deleted;
   5: inserted, then updated; 6: inserted; 7: inserted, then deleted */
UPDATE dbo.t SET note = 10 WHERE id = 1;
UPDATE dbo.t SET note = 20 WHERE id = 2;
DELETE FROM dbo.t WHERE id IN (3, 4);
INSERT INTO dbo.t VALUES (5, 5), (6, 6), (7, 7);
UPDATE dbo.t SET note = 11 WHERE id = 1;
DELETE FROM dbo.t WHERE id IN (2, 7);
INSERT INTO dbo.t VALUES (3, 33);
UPDATE dbo.t SET note = 55 WHERE id = 5
GO
-- capture
SELECT [__$operation], [__$update_mask], id, note FROM cdc.fn_cdc_get_net_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), sys.fn_cdc_get_max_lsn(), N'all') ORDER BY id
-- expect
--   4 | NULL | 1 | 11
--   1 | NULL | 2 | 20
--   4 | NULL | 3 | 33
--   1 | NULL | 4 | 4
--   2 | NULL | 5 | 55
--   2 | NULL | 6 | 6
GO
