package main

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
)

// The two tables have the types whose form is not the same in both programs.
var tables = []string{
	`CREATE TABLE dbo.orders (
	order_id int NOT NULL PRIMARY KEY,
	customer nvarchar(60) NOT NULL,
	amount decimal(18, 4) NOT NULL,
	tax money NULL,
	placed_at datetime2(6) NOT NULL,
	changed_at datetime2(3) NULL,
	old_time datetime NULL,
	due date NULL,
	at_door time(7) NULL,
	seen datetimeoffset(6) NULL,
	paid bit NOT NULL,
	weight float NULL,
	reference uniqueidentifier NULL,
	photo varbinary(20) NULL,
	note nvarchar(200) NULL)`,
	`CREATE TABLE dbo.lines (
	order_id int NOT NULL,
	product varchar(20) NOT NULL,
	quantity smallint NOT NULL,
	big bigint NULL,
	PRIMARY KEY (order_id, product))`,
}

// keyOf names the columns of the primary keys.
var keyOf = map[string][]string{"orders": {"order_id"}, "lines": {"order_id", "product"}, typesTable: {"id"}}

// lateColumn comes to the orders in the middle of the workload.
const lateColumn = "channel"

// secondInstance is the capture instance of the orders that has it.
const secondInstance = "dbo_orders_2"

// lastKey is the key of the order that the workload makes at its end.
const lastKey = "2000000000"

// workload changes rows through T-SQL, one transaction after the other; what it does depends on its size alone.
type workload struct {
	db           *sql.DB
	rnd          *rand.Rand
	changes      int // to make; a row that an UPDATE changes is one
	made         int
	loaded       int
	transactions int
	orders       []int
	next         int // key of the next order
	channel      bool
}

func newWorkload(db *sql.DB, changes int) *workload {
	return &workload{db: db, rnd: rand.New(rand.NewPCG(1, 2)), changes: changes, next: 1}
}

