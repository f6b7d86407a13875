-- source: "Microsoft: WITH common_table_expression (Transact-SQL): a common table expression can be referenced by a single SELECT, INSERT, UPDATE, MERGE or DELETE statement"
-- source: "Microsoft: cdc.<capture_instance>_CT (Transact-SQL), __$operation"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, k int NULL, note int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t VALUES (1, 5, 0), (2, 5, 0), (3, 6, 0)
GO
WITH d AS (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY id) AS n FROM dbo.t) DELETE FROM d WHERE n > 1
GO
WITH c (key_, value_) AS (SELECT k, note FROM dbo.t) UPDATE c SET value_ = 7 WHERE key_ = 6
GO
-- capture
SELECT [__$start_lsn], [__$operation], id, k, note FROM cdc.dbo_t_CT WHERE [__$operation] <> 2 ORDER BY [__$start_lsn], [__$operation]
-- expect
--   $lsn1 | 1 | 2 | 5 | 0
--   $lsn2 | 3 | 3 | 6 | 0
--   $lsn2 | 4 | 3 | 6 | 7
GO
