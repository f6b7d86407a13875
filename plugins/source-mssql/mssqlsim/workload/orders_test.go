package workload

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/cdc"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

func database(t testing.TB) (*cdc.Server, *cdc.Database) {
	t.Helper()
	s, err := cdc.NewServer(cdc.Config{Clock: cdc.NewManualClock(time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC))})
	if err != nil {
		t.Fatal(err)
	}
	s.AddLogin("sa", "x", true)
	return s, s.Database("shop")
}

func contents(t testing.TB, db *cdc.Database) string {
	t.Helper()
	var b strings.Builder
	if _, err := db.Rows(OrdersTable, func(row sqltype.Row) bool {
		fmt.Fprintln(&b, row)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSameSeedSameRows(t *testing.T) {
	t.Parallel()
	var got []string
	for _, seed := range []uint64{7, 7, 8} {
		_, db := database(t)
		w, err := NewOrders(t.Context(), db, Options{Rows: 300, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		for range 500 {
			if _, err := w.Transaction(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		got = append(got, contents(t, db))
	}
	if got[0] != got[1] {
		t.Error("one seed gave two tables")
	}
	if got[0] == got[2] {
		t.Error("two seeds gave one table")
	}
}

// Changes of every kind reach the change table, and adding them up gives the table.
func TestEveryKindOfChange(t *testing.T) {
	t.Parallel()
	s, db := database(t)
	w, err := NewOrders(t.Context(), db, Options{Rows: 200})
	if err != nil {
		t.Fatal(err)
	}
	state := map[int64]string{}
	if _, err := db.Rows(OrdersTable, func(row sqltype.Row) bool {
		state[row[0].Int()] = fmt.Sprint(row)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	for range 2000 {
		if _, err := w.Transaction(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	sess, err := s.NewSession("sa", "shop")
	if err != nil {
		t.Fatal(err)
	}
	rel, err := sess.Relation(tsql.Name{Schema: "cdc", Object: "dbo_orders_CT"})
	if err != nil {
		t.Fatal(err)
	}
	cols := []int{0, 3}
	for i := range 9 {
		cols = append(cols, i+5)
	}
	cols = append(cols, 14) // __$command_id
	cur, err := rel.Scan(t.Context(), tsql.ScanRequest{Columns: cols})
	if err != nil {
		t.Fatal(err)
	}
	ops := map[int64]int{}
	kinds := map[string]int{}
	commands := map[string]map[int64]bool{} // of each commit
	var before sqltype.Row
	for {
		row, err := cur.Next()
		if err != nil {
			t.Fatal(err)
		}
		if row == nil {
			break
		}
		op := row[1].Int()
		ops[op]++
		commit, values := fmt.Sprint(row[0]), row[2:11]
		if commands[commit] == nil {
			commands[commit] = map[int64]bool{}
		}
		commands[commit][row[11].Int()] = true
		count(kinds, values)
		if before != nil && (op == 2 || op == 4) && before[0].Int() != values[0].Int() && fmt.Sprint(before[1:]) == fmt.Sprint(values[1:]) {
			kinds["a key that moves"]++
		}
		before = nil
		if op == 1 || op == 3 {
			before = slices.Clone(values)
		}
		key, image := row[2].Int(), fmt.Sprint(values)
		switch op {
		case 1, 3:
			if state[key] != image {
				t.Fatalf("the image before a change of %d is\n%s\nand was\n%s", key, image, state[key])
			}
			delete(state, key)
		default:
			state[key] = image
		}
	}
	for op := int64(1); op <= 4; op++ {
		if ops[op] < 50 {
			t.Errorf("only %d rows of operation %d", ops[op], op)
		}
	}
	for _, ids := range commands {
		if len(ids) > 1 {
			kinds["a transaction of several statements"]++
		}
	}
	for _, kind := range []string{"a key that moves", "a transaction of several statements", "NULL", "text beyond ASCII", "text beyond the basic plane", "an empty text",
		"a fraction of a decimal", "a seventh digit of a second"} {
		if kinds[kind] < 50 {
			t.Errorf("%s comes only %d times", kind, kinds[kind])
		}
	}
	n := 0
	if _, err := db.Rows(OrdersTable, func(row sqltype.Row) bool {
		n++
		if state[row[0].Int()] != fmt.Sprint(row) {
			t.Errorf("row %d differs", row[0].Int())
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if n != len(state) {
		t.Errorf("%d rows, %d by the changes", n, len(state))
	}
}

// count finds what is hard for a pipeline in the values of a row.
func count(kinds map[string]int, row sqltype.Row) {
	note := row[8]
	if note.IsNull() {
		kinds["NULL"]++
	} else if note.Str() == "" {
		kinds["an empty text"]++
	}
	for _, r := range row[1].Str() {
		if r > 0x7F {
			kinds["text beyond ASCII"]++
		}
		if r > 0xFFFF {
			kinds["text beyond the basic plane"]++
		}
	}
	if n, _ := row[2].Small(); n%10_000 != 0 {
		kinds["a fraction of a decimal"]++
	}
	if row[3].Ticks()%10 != 0 { // of 100 ns
		kinds["a seventh digit of a second"]++
	}
}

func TestPauseReturnsWithNothingInFlight(t *testing.T) {
	t.Parallel()
	_, db := database(t)
	w, err := NewOrders(t.Context(), db, Options{Rows: 10, Rate: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	w.Start(t.Context())
	for w.Transactions() == 0 {
		if err := w.err; err != nil {
			t.Fatal(err)
		}
	}
	w.Pause()
	n, lsn := w.Transactions(), db.MaxLSN()
	for range 1000 {
		if w.Transactions() != n || db.MaxLSN() != lsn {
			t.Fatal("a transaction ran while paused")
		}
	}
	w.Resume()
	if err := w.Stop(); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkLoad loads the demo's 200,000 rows.
func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		_, db := database(b)
		if _, err := NewOrders(b.Context(), db, Options{Rows: 200_000}); err != nil {
			b.Fatal(err)
		}
	}
}