// load makes the tables, fills and captures them.
func (w *workload) load(ctx context.Context) error {
	for _, statement := range tables {
		if _, err := w.db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("making a table: %w", err)
		}
	}
	err := w.transaction(ctx, func(tx *sql.Tx) error {
		for range 100 {
			if err := w.insert(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	w.loaded, w.made, w.transactions = w.made, 0, 0
	_, err = w.db.ExecContext(ctx, `EXEC sys.sp_cdc_enable_db;
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'orders', @role_name = NULL;
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'lines', @role_name = NULL`)
	if err != nil {
		return fmt.Errorf("enabling change data capture: %w", err)
	}
	return nil
}

// run makes the changes. In its middle a column comes to the orders, and some changes later a second capture instance
// that has it. The last change is the order of lastKey.
func (w *workload) run(ctx context.Context) error {
	column, instance := w.changes/2, w.changes/2+w.changes/20
	for w.made < w.changes-1 {
		if !w.channel && w.made >= column {
			if _, err := w.db.ExecContext(ctx, "ALTER TABLE dbo.orders ADD "+lateColumn+" varchar(12) NULL"); err != nil {
				return fmt.Errorf("adding a column: %w", err)
			}
			w.channel = true
		}
		if instance > 0 && w.made >= instance {
			instance = 0
			if _, err := w.db.ExecContext(ctx, `EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'orders',
@role_name = NULL, @capture_instance = N'`+secondInstance+`'`); err != nil {
				return fmt.Errorf("enabling a second capture instance: %w", err)
			}
		}
		if err := w.transaction(ctx, func(tx *sql.Tx) error { return w.statements(ctx, tx) }); err != nil {
			return err
		}
	}
	w.next, _ = strconv.Atoi(lastKey)
	return w.transaction(ctx, func(tx *sql.Tx) error { return w.order(ctx, tx) })
}

func (w *workload) transaction(ctx context.Context, body func(*sql.Tx) error) error {
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning transaction %d: %w", w.transactions+1, err)
	}
	defer func() { _ = tx.Rollback() }() // nothing behind a commit
	if err := body(tx); err != nil {
		return fmt.Errorf("transaction %d: %w", w.transactions+1, err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("committing transaction %d: %w", w.transactions+1, err)
	}
	w.transactions++
	return nil
}

// statements are one transaction: most change one row; some change both tables, several rows, or nothing in the end.
func (w *workload) statements(ctx context.Context, tx *sql.Tx) error {
	i := w.rnd.IntN(len(w.orders))
	key := w.orders[i]
	switch p := w.rnd.IntN(100); {
	case p < 35:
		return w.insert(ctx, tx)
	case p < 60:
		return w.exec(ctx, tx, "UPDATE dbo.orders SET amount = @p2, note = @p3, changed_at = @p4 WHERE order_id = @p1", key, w.amount(), w.text(), w.time(3))
	case p < 65 && w.channel:
		return w.exec(ctx, tx, "UPDATE dbo.orders SET channel = @p2 WHERE order_id = @p1", key, []any{"web", "shop", nil}[w.rnd.IntN(3)])
	case p < 73: // the key moves
		w.orders[i] = w.next
		w.next++
		return w.exec(ctx, tx, "UPDATE dbo.orders SET order_id = @p2 WHERE order_id = @p1", key, w.orders[i])
	case p < 83: // an order goes, its lines first, if it has any
		w.orders = slices.Delete(w.orders, i, i+1)
		if err := w.exec(ctx, tx, "DELETE FROM dbo.lines WHERE order_id = @p1", key); err != nil {
			return err
		}
		return w.exec(ctx, tx, "DELETE FROM dbo.orders WHERE order_id = @p1", key)
	case p < 90: // both tables
		if err := w.insert(ctx, tx); err != nil {
			return err
		}
		if err := w.line(ctx, tx, w.next-1, "desk"); err != nil {
			return err
		}
		return w.exec(ctx, tx, "UPDATE dbo.orders SET paid = 1 - paid WHERE order_id = @p1", w.next-1)
	case p < 95: // several rows by one statement
		return w.exec(ctx, tx, "UPDATE TOP (5) dbo.lines SET quantity = quantity + 1, big = @p2 WHERE order_id >= @p1", key, w.rnd.Int64())
	case p < 98: // the keys of several rows move
		return w.exec(ctx, tx, "UPDATE TOP (3) dbo.lines SET product = product + 'x' WHERE order_id >= @p1 AND LEN(product) < 12", key)
	default: // one that changes its row twice
		if err := w.exec(ctx, tx, "UPDATE dbo.orders SET weight = @p2 WHERE order_id = @p1", key, w.rnd.Float64()); err != nil {
			return err
		}
		return w.exec(ctx, tx, "UPDATE dbo.orders SET weight = NULL WHERE order_id = @p1", key)
	}
}

// insert makes an order, some with a line.
func (w *workload) insert(ctx context.Context, tx *sql.Tx) error {
	if err := w.order(ctx, tx); err != nil || w.rnd.IntN(3) > 0 {
		return err
	}
	return w.line(ctx, tx, w.next-1, "chair")
}

func (w *workload) order(ctx context.Context, tx *sql.Tx) error {
	key := w.next
	w.orders = append(w.orders, key)
	w.next++
	return w.exec(ctx, tx, `INSERT INTO dbo.orders (order_id, customer, amount, tax, placed_at, old_time, due, at_door, seen, paid, weight, reference, photo)
VALUES (@p1, @p2, @p3, CAST(@p4 AS money), @p5, @p6, @p7, @p8, @p9, @p10, @p11, @p12, @p13)`,
		key, customers[w.rnd.IntN(len(customers))], w.amount(), w.amount(), w.time(6), w.time(0), w.time(6)[:10], w.time(6)[11:]+"1",
		w.time(6)+" +05:30", w.rnd.IntN(2), w.rnd.NormFloat64(), fmt.Sprintf("%08X-0000-4000-8000-0000%08x", w.rnd.Uint32(), w.rnd.Uint32()), []byte{1, 0, byte(key)})
}

func (w *workload) line(ctx context.Context, tx *sql.Tx, order int, product string) error {
	return w.exec(ctx, tx, "INSERT INTO dbo.lines (order_id, product, quantity) VALUES (@p1, @p2, @p3)", order, product, w.rnd.IntN(100))
}

func (w *workload) exec(ctx context.Context, tx *sql.Tx, statement string, parameters ...any) error {
	done, err := tx.ExecContext(ctx, statement, parameters...)
	if err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	n, err := done.RowsAffected()
	w.made += int(n)
	return err
}

var customers = []string{"Zürich Möbel AG", "東京商事", "smile 🙂 ltd", "O'Brien", "Nguyễn Văn", ""}

func (w *workload) amount() string {
	return fmt.Sprintf("%d.%04d", w.rnd.IntN(100_000), w.rnd.IntN(10_000))
}

func (w *workload) text() any {
	return []any{nil, "", "leave at the door 🚪", `fragile, "this side up"`, "次の日"}[w.rnd.IntN(5)]
}

// time is a time as text, with digits of a second.
func (w *workload) time(digits int) string {
	s := fmt.Sprintf("2026-%02d-%02d %02d:%02d:%02d.%06d", 1+w.rnd.IntN(12), 1+w.rnd.IntN(28), w.rnd.IntN(24), w.rnd.IntN(60), w.rnd.IntN(60), w.rnd.IntN(1_000_000))
	if digits == 0 {
		return s[:19]
	}
	return s[:20+digits]
}
