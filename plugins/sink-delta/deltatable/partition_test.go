package deltatable_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
	"github.com/pipectl/pipectl/plugins/sink-delta/deltatable"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

func createPartitioned(t *testing.T, st store.Store, schema *arrow.Schema, by []string, properties map[string]string, opts deltatable.Options) *deltatable.Table {
	t.Helper()
	table, created, err := deltatable.CreateIfAbsent(t.Context(), st, "silver/orders",
		deltatable.Spec{Schema: schema, PartitionColumns: by, Properties: properties}, opts)
	if err != nil || !created {
		t.Fatalf("created %v: %v", created, err)
	}
	return table
}

// oddTexts are partition values that file systems, URIs and Hive give a meaning
// to.
var oddTexts = []string{"plain", "with space", "a/b", "a:b", "a=b", "50%", "100%25", `back\slash`, `dq"uote`, "q'uote", "new\nline", "tab\there",
	"{br}[ac]", "a+b&c?d#e", "~^|<>*", ".hidden", "..", ".", "dot.", "ünïcode-日本", "__HIVE_DEFAULT_PARTITION__x", "_under", strings.Repeat("x", 300), "\x00", "NULL"}

// TestPartitionedWrites: append, overwrite and merge of a table partitioned by
// columns of several types, with NULLs and odd values. What comes back is what
// was written; each file says the partition that all its rows are of; only files
// of partitions with changed rows are touched.
func TestPartitionedWrites(t *testing.T) {
	t.Parallel()
	schema := schemaOf(field("p", arrow.BinaryTypes.String), field("id", arrow.PrimitiveTypes.Int64), field("d", arrow.FixedWidthTypes.Date32),
		field("s", arrow.StructOf(field("x", arrow.PrimitiveTypes.Int32))), field("ts", &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}))
	for name, properties := range map[string]map[string]string{
		"rewriting":        nil,
		"deletion vectors": {"delta.enableDeletionVectors": "true"},
		"mapping":          {"delta.columnMapping.mode": "name", "delta.enableDeletionVectors": "true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mem := checkedMemory(t)
			st := memoryStore()
			opts := options(mem)
			opts.SpillDir = t.TempDir()
			table := createPartitioned(t, st, schema, []string{"ts", "p", "d"}, properties, opts)
			put := func(mode deltatable.Mode, json string) {
				t.Helper()
				spec := deltatable.WriteSpec{Mode: mode, Schema: schema}
				if mode == deltatable.Merge {
					spec.Schema = withAction(schema)
					spec.Merge = &deltatable.MergeSpec{Keys: []string{"id"}, Action: "_action"}
				}
				rec, _, err := array.RecordFromJSON(mem, spec.Schema, strings.NewReader(json))
				if err != nil {
					t.Fatal(err)
				}
				defer rec.Release()
				if _, err := writeRecord(t.Context(), table, spec, rec); err != nil {
					t.Fatal(err)
				}
			}
			var in, want strings.Builder
			for i, text := range oddTexts {
				fmt.Fprintf(&in, `,{"p":%s,"id":%d,"d":"2024-02-29","s":{"x":%d},"ts":"1969-12-31T23:59:59.999999Z"}`, quoted(text), i, i)
				fmt.Fprintf(&want, `{"p":%s,"id":%d,"d":"2024-02-29","s":{"x":%d},"ts":"1969-12-31T23:59:59.999999Z"}`+"\n", quoted(text), i, i)
			}
			in.WriteString(`,{"p":"","id":100,"d":null,"s":null,"ts":null},{"p":null,"id":101,"d":null,"s":{"x":null},"ts":null}`)
			want.WriteString(`{"p":null,"id":100,"d":null,"s":null,"ts":null}` + "\n" + `{"p":null,"id":101,"d":null,"s":{"x":null},"ts":null}` + "\n")
			rows := "[" + in.String()[1:] + "]"
			put(deltatable.Append, rows)
			compareText(t, table, want.String())
			checkPartitions(t, table, st)
			put(deltatable.Overwrite, rows)
			compareText(t, table, want.String())
			files := len(live(t, table))
			if files != len(oddTexts)+2 { // an empty text is NULL in the log, and came apart from it
				t.Errorf("%d files", files)
			}
			// An update moves a row into another partition, an insert makes one, a
			// delete empties one.
			before := map[string]bool{}
			for _, a := range live(t, table) {
				before[a.Path] = true
			}
			put(deltatable.Merge, `[{"p":"plain","id":1,"d":"2024-02-29","s":{"x":-1},"ts":"1969-12-31T23:59:59.999999Z","_action":"U"},
				{"p":"new","id":200,"d":null,"s":null,"ts":null,"_action":"U"},{"p":"","id":101,"d":null,"s":{"x":7},"ts":null,"_action":"U"},{"p":null,"id":2,"_action":"D"}]`)
			text := want.String()
			text = strings.Replace(text, `{"p":"with space","id":1,"d":"2024-02-29","s":{"x":1}`, `{"p":"plain","id":1,"d":"2024-02-29","s":{"x":-1}`, 1)
			text = strings.Replace(text, `{"p":"a/b","id":2,"d":"2024-02-29","s":{"x":2},"ts":"1969-12-31T23:59:59.999999Z"}`+"\n", "", 1)
			text = strings.Replace(text, `"id":101,"d":null,"s":{"x":null}`, `"id":101,"d":null,"s":{"x":7}`, 1)
			compareText(t, table, text+`{"p":"new","id":200,"d":null,"s":null,"ts":null}`+"\n")
			checkPartitions(t, table, st)
			kept := 0
			for _, a := range live(t, table) {
				if before[a.Path] && a.DeletionVector == nil {
					kept++
				}
			}
			if kept != files-3 {
				t.Errorf("%d files of %d stayed as they were", kept, files)
			}
		})
	}
}

