package mssqlsim

// shapeSeeds are statements of each kind that change shapes, rows, principals and permissions, or look at them. Blanks are
// between all words, so that a mutation finds them.
var shapeSeeds = []string{
	"CREATE TABLE dbo.t (id int IDENTITY(1,1) NOT NULL CONSTRAINT pk PRIMARY KEY , a int NULL DEFAULT 5 , b AS ( a + 1 ) PERSISTED , c varchar ( 10 ) SPARSE NULL UNIQUE , CHECK ( a > 0 ) , INDEX ix ( a ) )",
	"ALTER TABLE dbo.t ADD d int NOT NULL CONSTRAINT df DEFAULT ( 4 ) WITH VALUES",
	"ALTER TABLE dbo.t ADD CONSTRAINT ck CHECK ( a > 0 )", "ALTER TABLE dbo.t ADD PRIMARY KEY ( id )", "ALTER TABLE dbo.t DROP CONSTRAINT pk , ck", "ALTER TABLE dbo.t DROP COLUMN a , COLUMN c",
	"ALTER TABLE dbo.t ALTER COLUMN a bigint NOT NULL", "ALTER TABLE dbo.t ALTER COLUMN a ADD SPARSE", "CREATE UNIQUE NONCLUSTERED INDEX ux ON dbo.t ( a DESC , c ) INCLUDE ( id )", "DROP INDEX IF EXISTS ux ON dbo.t",
	"MERGE dbo.t AS t USING ( VALUES ( 1 , 2 ) ) AS s ( id , a ) ON t.id = s.id WHEN MATCHED AND t.a > 1 THEN UPDATE SET a = s.a WHEN NOT MATCHED THEN INSERT ( a ) VALUES ( s.a ) WHEN NOT MATCHED BY SOURCE THEN DELETE OUTPUT $action , inserted.id , deleted.* , s.a ;",
	"DECLARE @x TABLE ( i int PRIMARY KEY , j int ) ; INSERT INTO dbo.t ( a ) OUTPUT inserted.id , inserted.a INTO @x ( i , j ) SELECT 1 UNION ALL SELECT 2 ; SELECT * FROM @x",
	"UPDATE dbo.t SET a += 1 OUTPUT deleted.a , inserted.a WHERE id = 1", "DELETE TOP ( 1 ) FROM dbo.t OUTPUT deleted.id WHERE a IN ( 1 , 2 )",
	"SET IDENTITY_INSERT dbo.t ON ; INSERT INTO dbo.t ( id , a ) VALUES ( 9 , 9 ) ; SET IDENTITY_INSERT dbo.t OFF", "DBCC CHECKIDENT ( 'dbo.t' , RESEED , 5 ) WITH NO_INFOMSGS",
	"EXEC sp_rename 'dbo.t.a' , 'aa' , 'COLUMN'", "CREATE SCHEMA s AUTHORIZATION dbo", "ALTER SCHEMA s TRANSFER dbo.t", "DROP SCHEMA IF EXISTS s", "TRUNCATE TABLE dbo.t",
	"CREATE LOGIN zz WITH PASSWORD = N'Str0ng!pass' , CHECK_POLICY = OFF , DEFAULT_DATABASE = master", "ALTER LOGIN zz WITH PASSWORD = 'x' , NAME = zy", "DROP LOGIN zz",
	"CREATE USER u FOR LOGIN zz WITH DEFAULT_SCHEMA = dbo", "CREATE USER v WITHOUT LOGIN", "ALTER USER v WITH NAME = w", "DROP USER IF EXISTS v", "CREATE ROLE r AUTHORIZATION dbo", "ALTER ROLE r ADD MEMBER v", "DROP ROLE r",
	"GRANT SELECT , INSERT ( a ) ON dbo.t ( id ) TO v , public WITH GRANT OPTION", "DENY SELECT ON SCHEMA :: dbo TO v CASCADE", "REVOKE GRANT OPTION FOR SELECT ON dbo.t FROM v", "GRANT VIEW DATABASE STATE TO v", "GRANT IMPERSONATE ON USER :: u TO v",
	"EXECUTE AS USER = 'v' ; SELECT USER_NAME ( ) ; REVERT", "EXEC ( 'SELECT 1' ) AS USER = 'v'",
	"SELECT IS_MEMBER ( 'r' ) , HAS_PERMS_BY_NAME ( 'dbo.t' , 'OBJECT' , 'SELECT' ) , SUSER_SNAME ( 0x01 ) , IDENT_CURRENT ( 'dbo.t' ) , DATABASEPROPERTYEX ( DB_NAME ( ) , 'Recovery' )",
	"EXEC sp_describe_first_result_set N'SELECT * FROM dbo.t' , N'@p int'", "EXEC sp_help 'dbo.t'", "EXEC sp_statistics 't' , 'dbo' , @is_unique = 'Y'", "EXEC sp_who 'sa'", "SELECT * FROM sys.database_permissions ; SELECT * FROM INFORMATION_SCHEMA.COLUMNS ; SELECT * FROM sys.objects",
	"BEGIN TRAN ; CREATE TABLE dbo.q ( a int ) ; SAVE TRAN s ; DROP TABLE dbo.q ; ROLLBACK TRAN s ; ROLLBACK",
}
