package deltatable_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
	"github.com/pipectl/pipectl/plugins/sink-delta/deltatable"
)

// TestNestedStatsAsSparkWritesThem: the rows of the golden table, written by us
// file by file, have Spark's statistics.
func TestNestedStatsAsSparkWritesThem(t *testing.T) {
	t.Parallel()
	w := newGoldenWrite(t, "spark-nested")
	table := mustCreate(t, memoryStore(), w.schema, nil, options(w.mem))
	for i := int64(0); i < w.all.NumRows(); i += 2 { // as Spark's files have them
		part := w.all.NewSlice(i, i+2)
		_, err := writeRecord(t.Context(), table, appendSpec(w.schema), part)
		part.Release()
		if err != nil {
			t.Fatal(err)
		}
	}
	got, want := statsIn(t, table), statsIn(t, w.table)
	if len(got) != 2 || !slices.Equal(got, want) {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// statsIn are the statistics of a table's files in one form: keys in order,
// numbers as numbers, without empty objects and without tightBounds.
func statsIn(t *testing.T, table *deltatable.Table) (texts []string) {
	t.Helper()
	var clean func(v any) any
	clean = func(v any) any {
		object, ok := v.(map[string]any)
		if !ok {
			return v
		}
		for k, inner := range object {
			inner = clean(inner)
			if m, ok := inner.(map[string]any); ok && len(m) == 0 || k == "tightBounds" {
				delete(object, k)
			}
		}
		return object
	}
	for _, a := range live(t, table) {
		var v any
		if err := json.Unmarshal([]byte(a.Stats), &v); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(clean(v))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	slices.Sort(texts)
	return texts
}

// TestNestedNotNull: a field inside that is NOT NULL is held, where what is
// around it is there; rows of nullable columns may be written where no NULL is.
func TestNestedNotNull(t *testing.T) {
	t.Parallel()
	mem := checkedMemory(t)
	form := func(nullable bool) *arrow.Schema {
		x := arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int64, Nullable: nullable}
		return schemaOf(field("s", arrow.StructOf(x, field("y", arrow.BinaryTypes.String))),
			field("l", arrow.ListOfField(arrow.Field{Name: "element", Type: arrow.StructOf(x), Nullable: nullable})),
			field("m", arrow.MapOfFields(arrow.Field{Name: "key", Type: arrow.BinaryTypes.String}, arrow.Field{Name: "value", Type: arrow.PrimitiveTypes.Int64, Nullable: nullable})))
	}
	table := mustCreate(t, memoryStore(), form(false), nil, options(mem))
	for _, c := range []struct{ json, want string }{
		{`{"s": {"x": 1, "y": null}, "l": [{"x": 1}], "m": [{"key": "a", "value": 1}]}`, ""},
		{`{"s": null, "l": null, "m": null}`, ""},
		{`{"s": null, "l": [], "m": []}`, ""},
		{`{"s": {"x": null, "y": "a"}, "l": [], "m": []}`, `"s.x"`},
		{`{"s": null, "l": [{"x": 1}, null], "m": []}`, `"l.element"`},
		{`{"s": null, "l": [{"x": 1}, {"x": null}], "m": []}`, `"l.element.x"`},
		{`{"s": null, "l": null, "m": [{"key": "a", "value": null}]}`, `"m.value"`},
	} {
		// A row without any NULL that is in the way stands in front.
		rec, _, err := array.RecordFromJSON(mem, form(true), strings.NewReader(`[{"s": null, "l": null, "m": null}, `+c.json+`]`))
		if err != nil {
			t.Fatal(err)
		}
		_, err = writeRecord(t.Context(), table, appendSpec(form(true)), rec)
		rec.Release()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want+" is NOT NULL")) {
			t.Errorf("%s: %v, want %q", c.json, err, c.want)
		}
	}
	s, err := table.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lines, err := dump(t.Context(), s, deltatable.ScanSpec{})
	if err != nil || len(lines) != 6 || !slices.Contains(lines, `{"s":{"x":1,"y":null},"l":[{"x":1}],"m":[["a",1]]}`+"\n") {
		t.Errorf("%q, %v", lines, err)
	}
}

// TestStatsColumnsProperty: only the named columns get statistics.
func TestStatsColumnsProperty(t *testing.T) {
	t.Parallel()
	mem := checkedMemory(t)
	for text, want := range map[string]string{"v": `"nullCount":{"v":0}`, "ID , v": `"nullCount":{"id":0,"v":0}`, "other": `"nullCount":{}`} {
		table := mustCreate(t, memoryStore(), plain, map[string]string{deltalog.PropDataSkippingStatsColumns: text}, options(mem))
		mustWrite(t, mem, table, appendSpec(plain), []row{{int64(1), "a"}})
		if got := live(t, table)[0].Stats; !strings.Contains(got, want) || !strings.Contains(got, `"numRecords":1`) {
			t.Errorf("%q: %s", text, got)
		}
	}
	table := mustCreate(t, memoryStore(), plain, map[string]string{deltalog.PropDataSkippingStatsColumns: "a,,b"}, options(mem))
	if _, err := table.Begin(t.Context(), appendSpec(plain)); err == nil || !strings.Contains(err.Error(), deltalog.PropDataSkippingStatsColumns) {
		t.Errorf("a list that is none: %v", err)
	}
}