// quoted is a text as JSON.
func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func compareText(t *testing.T, table *deltatable.Table, want string) {
	t.Helper()
	compareLines(t, rowsIn(t, table), sorted(want))
}

// checkPartitions holds the log against the store: every live file is there,
// under a name that no system trips over, with a value for each partition column.
func checkPartitions(t *testing.T, table *deltatable.Table, st store.Store) {
	t.Helper()
	s, err := table.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range live(t, table) {
		_, object, err := table.Log().Locate(t.Context(), a.Path)
		if err != nil {
			t.Fatal(err)
		}
		info, err := st.Head(t.Context(), object)
		if err != nil || info.Size != a.Size {
			t.Errorf("%s: %d bytes, %v", a.Path, info.Size, err)
		}
		for element := range strings.SplitSeq(object, "/") {
			if len(element) > 255 || strings.ContainsAny(element, "\\:*?\"<>|\n\t\x00") || strings.HasSuffix(element, ".") {
				t.Errorf("the name %q", element)
			}
		}
		if strings.Contains(object, "=") != (s.Log().MappingMode() == deltalog.MappingNone && strings.Count(object, "/") > 2) {
			t.Errorf("folders %q", object)
		}
		for _, name := range s.Log().Metadata().PartitionColumns {
			if _, err := s.Log().PartitionValue(a, name); err != nil {
				t.Errorf("%s: %v", a.Path, err)
			}
		}
	}
}

// openCounter counts the objects that are being written.
type openCounter struct {
	store.Store
	now, most atomic.Int64
}

func (c *openCounter) Create(ctx context.Context, path string) (store.Writer, error) {
	w, err := store.Create(ctx, c.Store, path)
	if err != nil {
		return nil, err
	}
	n := c.now.Add(1)
	for most := c.most.Load(); n > most && !c.most.CompareAndSwap(most, n); most = c.most.Load() {
	}
	return &countedWriter{w, c, false}, nil
}

type countedWriter struct {
	store.Writer
	c    *openCounter
	done bool
}

func (w *countedWriter) Close() error {
	w.end()
	return w.Writer.Close()
}

func (w *countedWriter) Abort() error {
	w.end()
	return w.Writer.Abort()
}

func (w *countedWriter) end() {
	if !w.done {
		w.done = true
		w.c.now.Add(-1)
	}
}

