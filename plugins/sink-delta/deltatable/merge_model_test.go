package deltatable_test

import (
	"context"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltatable"
)

// domain is a column type with the few values that a test draws from it.
type domain struct {
	typ    arrow.DataType
	values []any
}

var keyDomains = map[string]domain{
	"int64":     {arrow.PrimitiveTypes.Int64, []any{int64(-1 << 63), int64(-7), int64(0), int64(1), int64(2), int64(500), int64(1<<63 - 1)}},
	"int32":     {arrow.PrimitiveTypes.Int32, []any{int32(-1), int32(0), int32(1), int32(2), int32(3), int32(4)}},
	"int16":     {arrow.PrimitiveTypes.Int16, []any{int16(-1), int16(0), int16(1)}},
	"bool":      {arrow.FixedWidthTypes.Boolean, []any{true, false}},
	"string":    {arrow.BinaryTypes.String, []any{"", "a", "A", "aa", "a\x00", "ä", strings.Repeat("x", 40) + "1", strings.Repeat("x", 40) + "2"}},
	"binary":    {arrow.BinaryTypes.Binary, []any{[]byte{}, []byte{0}, []byte{0, 0}, []byte{255}, []byte{255, 1}}},
	"decimal":   {&arrow.Decimal128Type{Precision: 20, Scale: 3}, []any{decimal128.FromI64(0), decimal128.FromI64(-1), decimal128.FromI64(1000), decimal128.FromBigInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(19), nil))}},
	"date":      {arrow.FixedWidthTypes.Date32, []any{arrow.Date32(-719162), arrow.Date32(0), arrow.Date32(20000)}},
	"timestamp": {&arrow.TimestampType{Unit: arrow.Microsecond}, []any{arrow.Timestamp(-62135596800000000), arrow.Timestamp(-1), arrow.Timestamp(0), arrow.Timestamp(1), arrow.Timestamp(1001)}},
	"float64":   {arrow.PrimitiveTypes.Float64, []any{-1.5, 0.0, 1e300}},
}

var guardDomains = map[string]domain{
	"int64":     {arrow.PrimitiveTypes.Int64, []any{int64(-2), int64(0), int64(1), int64(2)}},
	"string":    {arrow.BinaryTypes.String, []any{"", "0x1", "0x2", "0x25"}},
	"decimal":   {&arrow.Decimal128Type{Precision: 9, Scale: 2}, []any{decimal128.FromI64(-100), decimal128.FromI64(0), decimal128.FromI64(99)}},
	"timestamp": {&arrow.TimestampType{Unit: arrow.Microsecond}, []any{arrow.Timestamp(-1), arrow.Timestamp(0), arrow.Timestamp(1)}},
	"float64":   {arrow.PrimitiveTypes.Float64, []any{-1.0, 0.5, 2.0}},
	"date":      {arrow.FixedWidthTypes.Date32, []any{arrow.Date32(-1), arrow.Date32(0)}},
}

func (d domain) draw(t *rapid.T, label string) any {
	if rapid.IntRange(0, 5).Draw(t, label+" null") == 0 {
		return nil
	}
	return rapid.SampledFrom(d.values).Draw(t, label)
}

// keyText makes keys comparable, NULL included.
func keyText(r row, keys []int) string {
	var b strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&b, "%T %q|", r[k], fmt.Sprint(r[k]))
	}
	return b.String()
}

// greater compares guards: NULL is lowest.
func greater(a, b any) bool {
	if a == nil || b == nil {
		return a != nil
	}
	switch a := a.(type) {
	case int64:
		return a > b.(int64)
	case string:
		return a > b.(string)
	case float64:
		return a > b.(float64)
	case decimal128.Num:
		return a.Cmp(b.(decimal128.Num)) > 0
	case arrow.Timestamp:
		return a > b.(arrow.Timestamp)
	case arrow.Date32:
		return a > b.(arrow.Date32)
	}
	panic(fmt.Sprintf("no order for %T", a))
}

