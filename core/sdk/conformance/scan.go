package conformance

import (
	"errors"
	"slices"
	"testing"

	"github.com/pipectl/pipectl/core/plugin"
)

func (x *tablesTest) scan(t *testing.T) {
	schema := schemaOf(text("k"), integer("n"))
	ref := x.create(t, "conformance.scan", schema)
	first, err := x.write(t, appending(ref, schema), rowsOf(t, schema, []any{"a", 1}, []any{"b", 2}, []any{nil, nil}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.write(t, appending(ref, schema), rowsOf(t, schema, []any{"c", 3})); err != nil {
		t.Fatal(err)
	}
	frames, err := x.tables.Scan(t.Context(), plugin.ScanRequest{Table: ref, Version: first.Version, Columns: []string{"n"}})
	pinned, _ := read(t, frames, err)
	same(t, "a pinned version, one column", pinned, []string{"n=1", "n=2", "n=NULL"})
	number := func(n int64) []plugin.Literal { return []plugin.Literal{{Type: plugin.LiteralInt, Int: n}} }
	for _, tc := range []struct {
		term plugin.Term
		want []string
	}{
		{plugin.Term{Column: "n", Op: plugin.OpEQ, Literals: number(2)}, []string{"b"}},
		{plugin.Term{Column: "n", Op: plugin.OpNE, Literals: number(2)}, []string{"a", "c"}},
		{plugin.Term{Column: "n", Op: plugin.OpLT, Literals: number(2)}, []string{"a"}},
		{plugin.Term{Column: "n", Op: plugin.OpLE, Literals: number(2)}, []string{"a", "b"}},
		{plugin.Term{Column: "n", Op: plugin.OpGT, Literals: number(2)}, []string{"c"}},
		{plugin.Term{Column: "n", Op: plugin.OpGE, Literals: number(2)}, []string{"b", "c"}},
		{plugin.Term{Column: "n", Op: plugin.OpIn, Literals: append(number(1), number(3)...)}, []string{"a", "c"}},
		{plugin.Term{Column: "n", Op: plugin.OpIsNull}, []string{null}},
		{plugin.Term{Column: "n", Op: plugin.OpNotNull}, []string{"a", "b", "c"}},
		{plugin.Term{Column: "k", Op: plugin.OpEQ, Literals: []plugin.Literal{{Type: plugin.LiteralString, Text: "b"}}}, []string{"b"}},
	} {
		frames, err := x.tables.Scan(t.Context(), plugin.ScanRequest{Table: ref, Version: -1, Filter: plugin.Filter{Any: []plugin.Clause{{All: []plugin.Term{tc.term}}}}})
		list, _ := read(t, frames, err)
		for _, want := range tc.want {
			if !slices.Contains(column(list, "k"), want) {
				t.Errorf("%s %s leaves out %s: %q", tc.term.Column, tc.term.Op, want, list)
			}
		}
	}
	var orders [2][]string
	for i := range orders {
		frames, err := x.tables.Scan(t.Context(), plugin.ScanRequest{Table: ref, Version: -1, Columns: []string{"k"}, Ordered: true})
		orders[i], _ = readAsTheyCome(t, frames, err)
	}
	if !slices.Equal(orders[0], orders[1]) || len(orders[0]) != 4 {
		t.Errorf("rows in one order came as %q, then as %q", orders[0], orders[1])
	}
	// A reader that leaves early stops the scan.
	frames, err = x.tables.Scan(t.Context(), plugin.ScanRequest{Table: ref, Version: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(frames.Close(), frames.Close()); err != nil {
		t.Errorf("closing a scan twice: %v", err)
	}
}

// textOrder compares texts that collations order otherwise, or take for one, each
// in a commit of its own, so that the sink may pass over whole files.
func (x *tablesTest) textOrder(t *testing.T) {
	schema := schemaOf(text("k"))
	ref := x.create(t, "conformance.texts", schema)
	// The fullwidth letter is behind the face in UTF-16.
	values := []string{"A", "Z", "a", "a ", "e\u0301", "z", "\u00e9", "\uff41", "\U0001f600"}
	for _, v := range values {
		if _, err := x.write(t, appending(ref, schema), rowsOf(t, schema, []any{v})); err != nil {
			t.Fatal(err)
		}
	}
	for _, than := range values {
		for op, selects := range map[string]func(v string) bool{
			plugin.OpEQ: func(v string) bool { return v == than },
			plugin.OpNE: func(v string) bool { return v != than },
			plugin.OpLT: func(v string) bool { return v < than },
			plugin.OpLE: func(v string) bool { return v <= than },
			plugin.OpGT: func(v string) bool { return v > than },
			plugin.OpGE: func(v string) bool { return v >= than },
		} {
			term := plugin.Term{Column: "k", Op: op, Literals: []plugin.Literal{{Type: plugin.LiteralString, Text: than}}}
			frames, err := x.tables.Scan(t.Context(), plugin.ScanRequest{Table: ref, Version: -1, Filter: plugin.Filter{Any: []plugin.Clause{{All: []plugin.Term{term}}}}})
			list, _ := read(t, frames, err)
			for _, v := range values {
				if selects(v) && !slices.Contains(list, "k="+v) {
					t.Errorf("k %s %q leaves out %q: %q", op, than, v, list)
				}
			}
		}
	}
}
