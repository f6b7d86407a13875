-- What the judges need besides types: two captured tables, one with an integer key and one whose key has two columns,
-- and some changes of both.
ALTER DATABASE shop SET ALLOW_SNAPSHOT_ISOLATION ON;
GO
CREATE TABLE dbo.orders (
  order_id int NOT NULL PRIMARY KEY,
  customer nvarchar(60) NOT NULL,
  amount decimal(18, 4) NOT NULL,
  placed_at datetime2(7) NOT NULL,
  paid bit NOT NULL,
  note nvarchar(200) NULL
);
CREATE TABLE dbo.lines (
  order_id int NOT NULL,
  product varchar(20) NOT NULL,
  quantity smallint NOT NULL,
  price money NULL,
  PRIMARY KEY (order_id, product)
);
GO
DECLARE @i int = 1;
WHILE @i <= 40
BEGIN
  INSERT INTO dbo.orders VALUES (@i * 3, N'Zürich Möbel AG', @i * 1.0001, '2026-03-04T05:06:07.1234567', @i % 2, NULL);
  INSERT INTO dbo.lines VALUES (@i * 3, 'chair', @i, @i * 9.99), (@i * 3, 'table', 1, NULL);
  SET @i = @i + 1;
END;
GO
EXEC sys.sp_cdc_enable_db;
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'orders', @role_name = NULL;
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'lines', @role_name = NULL;
GO
INSERT INTO dbo.orders VALUES (200, N'東京商事', 12.5, '2026-03-04T05:06:07', 1, N'call first');
INSERT INTO dbo.lines VALUES (200, 'lamp', 2, 19.90);
GO
UPDATE dbo.orders SET amount = amount + 1, note = N'🚪' WHERE order_id <= 9;
UPDATE dbo.lines SET quantity = quantity + 1 WHERE product = 'table' AND order_id < 20;
GO
DELETE FROM dbo.lines WHERE order_id = 30;
DELETE FROM dbo.orders WHERE order_id = 30;
GO
-- The capture job looks at the log every five seconds, which is too late for a judge: its work is done here.
EXEC sys.sp_cdc_stop_job @job_type = N'capture';
GO
EXEC sys.sp_cdc_scan;
