package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/cdc"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

const (
	shopDatabase = "shop"
	shopTable    = "dbo.orders"
	shopInstance = "dbo_orders"
)

// shop is a table of orders and what is done to it. The same calls make the
// same rows.
type shop struct {
	db   *cdc.Database
	rnd  *rand.Rand
	next int64 // key of the next new order; all from 1 on exist or were deleted
}

// shopColumns are the captured columns, the key first.
func shopColumns() []mssqlsim.Column {
	return []mssqlsim.Column{
		{Name: "id", Type: "int"}, {Name: "customer", Type: "bigint"}, {Name: "amount", Type: "decimal(18,4)"},
		{Name: "placed_at", Type: "datetime2(7)"}, {Name: "due", Type: "date", Nullable: true}, {Name: "status", Type: "varchar(12)"},
		{Name: "note", Type: "nvarchar(80)", Nullable: true}, {Name: "paid", Type: "bit"}, {Name: "weight", Type: "float"},
	}
}

func newShop(db *mssqlsim.Database) (*shop, error) {
	if err := db.CreateTable(mssqlsim.Table{Name: shopTable, Key: []string{"id"}, Columns: shopColumns()}); err != nil {
		return nil, err
	}
	return &shop{db: db.Model(), rnd: rand.New(rand.NewPCG(1, 2)), next: 1}, nil
}

func (s *shop) row(id int64) sqltype.Row {
	const start = int64(7_000_000) // tenths of microseconds do not matter here, only that values differ
	row := sqltype.Row{
		sqltype.FromInt(id), sqltype.FromInt(id * 7919), sqltype.FromScaled(s.rnd.Int64N(100_000_000), 4),
		sqltype.FromTicks(739_000*sqltype.TicksPerDay + id*start), {}, sqltype.FromString(statuses[s.rnd.IntN(len(statuses))]),
		{}, sqltype.FromBool(s.rnd.IntN(2) == 0), sqltype.FromFloat(float64(s.rnd.IntN(1_000_000)) / 7),
	}
	if s.rnd.IntN(4) > 0 {
		row[4] = sqltype.FromTicks((739_000 + s.rnd.Int64N(400)) * sqltype.TicksPerDay)
	}
	if s.rnd.IntN(3) > 0 {
		row[6] = sqltype.FromString(fmt.Sprintf("a note about order %d, %s", id, statuses[s.rnd.IntN(len(statuses))]))
	}
	return row
}

var statuses = []string{"new", "packed", "shipped", "delivered", "returned", "cancelled"}

// perCommit is how many rows one transaction changes.
const perCommit = 20

// insert adds n orders, perCommit a transaction; in large transactions when
// nothing is captured yet.
func (s *shop) insert(ctx context.Context, n int64, batch int64) error {
	for end := s.next + n; s.next < end; {
		rows := make([]sqltype.Row, 0, batch)
		for ; s.next < end && int64(len(rows)) < batch; s.next++ {
			rows = append(rows, s.row(s.next))
		}
		if _, err := s.db.Write(ctx, func(w *cdc.Writer) error { return w.Insert(shopTable, rows...) }); err != nil {
			return fmt.Errorf("inserting orders: %w", err)
		}
	}
	return nil
}

// change makes n change rows: one deleted order and one new one for every four
// updates, which are two change rows each, spread over all orders.
func (s *shop) change(ctx context.Context, n int64) error {
	for left := n; left > 0; {
		_, err := s.db.Write(ctx, func(w *cdc.Writer) error {
			for made := int64(0); made < perCommit && left > 0; {
				k, err := s.one(w, left)
				if err != nil {
					return err
				}
				made, left = made+k, left-k
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("changing orders: %w", err)
		}
	}
	return nil
}

// one makes one or two change rows, at most left, and says how many.
func (s *shop) one(w *cdc.Writer, left int64) (int64, error) {
	what := s.rnd.IntN(6)
	if what == 0 || left < 2 || s.next == 1 {
		s.next++
		return 1, w.Insert(shopTable, s.row(s.next-1))
	}
	for {
		id := 1 + s.rnd.Int64N(s.next-1)
		key := []sqltype.Value{sqltype.FromInt(id)}
		row, err := w.Get(shopTable, key)
		if err != nil {
			return 0, err
		}
		switch {
		case row == nil: // deleted before
			continue
		case what == 1:
			return 1, w.Delete(shopTable, key)
		}
		row[2] = sqltype.FromScaled(s.rnd.Int64N(100_000_000), 4)
		row[5] = sqltype.FromString(statuses[s.rnd.IntN(len(statuses))])
		return 2, w.Update(shopTable, key, row)
	}
}

func (s *shop) capture(db *mssqlsim.Database) error {
	if err := db.EnableCDC(); err != nil {
		return err
	}
	return db.EnableTable(shopTable, mssqlsim.Capture{})
}
