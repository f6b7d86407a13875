package main

import (
	"slices"
	"strings"
	"testing"
)

// workloadOfAll has each kind of change once, in the least of events.
func workloadOfAll() []event {
	order := func(id, channel string) image {
		i := image{"order_id": id, "customer": "x"}
		if channel != "" {
			i[lateColumn] = channel
		}
		return i
	}
	return []event{
		{table: "orders", commit: "01", op: "c", after: order("1", ""), instance: "dbo_orders"},
		{table: "lines", commit: "01", op: "c", after: image{"order_id": "1", "product": "desk"}, instance: "dbo_lines"},
		{table: "orders", commit: "02", op: "d", before: order("1", ""), instance: "dbo_orders"},
		{table: "orders", commit: "02", op: "c", after: order("2", ""), instance: "dbo_orders"},
		{table: "orders", commit: "03", op: "u", before: order("2", ""), after: order("2", "web"), instance: secondInstance},
	}
}

func TestEveryKindOfChangeIsCounted(t *testing.T) {
	t.Parallel()
	n := count(workloadOfAll())
	want := kinds{changes: 5, inserts: 3, updates: 1, deletes: 1, moves: 1, transactions: 3, overTwo: 1, several: 1, secondInstance: 1, lateColumn: 1}
	if n != want {
		t.Errorf("%+v, want %+v", n, want)
	}
	if err := n.complete(5); err != nil {
		t.Error(err)
	}
	if err := n.complete(6); err == nil || !strings.Contains(err.Error(), "5 changes only, not 6") {
		t.Errorf("too few: %v", err)
	}
}

func TestAKindThatIsAbsentIsNamed(t *testing.T) {
	t.Parallel()
	for absent, change := range map[string]func([]event) []event{
		"inserts": func(e []event) []event { return slices.DeleteFunc(e, func(e event) bool { return e.op == "c" }) },
		"updates": func(e []event) []event { return e[:4] },
		"deletes": func(e []event) []event { return slices.Delete(e, 2, 3) },
		"key updates, the row is another": func(e []event) []event {
			e[3].after["customer"] = "y"
			return e
		},
		"key updates, in two transactions": func(e []event) []event {
			e[3].commit = "021"
			return e
		},
		"key updates, of two tables": func(e []event) []event {
			e[3].table = "lines"
			return e
		},
		"transactions over two tables": func(e []event) []event {
			e[1].commit = "011"
			return e
		},
		"transactions with several rows of a table": func(e []event) []event {
			e[3].commit = "021"
			return e
		},
		"changes of the second capture instance": func(e []event) []event {
			e[4].instance = "dbo_orders"
			return e
		},
		"changes with the added column": func(e []event) []event {
			delete(e[4].after, lateColumn)
			return e
		},
	} {
		kind, _, _ := strings.Cut(absent, ",")
		if err := count(change(workloadOfAll())).complete(1); err == nil || !strings.Contains(err.Error(), "no "+kind) {
			t.Errorf("%s: %v", absent, err)
		}
	}
	if err := count(nil).complete(0); err == nil {
		t.Error("a workload without changes passes")
	}
}

// A row that goes and one with the same values that comes are one move, not two.
func TestARowMovesOnce(t *testing.T) {
	t.Parallel()
	n := count([]event{
		{table: "orders", commit: "01", op: "d", before: image{"order_id": "1"}},
		{table: "orders", commit: "01", op: "c", after: image{"order_id": "2"}},
		{table: "orders", commit: "01", op: "c", after: image{"order_id": "3"}},
	})
	if n.moves != 1 {
		t.Errorf("%d moves", n.moves)
	}
}
