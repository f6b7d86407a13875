// Package workload fills a database and keeps changing it, for demonstrations and load tests.
//
// What it does depends on its seed alone, not on time: the n-th transaction of a seed is always the same, as long as
// nobody else changes the table. It must not know who reads the database.
package workload

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/cdc"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// OrdersTable is the table of the workload.
const OrdersTable = "dbo.orders"

// Options of the workload.
type Options struct {
	Rows int    // loaded at the start, before the table is captured
	Rate int    // transactions a second once it runs; 0 is none
	Seed uint64 // 0 is a seed too
}

// Orders is dbo.orders, captured as dbo_orders, with changes of every kind.
type Orders struct {
	db   *cdc.Database
	rate int

	mu     sync.Mutex // held while a transaction runs
	rnd    *rand.Rand
	keys   []int64 // of the rows that exist
	next   int64   // key of the next new row
	done   int64
	paused bool
	err    error

	stop    context.CancelFunc
	running sync.WaitGroup
}

// NewOrders makes the table, loads its rows and captures it. The database is enabled for change data capture.
func NewOrders(ctx context.Context, db *cdc.Database, o Options) (*Orders, error) {
	if o.Rows < 0 || o.Rate < 0 {
		return nil, fmt.Errorf("workload orders: %d rows and %d transactions a second; neither may be negative", o.Rows, o.Rate)
	}
	w := &Orders{db: db, rate: o.Rate, rnd: rand.New(rand.NewPCG(o.Seed, 0x6F7264657273)), next: 1}
	if err := db.CreateTable(definition()); err != nil {
		return nil, fmt.Errorf("workload orders: %w", err)
	}
	const batch = 10_000
	for n := 0; n < o.Rows; n += batch {
		rows := make([]sqltype.Row, 0, batch)
		for range min(batch, o.Rows-n) {
			rows = append(rows, w.row(w.next))
			w.keys = append(w.keys, w.next)
			w.next++
		}
		if _, err := db.Write(ctx, func(x *cdc.Writer) error { return x.Insert(OrdersTable, rows...) }); err != nil {
			return nil, fmt.Errorf("workload orders: loading rows: %w", err)
		}
	}
	if err := db.Enable(); err != nil {
		return nil, fmt.Errorf("workload orders: %w", err)
	}
	if err := db.EnableTable(OrdersTable, cdc.Capture{}); err != nil {
		return nil, fmt.Errorf("workload orders: %w", err)
	}
	return w, nil
}

func definition() tsql.TableDef {
	col := func(name string, t sqltype.Type, nullable bool) tsql.ColumnDef {
		return tsql.ColumnDef{Column: tsql.Column{Name: name, Type: t, Nullable: nullable}}
	}
	return tsql.TableDef{Name: tsql.Name{Schema: "dbo", Object: "orders"}, Key: []string{"order_id"}, Columns: []tsql.ColumnDef{
		col("order_id", sqltype.Of(sqltype.Int), false),
		col("customer", sqltype.Str(sqltype.NVarChar, 60), false),
		col("amount", sqltype.Dec(18, 4), false),
		col("placed_at", sqltype.Scaled(sqltype.DateTime2, 7), false),
		col("status", sqltype.Str(sqltype.VarChar, 12), false),
		col("paid", sqltype.Of(sqltype.Bit), false),
		col("items", sqltype.Of(sqltype.SmallInt), false),
		col("due", sqltype.Of(sqltype.Date), true),
		col("note", sqltype.Str(sqltype.NVarChar, 200), true),
	}}
}

