-- source: "Microsoft: cdc.fn_cdc_get_net_changes_<capture_instance> (Transact-SQL), Examples: a row that is first added and then deleted within a query window produces no net change on the source table for the interval"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @supports_net_changes = 1
GO
INSERT INTO dbo.t VALUES (1, 1);
UPDATE dbo.t SET note = 2;
DELETE FROM dbo.t
GO
-- capture
DECLARE @from binary(10) = sys.fn_cdc_get_min_lsn(N'dbo_t'), @to binary(10) = sys.fn_cdc_get_max_lsn(), @inserted binary(10), @updated binary(10);
SELECT @inserted = MIN([__$start_lsn]) FROM cdc.dbo_t_CT;
SELECT @updated = [__$start_lsn] FROM cdc.dbo_t_CT WHERE [__$operation] = 4;
SELECT [__$operation], id, note FROM cdc.fn_cdc_get_net_changes_dbo_t(@from, @to, N'all');
SELECT [__$operation], id, note FROM cdc.fn_cdc_get_net_changes_dbo_t(@updated, @to, N'all');
SELECT [__$operation], id, note FROM cdc.fn_cdc_get_net_changes_dbo_t(@from, @updated, N'all');
SELECT [__$operation], id, note FROM cdc.fn_cdc_get_net_changes_dbo_t(@inserted, @inserted, N'all')
-- expect
--   (no rows)
-- expect
--   1 | 1 | 2
-- expect
--   2 | 1 | 2
-- expect
--   2 | 1 | 1
GO
