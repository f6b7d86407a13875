-- source: "Microsoft: Known issues and errors with CDC, Enabling CDC fails if schema or user named cdc already exists"
-- source: "Microsoft: Database engine events and errors, 22906"
CREATE SCHEMA cdc
GO
EXEC sys.sp_cdc_enable_db
-- error 22906
GO
DROP SCHEMA cdc;
CREATE USER cdc WITHOUT LOGIN
GO
EXEC sys.sp_cdc_enable_db
-- error 22906
GO
DROP USER cdc;
EXEC sys.sp_cdc_enable_db
GO
SELECT SCHEMA_ID('cdc'), DATABASE_PRINCIPAL_ID('cdc')
-- expect
--   $any | $any
GO
