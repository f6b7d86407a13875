package deltatable_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
	"github.com/pipectl/pipectl/plugins/sink-delta/deltatable"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// deleteWhere deletes the rows for which p is true.
func deleteWhere(ctx context.Context, table *deltatable.Table, p deltalog.Predicate, txns ...deltatable.Txn) (deltatable.Result, error) {
	w, err := table.Begin(ctx, deltatable.WriteSpec{Mode: deltatable.Delete, Where: p, Txns: txns})
	if err != nil {
		return deltatable.Result{}, err
	}
	return w.Commit(ctx, nil, "")
}

// TestDeleteModel compares deletes with the plain meaning of a predicate, with
// NULL, NaN and signed zeros, with and without deletion vectors, partitions and
// column mapping, one after another.
func TestDeleteModel(t *testing.T) {
	t.Parallel()
	domains := []domain{keyDomains["int64"], keyDomains["string"], keyDomains["decimal"], keyDomains["timestamp"], keyDomains["binary"], keyDomains["bool"], keyDomains["date"],
		{arrow.PrimitiveTypes.Float64, []any{-1.5, 0.0, math.Copysign(0, -1), math.NaN(), math.Inf(1), 1e300}}}
	var fields []arrow.Field
	for i, d := range domains {
		fields = append(fields, field(fmt.Sprintf("c%d", i), d.typ))
	}
	schema := schemaOf(fields...)
	rapid.Check(t, func(t *rapid.T) {
		mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
		opts := options(mem)
		opts.RowGroupBytes = rapid.SampledFrom([]int64{0, 1, 100}).Draw(t, "row group bytes")
		spec := deltatable.Spec{Schema: schema, Properties: map[string]string{}}
		if rapid.Bool().Draw(t, "deletion vectors") {
			spec.Properties["delta.enableDeletionVectors"] = "true"
		}
		if rapid.Bool().Draw(t, "mapping") {
			spec.Properties["delta.columnMapping.mode"] = "name"
		}
		// Columns whose every value is given back by partition values.
		spec.PartitionColumns = rapid.Permutation([]string{"c0", "c2", "c5", "c6"}).Draw(t, "partition columns")[:rapid.IntRange(0, 2).Draw(t, "number of partition columns")]
		table, _, err := deltatable.CreateIfAbsent(context.Background(), memoryStore(), "t", spec, opts)
		if err != nil {
			t.Fatal(err)
		}
		var model []row
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			var rows []row
			for range rapid.IntRange(0, 10).Draw(t, "rows") {
				r := make(row, len(domains))
				for i, d := range domains {
					r[i] = d.draw(t, fields[i].Name)
				}
				rows = append(rows, r)
			}
			model = append(model, rows...)
			mustWrite(t, mem, table, appendSpec(schema), rows)
			p := drawPredicate(t, 1, domains, fields, func(d domain) any { return rapid.SampledFrom(d.values).Draw(t, "literal") })
			got, err := deleteWhere(context.Background(), table, p)
			if err != nil {
				t.Fatalf("where %v: %v", p, err)
			}
			before := len(model)
			model = slices.DeleteFunc(model, func(r row) bool { return selects(p, r, schema) })
			gone := int64(before - len(model))
			want := deltatable.Result{Version: got.Version, Outcome: deltatable.Committed, Deleted: gone}
			if gone == 0 {
				want.Outcome = deltatable.Nothing
			}
			if got != want {
				t.Fatalf("where %v: %s, want %s", p, describe(got), describe(want))
			}
			wantRows(t, table, schema, model)
		}
		if n := mem.CurrentAlloc(); n != 0 {
			t.Fatalf("%d bytes of Arrow memory were not released", n)
		}
	})
}

func where(column string, op deltalog.Op, values ...deltalog.Value) deltalog.Predicate {
	return deltalog.Where(deltalog.Comparison{Column: column, Op: op, Values: values})
}