// TestManyPartitions: rows of several hundred partitions, in any order, become
// one file for each; only a few are open at once, whatever waits goes to disk,
// and nothing of it is left there, also when the write is given up.
func TestManyPartitions(t *testing.T) {
	t.Parallel()
	schema := schemaOf(field("p", arrow.PrimitiveTypes.Int32), field("v", arrow.BinaryTypes.String))
	const partitions, each = 600, 3
	var rows []row
	for i := range partitions * each {
		rows = append(rows, row{int32(i * 7919 % partitions), fmt.Sprint("value ", i)})
	}
	for _, giveUp := range []bool{false, true} {
		mem := checkedMemory(t)
		st := &openCounter{Store: memoryStore()}
		opts := options(mem)
		opts.SpillDir, opts.RowGroupBytes = t.TempDir(), 8<<10
		table := createPartitioned(t, st, schema, []string{"p"}, nil, opts)
		w, err := table.Begin(t.Context(), appendSpec(schema))
		if err != nil {
			t.Fatal(err)
		}
		part, err := w.Part(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(rows); i += 100 {
			rec := batchOf(t, mem, schema, rows[i:i+100])
			err := part.Write(rec)
			rec.Release()
			if err != nil {
				t.Fatal(err)
			}
		}
		if left, _ := filepath.Glob(filepath.Join(opts.SpillDir, "*")); len(left) == 0 {
			t.Error("nothing went to disk: the test shows nothing")
		}
		if giveUp {
			if err := part.Abort(t.Context()); err != nil {
				t.Fatal(err)
			}
			if files := filesIn(t, st); len(files) > 0 {
				t.Errorf("%d files were left", len(files))
			}
		} else {
			done, err := part.Close()
			if err != nil || done.Rows != int64(len(rows)) {
				t.Fatalf("%d rows, %v", done.Rows, err)
			}
			if _, err := w.Commit(t.Context(), []string{done.Token}, ""); err != nil {
				t.Fatal(err)
			}
			wantRows(t, table, schema, rows)
			if files := live(t, table); len(files) != partitions {
				t.Errorf("%d files of %d partitions", len(files), partitions)
			}
		}
		if most := st.most.Load(); most > 16 || most < 2 {
			t.Errorf("%d files were open at once", most)
		}
		if st.now.Load() != 0 {
			t.Errorf("%d files stayed open", st.now.Load())
		}
		if left, _ := os.ReadDir(opts.SpillDir); len(left) > 0 {
			t.Errorf("%d temporary files were left", len(left))
		}
	}
}

// TestRefusedPartitions: what a partition value cannot hold is said, not
// changed.
func TestRefusedPartitions(t *testing.T) {
	t.Parallel()
	mem := checkedMemory(t)
	schema := schemaOf(arrow.Field{Name: "n", Type: arrow.BinaryTypes.String}, field("b", arrow.BinaryTypes.Binary), field("id", arrow.PrimitiveTypes.Int64))
	table := createPartitioned(t, memoryStore(), schema, []string{"n", "b"}, nil, options(mem))
	merge := deltatable.WriteSpec{Mode: deltatable.Merge, Schema: withAction(schema), Merge: &deltatable.MergeSpec{Keys: []string{"b", "id"}, Action: "_action"}}
	for name, c := range map[string]struct {
		spec deltatable.WriteSpec
		row  row
		want string
	}{
		"NULL in NOT NULL":       {appendSpec(schema), row{nil, nil, int64(1)}, `"n" is NOT NULL`},
		"an empty text for NULL": {appendSpec(schema), row{"", nil, int64(1)}, `"n"`},
		"no UTF-8":               {appendSpec(schema), row{"a", []byte{0xff}, int64(1)}, `"b"`},
		"an empty key":           {merge, row{"a", []byte{}, int64(1), "U"}, `"b"`},
	} {
		if _, err := write(t.Context(), t, mem, table, c.spec, []row{c.row}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	wantRows(t, table, schema, nil)
	only := schemaOf(field("p", arrow.BinaryTypes.String))
	if table, _, err := deltatable.CreateIfAbsent(t.Context(), memoryStore(), "t", deltatable.Spec{Schema: only, PartitionColumns: []string{"p"}}, options(mem)); err == nil {
		if _, err := table.Begin(t.Context(), appendSpec(only)); err == nil || !strings.Contains(err.Error(), "partition columns") {
			t.Errorf("a table of nothing but partition columns: %v", err)
		}
	}
}