var (
	customers = []string{"Zürich Möbel AG", "Łódź Tekstylia", "東京商事", "Café Olé", "Smith & Sons", "Ολύμπιος", "smile 🙂 ltd", "O'Brien", "Ærø Færge", "Nguyễn Văn"}
	statuses  = []string{"new", "packed", "shipped", "delivered", "returned", "cancelled"}
	notes     = []string{"call first", "leave at the door 🚪", "façade entrance", "", "次の日", "fragile, \"this side up\""}
	epoch     = sqltype.TicksOf(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
)

// row makes a row for a key.
func (w *Orders) row(key int64) sqltype.Row {
	row := sqltype.Row{
		sqltype.FromInt(key),
		sqltype.FromString(customers[w.rnd.IntN(len(customers))]),
		sqltype.FromScaled(w.rnd.Int64N(100_000_000), 4),
		sqltype.FromTicks(epoch + key*sqltype.TicksPerMinute + w.rnd.Int64N(sqltype.TicksPerMinute)),
		sqltype.FromString(statuses[0]),
		sqltype.FromBool(w.rnd.IntN(2) == 0),
		sqltype.FromInt(1 + w.rnd.Int64N(12)),
		{}, {},
	}
	if w.rnd.IntN(4) > 0 {
		row[7] = sqltype.FromTicks(epoch + w.rnd.Int64N(400)*sqltype.TicksPerDay)
	}
	if w.rnd.IntN(3) == 0 {
		row[8] = sqltype.FromString(notes[w.rnd.IntN(len(notes))])
	}
	return row
}

// change alters one to three columns of a row.
func (w *Orders) change(row sqltype.Row) sqltype.Row {
	for range 1 + w.rnd.IntN(3) {
		switch w.rnd.IntN(6) {
		case 0:
			row[2] = sqltype.FromScaled(w.rnd.Int64N(100_000_000), 4)
		case 1:
			row[4] = sqltype.FromString(statuses[w.rnd.IntN(len(statuses))])
		case 2:
			row[5] = sqltype.FromBool(!row[5].Bool())
		case 3:
			row[7] = sqltype.FromTicks(epoch + w.rnd.Int64N(400)*sqltype.TicksPerDay)
		case 4:
			row[8] = sqltype.FromString(notes[w.rnd.IntN(len(notes))])
		case 5:
			row[7+w.rnd.IntN(2)] = sqltype.Value{}
		}
	}
	return row
}

// Transaction runs the next transaction. Its mix: half inserts and a third updates of one row, the rest deletes, moved
// keys and transactions of several statements.
func (w *Orders) Transaction(ctx context.Context) (cdc.LSN, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.transaction(ctx)
}

func (w *Orders) transaction(ctx context.Context) (cdc.LSN, error) {
	lsn, err := w.db.Write(ctx, func(x *cdc.Writer) error {
		n := 1
		if w.rnd.IntN(10) == 0 {
			n = 2 + w.rnd.IntN(7)
		}
		for range n {
			if err := w.statement(x); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return lsn, errors.Join(fmt.Errorf("workload orders: transaction %d: %w", w.done+1, err), w.reload())
	}
	w.done++
	return lsn, nil
}

// reload learns the keys again after a transaction that came to nothing.
func (w *Orders) reload() error {
	w.keys = w.keys[:0]
	_, err := w.db.Rows(OrdersTable, func(row sqltype.Row) bool {
		w.keys = append(w.keys, row[0].Int())
		return true
	})
	return err
}

// statement does one change. Rows that someone else removed are forgotten.
func (w *Orders) statement(x *cdc.Writer) error {
	p := w.rnd.IntN(100)
	if p < 45 || len(w.keys) == 0 {
		key := w.next
		w.next++
		w.keys = append(w.keys, key)
		return x.Insert(OrdersTable, w.row(key))
	}
	i := w.rnd.IntN(len(w.keys))
	key := []sqltype.Value{sqltype.FromInt(w.keys[i])}
	row, err := x.Get(OrdersTable, key)
	if err != nil {
		return err
	}
	if row == nil {
		w.forget(i)
		return nil
	}
	switch {
	case p < 82:
		return x.Update(OrdersTable, key, w.change(row))
	case p < 94:
		w.forget(i)
		return x.Delete(OrdersTable, key)
	}
	row[0] = sqltype.FromInt(w.next) // the key moves
	w.keys[i] = w.next
	w.next++
	return x.Update(OrdersTable, key, row)
}

func (w *Orders) forget(i int) {
	w.keys[i] = w.keys[len(w.keys)-1]
	w.keys = w.keys[:len(w.keys)-1]
}

// Start runs transactions at the workload's rate until Stop. With a rate of 0 it does nothing.
func (w *Orders) Start(ctx context.Context) {
	ctx, w.stop = context.WithCancel(ctx)
	if w.rate == 0 {
		return
	}
	w.running.Go(func() { w.run(ctx) })
}

// tick is how often the running workload looks at the time.
const tick = 10 * time.Millisecond

func (w *Orders) run(ctx context.Context) {
	t := time.NewTicker(tick)
	defer t.Stop()
	owed, last := 0.0, time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-t.C:
			owed = min(owed+now.Sub(last).Seconds()*float64(w.rate), float64(w.rate)+1)
			last = now
		}
		for ; owed >= 1 && ctx.Err() == nil; owed-- {
			if !w.one(ctx) {
				return
			}
		}
	}
}

// one runs a transaction unless the workload is paused; false ends the workload.
func (w *Orders) one(ctx context.Context) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.paused {
		return true
	}
	if _, err := w.transaction(ctx); err != nil && !errors.Is(err, context.Canceled) {
		w.err = err
		return false
	}
	return true
}

// Pause stops the workload; when it returns, no transaction is in flight.
func (w *Orders) Pause() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paused = true
}

// Resume lets a paused workload go on.
func (w *Orders) Resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paused = false
}

// Transactions tells how many have been committed.
func (w *Orders) Transactions() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.done
}

// Stop ends the workload and waits for it. The error is what stopped it before.
func (w *Orders) Stop() error {
	if w.stop != nil {
		w.stop()
	}
	w.running.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