// TestDelete: what it touches, what it records, and what it refuses.
func TestDelete(t *testing.T) {
	t.Parallel()
	mem := checkedMemory(t)
	st := memoryStore()
	table := createPartitioned(t, st, plain, []string{"v"}, nil, options(mem))
	mustWrite(t, mem, table, appendSpec(plain), []row{{int64(1), "a"}, {int64(2), "a"}, {int64(3), "b"}, {int64(4), nil}})
	got, err := deleteWhere(t.Context(), table, where("V", deltalog.OpEq, deltalog.StringValue("a")))
	if err != nil || got.Deleted != 2 || got.Version != 2 {
		t.Fatalf("a partition: %s, %v", describe(got), err)
	}
	if files := live(t, table); len(files) != 2 {
		t.Errorf("%d files", len(files))
	}
	for c, err := range table.Log().History(t.Context(), 1) {
		if err != nil || c.Version == 2 && (c.Info.Operation != "DELETE" || c.Info.OperationMetrics["numDeletedRows"] != "2") {
			t.Errorf("%+v, %v", c.Info, err)
		}
	}
	txn := deltatable.Txn{AppID: "eraser", Version: 1}
	for i, want := range []deltatable.Outcome{deltatable.Committed, deltatable.Already} {
		got, err := deleteWhere(t.Context(), table, where("id", deltalog.OpGt, deltalog.IntValue(3)), txn)
		if err != nil || got.Outcome != want {
			t.Errorf("time %d: %s, %v", i, describe(got), err)
		}
	}
	wantRows(t, table, plain, []row{{int64(3), "b"}})
	for name, c := range map[string]struct {
		p    deltalog.Predicate
		want string
	}{
		"no predicate":      {nil, "needs a predicate"},
		"an unknown column": {where("x", deltalog.OpIsNull), `no column "x"`},
		"another type":      {where("id", deltalog.OpEq, deltalog.StringValue("3")), `"id" is long`},
		"NULL":              {where("id", deltalog.OpEq, deltalog.NullValue()), "NULL"},
		"no literal":        {where("id", deltalog.OpEq), "literals"},
	} {
		if _, err := deleteWhere(t.Context(), table, c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for property, want := range map[string]string{"delta.appendOnly": "appendOnly", "delta.enableChangeDataFeed": "changeDataFeed"} {
		table := mustCreate(t, memoryStore(), plain, map[string]string{property: "TRUE"}, options(mem))
		if _, err := deleteWhere(t.Context(), table, where("id", deltalog.OpIsNull)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", property, err)
		}
	}
}

// TestDeleteMeetsAnother: rows that came while a delete was under way are looked
// at too; those it does not read do not disturb it.
func TestDeleteMeetsAnother(t *testing.T) {
	t.Parallel()
	for _, properties := range []map[string]string{nil, {"delta.enableDeletionVectors": "true"}} {
		for _, theirs := range []int64{2, 9} { // read by the delete, and not
			mem := checkedMemory(t)
			disk := memoryStore()
			faulty := store.NewFaulty(disk)
			table := mustCreate(t, faulty, plain, properties, options(mem))
			mustWrite(t, mem, table, appendSpec(plain), []row{{int64(1), "a"}, {int64(5), "b"}})
			other, err := deltatable.Open(t.Context(), disk, "silver/orders", options(memory.DefaultAllocator))
			if err != nil {
				t.Fatal(err)
			}
			done := false
			faulty.Before(func(c store.Call) {
				if c.Op == store.OpPutIfAbsent && strings.HasSuffix(c.Path, "2.json") && !done {
					done = true
					mustWrite(t, memory.DefaultAllocator, other, appendSpec(plain), []row{{theirs, "theirs"}})
				}
			})
			got, err := deleteWhere(t.Context(), table, where("id", deltalog.OpLt, deltalog.IntValue(5)))
			want := []row{{int64(5), "b"}}
			deleted := int64(2)
			if theirs == 9 {
				want, deleted = append(want, row{int64(9), "theirs"}), 1
			}
			if err != nil || !done || got.Version != 3 || got.Deleted != deleted {
				t.Errorf("%v, %d: %s at version %d, %v", properties, theirs, describe(got), got.Version, err)
			}
			wantRows(t, table, plain, want)
		}
	}
}

// TestDeleteKilledAtEveryCall: whenever a process dies during a delete, all of
// its rows are gone or none, and doing it again ends it.
func TestDeleteKilledAtEveryCall(t *testing.T) {
	t.Parallel()
	p := where("lsn", deltalog.OpEq, deltalog.IntValue(1))
	p[0] = append(p[0], deltalog.Comparison{Column: "id", Op: deltalog.OpIn, Values: []deltalog.Value{deltalog.IntValue(2), deltalog.IntValue(3), deltalog.IntValue(4)}})
	want := linesOf(t, crashSchema, []row{{int64(1), int64(1), "one"}})
	for _, c := range []crashCase{
		{name: "rewriting"},
		{name: "deletion vectors", properties: map[string]string{"delta.enableDeletionVectors": "true"}},
		{name: "partitions", partition: []string{"lsn"}},
	} {
		for _, effect := range []store.Effect{store.Kill, store.KillAfter, store.Fail, store.Ambiguous} {
			t.Run(fmt.Sprintf("%s/effect %d", c.name, effect), func(t *testing.T) {
				t.Parallel()
				base, before := crashBase(t, c)
				outcomes := map[bool]int{}
				for n := 1; ; n++ {
					disk := base.Clone()
					faulty := store.NewFaulty(disk, store.Fault{Nth: n, Effect: effect})
					mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
					table, err := deltatable.Open(t.Context(), faulty, "silver/orders", options(mem))
					if err == nil {
						_, err = deleteWhere(t.Context(), table, p)
					}
					if left := mem.CurrentAlloc(); left != 0 {
						t.Errorf("call %d: %d bytes of Arrow memory were not released", n, left)
					}
					fresh, openErr := deltatable.Open(t.Context(), disk, "silver/orders", options(memory.DefaultAllocator))
					if openErr != nil {
						t.Fatalf("call %d: %v", n, openErr)
					}
					got := rowsIn(t, fresh)
					isNew := slices.Equal(got, want)
					if !isNew && !slices.Equal(got, before) || err == nil && !isNew {
						t.Fatalf("call %d, %v: the table has\n%s", n, err, strings.Join(got, ""))
					}
					outcomes[isNew]++
					if _, err := deleteWhere(t.Context(), fresh, p); err != nil {
						t.Fatalf("call %d: again: %v", n, err)
					}
					if got := rowsIn(t, fresh); !slices.Equal(got, want) {
						t.Fatalf("call %d: after deleting again the table has\n%s", n, strings.Join(got, ""))
					}
					if len(faulty.Calls()) < n {
						break
					}
				}
				if outcomes[false] == 0 || outcomes[true] == 0 {
					t.Errorf("outcomes %v: the faults did not cover the delete", outcomes)
				}
			})
		}
	}
}

// TestDeleteHasNoParts: there is nothing to write.
func TestDeleteHasNoParts(t *testing.T) {
	t.Parallel()
	table := mustCreate(t, memoryStore(), plain, nil, options(checkedMemory(t)))
	w, err := table.Begin(t.Context(), deltatable.WriteSpec{Mode: deltatable.Delete, Where: where("id", deltalog.OpIsNull)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Part(t.Context()); err == nil || errors.Is(err, deltatable.ErrWriteClosed) {
		t.Errorf("a part of a delete: %v", err)
	}
}
