-- What the reference package's pipeline reads: a table with a key of one integer, and one whose key has two columns.
CREATE TABLE dbo.orders (
  order_id int NOT NULL PRIMARY KEY,
  customer nvarchar(60) NOT NULL,
  amount decimal(18, 4) NOT NULL,
  tax money NULL,
  placed_at datetime2(6) NOT NULL,
  old_time datetime NULL,
  seen datetimeoffset(6) NULL,
  due date NULL,
  paid bit NOT NULL,
  weight float NULL,
  reference uniqueidentifier NULL,
  photo varbinary(20) NULL,
  note nvarchar(200) NULL
);
CREATE TABLE dbo.lines (
  order_id int NOT NULL,
  product varchar(20) NOT NULL,
  quantity smallint NOT NULL,
  big bigint NULL,
  PRIMARY KEY (order_id, product)
);
GO
ALTER DATABASE shop SET ALLOW_SNAPSHOT_ISOLATION ON;
EXEC sys.sp_cdc_enable_db;
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'orders', @role_name = NULL;
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'lines', @role_name = NULL;