// modelMerge is the rule of a merge, said plainly. source rows have the action
// last and nil in columns they lack; update are the columns that U sets.
func modelMerge(table, source []row, keys []int, guard int, update []int, deleteAbsent bool) (out []row, inserted, updated, deleted int64) {
	byKey := map[string]row{}
	matched := map[string]bool{}
	for _, s := range source {
		byKey[keyText(s, keys)] = s
	}
	for _, r := range table {
		s, ok := byKey[keyText(r, keys)]
		switch {
		case !ok && deleteAbsent:
			deleted++
			continue
		case !ok:
			out = append(out, r)
			continue
		}
		matched[keyText(r, keys)] = true
		switch {
		case guard >= 0 && !greater(s[guard], r[guard]):
			out = append(out, r)
		case s[len(s)-1] == "D":
			deleted++
		default:
			changed := slices.Clone(r)
			for _, u := range update {
				changed[u] = s[u]
			}
			out = append(out, changed)
			updated++
		}
	}
	for _, s := range source {
		if s[len(s)-1] == "U" && !matched[keyText(s, keys)] {
			out = append(out, s[:len(s)-1])
			inserted++
		}
	}
	return out, inserted, updated, deleted
}

// TestMergeModel compares merges of all kinds with the plain rule.
func TestMergeModel(t *testing.T) {
	t.Parallel()
	spill := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
		kinds := slices.Sorted(mapsKeys(keyDomains))
		var domains []domain
		var fields []arrow.Field
		var keys []int
		var keyNames []string
		var partitions []string // columns that partition values give back as they were
		for i := range rapid.IntRange(1, 3).Draw(t, "key columns") {
			kind := rapid.SampledFrom(kinds).Draw(t, "key type")
			d := keyDomains[kind]
			if kind != "string" && kind != "binary" {
				partitions = append(partitions, fmt.Sprintf("k%d", i))
			}
			domains = append(domains, d)
			keyNames = append(keyNames, fmt.Sprintf("k%d", i))
			fields = append(fields, field(keyNames[i], d.typ))
			keys = append(keys, i)
		}
		guard := len(fields)
		guardDomain := guardDomains[rapid.SampledFrom(slices.Sorted(mapsKeys(guardDomains))).Draw(t, "guard type")]
		domains = append(domains, guardDomain, keyDomains["string"], keyDomains["int32"])
		fields = append(fields, field("guard", guardDomain.typ), field("text", arrow.BinaryTypes.String), field("number", arrow.PrimitiveTypes.Int32))
		schema := schemaOf(fields...)
		opts := options(mem)
		opts.SpillDir = spill
		opts.Parallel = rapid.IntRange(1, 3).Draw(t, "parallel")
		opts.MergeMemory = rapid.SampledFrom([]int64{0, 300, 1000, 5000}).Draw(t, "memory")
		opts.TargetFileSize = rapid.SampledFrom([]int64{0, 1, 600}).Draw(t, "file size")
		opts.RowGroupBytes = rapid.SampledFrom([]int64{0, 1, 100}).Draw(t, "row group bytes")
		properties := map[string]string{}
		if rapid.Bool().Draw(t, "deletion vectors") {
			properties["delta.enableDeletionVectors"] = "true"
		}
		if rapid.Bool().Draw(t, "mapping") {
			properties["delta.columnMapping.mode"] = "name"
		}
		st := memoryStore()
		if guardDomain.typ.ID() != arrow.STRING {
			partitions = append(partitions, "guard")
		}
		partitions = rapid.Permutation(append(partitions, "text", "number")).Draw(t, "partition columns")
		partitions = partitions[:max(0, rapid.IntRange(-3, min(3, len(fields)-1, len(partitions))).Draw(t, "number of partition columns"))]
		table, _, err := deltatable.CreateIfAbsent(context.Background(), st, "silver/orders",
			deltatable.Spec{Schema: schema, Properties: properties, PartitionColumns: partitions}, opts)
		if err != nil {
			t.Fatal(err)
		}
		// stored is what becomes of a drawn row: an empty partition value is NULL.
		stored := func(r row) row {
			if at := len(fields) - 2; slices.Contains(partitions, "text") && r[at] == "" {
				r[at] = nil
			}
			return r
		}

		var model []row
		for range rapid.IntRange(0, 25).Draw(t, "rows") { // keys may repeat in the table
			r := make(row, len(fields))
			for i, d := range domains {
				r[i] = d.draw(t, fields[i].Name)
			}
			model = append(model, stored(r))
		}
		half := len(model) / 2
		mustWrite(t, mem, table, deltatable.WriteSpec{Mode: deltatable.Append, Schema: schema}, model[:half], model[half:])

		for range rapid.IntRange(1, 4).Draw(t, "merges") {
			spec := &deltatable.MergeSpec{Keys: keyNames, Action: "_action", DeleteAbsent: rapid.Bool().Draw(t, "delete absent")}
			guarded := -1
			if rapid.Bool().Draw(t, "guarded") {
				spec.Guard, guarded = "GUARD", guard
			}
			lacking := -1 // a column that the source does not have
			if rapid.IntRange(0, 3).Draw(t, "lacks a column") == 0 {
				lacking = len(fields) - 1
			}
			var update []int
			switch rapid.IntRange(0, 2).Draw(t, "update columns") {
			case 0:
				for i := range fields {
					if i != lacking {
						update = append(update, i)
					}
				}
			default:
				for i, f := range fields {
					if i != lacking && rapid.Bool().Draw(t, "update "+f.Name) {
						update = append(update, i)
						spec.UpdateColumns = append(spec.UpdateColumns, f.Name)
					}
				}
				if spec.UpdateColumns == nil {
					spec.UpdateColumns = []string{"text"}
					update = []int{len(fields) - 2}
				}
			}
			seen := map[string]bool{}
			var source []row
			for range rapid.IntRange(0, 20).Draw(t, "source rows") {
				r := make(row, len(fields)+1)
				for i, d := range domains {
					if i != lacking {
						r[i] = d.draw(t, "source "+fields[i].Name)
					}
				}
				r[len(fields)] = rapid.SampledFrom([]any{"U", "U", "D"}).Draw(t, "action")
				if k := keyText(r, keys); !seen[k] {
					seen[k] = true
					source = append(source, stored(r))
				}
			}
			want, inserted, updated, deleted := modelMerge(model, source, keys, guarded, update, spec.DeleteAbsent)
			sourceSchema := withAction(schema)
			sent := source
			if lacking >= 0 {
				fs := slices.Delete(slices.Clone(sourceSchema.Fields()), lacking, lacking+1)
				sourceSchema = arrow.NewSchema(fs, nil)
				sent = nil
				for _, r := range source {
					sent = append(sent, slices.Delete(slices.Clone(r), lacking, lacking+1))
				}
			}
			cut := rapid.IntRange(0, len(sent)).Draw(t, "part boundary")
			before := rowsIn(t, table)
			got := mustWrite(t, mem, table, deltatable.WriteSpec{Mode: deltatable.Merge, Schema: sourceSchema, Merge: spec}, sent[:cut], sent[cut:])
			outcome := deltatable.Committed
			if inserted+updated+deleted == 0 {
				outcome = deltatable.Nothing
			}
			expected := deltatable.Result{Version: got.Version, Outcome: outcome, Inserted: inserted, Updated: updated, Deleted: deleted}
			if got != expected {
				t.Fatalf("merge said %s, the rule says %s\ntable:\n%ssource: %v", describe(got), describe(expected), strings.Join(before, ""), source)
			}
			model = want
			wantRows(t, table, schema, model)
		}
		if left, _ := filepath.Glob(filepath.Join(spill, "*")); len(left) > 0 {
			for _, l := range left {
				os.Remove(l)
			}
			t.Fatalf("temporary files were left: %q", left)
		}
		if n := mem.CurrentAlloc(); n != 0 {
			t.Fatalf("%d bytes of Arrow memory were not released", n)
		}
	})
}

func mapsKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// TestKeysRunTogether: keys of several columns whose texts join to the same
// text are different keys.
func TestKeysRunTogether(t *testing.T) {
	t.Parallel()
	mem := checkedMemory(t)
	schema := schemaOf(field("a", arrow.BinaryTypes.String), field("b", arrow.BinaryTypes.String), field("v", arrow.PrimitiveTypes.Int64))
	table := mustCreate(t, memoryStore(), schema, nil, options(mem))
	rows := []row{{"ab", "c", int64(1)}, {"a", "bc", int64(2)}, {"abc", "", int64(3)}, {"abc", nil, int64(4)}, {nil, "abc", int64(5)}, {"", "abc", int64(6)}}
	var source []row
	for _, r := range rows {
		source = append(source, append(slices.Clone(r), "U"))
	}
	spec := deltatable.WriteSpec{Mode: deltatable.Merge, Schema: withAction(schema), Merge: &deltatable.MergeSpec{Keys: []string{"a", "b"}, Action: "_action"}}
	if got := mustWrite(t, mem, table, spec, source); got.Inserted != 6 {
		t.Errorf("got %s", describe(got))
	}
	if got := mustWrite(t, mem, table, spec, source); got.Updated != 6 || got.Inserted != 0 {
		t.Errorf("the same again: got %s", describe(got))
	}
	wantRows(t, table, schema, rows)
}
