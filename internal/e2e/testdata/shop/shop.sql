CREATE TABLE dbo.orders (
  order_id  int            NOT NULL PRIMARY KEY,
  customer  nvarchar(40)   NOT NULL,
  amount    decimal(18, 4) NOT NULL,
  placed_at datetime2(3)   NOT NULL,
  note      nvarchar(200)  NULL
);
INSERT INTO dbo.orders VALUES
  (1, N'Zürich Möbel AG', 12.5000, '2020-02-01T08:00:00.000', NULL),
  (2, N'東京商事', 99999.9999, '2020-02-01T08:30:00.123', N'call first'),
  (3, N'O''Brien', 0.0001, '2020-02-02T00:00:00.000', N''),
  (4, N'Café Olé', -7.2500, '2020-02-29T23:59:59.999', N'fragile, "this side up"'),
  (5, N'Smith & Sons', 100.0000, '2020-03-01T12:00:00.000', NULL);
EXEC sys.sp_cdc_enable_db;
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'orders', @role_name = NULL;
