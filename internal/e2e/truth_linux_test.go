package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltatable"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/client"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/workload"
)

// lakeRow is a row as text by column; see lakeText.
type lakeRow map[string]string

// in joins the values of columns.
func (r lakeRow) in(columns []string) string {
	var cells []string
	for _, c := range columns {
		cells = append(cells, c+"="+r[c])
	}
	return strings.Join(cells, " ")
}

// open pins the newest version of a table.
func (l *life) open(name string) *deltatable.Snapshot {
	l.t.Helper()
	st, err := store.NewLocal(filepath.Join(l.dir, "lake"))
	if err != nil {
		l.t.Fatal(err)
	}
	table, err := deltatable.Open(l.t.Context(), st, strings.ReplaceAll(name, ".", "/"), deltatable.Options{})
	if err != nil {
		l.t.Fatalf("opening %s: %v", name, err)
	}
	snapshot, err := table.Snapshot(l.t.Context())
	if err != nil {
		l.t.Fatalf("reading %s: %v", name, err)
	}
	return snapshot
}

// rows reads columns of a table, nil = all.
func (l *life) rows(name string, columns ...string) []lakeRow {
	l.t.Helper()
	var out []lakeRow
	err := scan(l.open(name), func(b arrow.RecordBatch) error {
		for i := range int(b.NumRows()) {
			row := lakeRow{}
			for c, field := range b.Schema().Fields() {
				if columns != nil && !slices.Contains(columns, field.Name) {
					continue
				}
				text, err := lakeText(b.Column(c), i)
				if err != nil {
					return fmt.Errorf("column %s: %w", field.Name, err)
				}
				row[field.Name] = text
			}
			out = append(out, row)
		}
		return nil
	})
	if err != nil {
		l.t.Fatalf("reading %s: %v", name, err)
	}
	return out
}

// columns are those of the source table.
func (l *life) columns() []string {
	l.t.Helper()
	columns, err := l.db.Model().Columns(workload.OrdersTable)
	if err != nil {
		l.t.Fatal(err)
	}
	var names []string
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return names
}

// same holds that two lists of rows are equal, in any order.
func (l *life) same(what string, got, want []string) {
	l.t.Helper()
	missing, extra := minus(want, got), minus(got, want)
	if len(missing)+len(extra) > 0 {
		show := func(list []string) string { return strings.Join(list[:min(len(list), 3)], "\n") }
		l.t.Errorf("%s: %d rows missing, %d rows too many\nmissing:\n%s\ntoo many:\n%s", what, len(missing), len(extra), show(missing), show(extra))
	}
}

// silverIsTheSource holds that silver has the rows of the source, each once.
func (l *life) silverIsTheSource() {
	l.t.Helper()
	names := l.columns()
	var want, got []string
	err := l.db.Rows(workload.OrdersTable, func(row []any) bool {
		r := lakeRow{}
		for i, v := range row {
			r[names[i]] = sourceText(v)
		}
		want = append(want, r.in(names))
		return true
	})
	if err != nil {
		l.t.Fatal(err)
	}
	for _, r := range l.rows("silver.orders", names...) {
		got = append(got, r.in(names))
	}
	l.same("silver.orders", got, want)
}

// bronzeIsTheLog holds that bronze has one snapshot, each of its keys once, and
// after it every captured change once; and that the facts tell the same story.
func (l *life) bronzeIsTheLog() {
	l.t.Helper()
	l.compareBronze(true)
}

// bronzeIsTheLogSoFar is the same of a stream that has not come to the end.
func (l *life) bronzeIsTheLogSoFar() {
	l.t.Helper()
	l.compareBronze(false)
}

func (l *life) compareBronze(whole bool) {
	l.t.Helper()
	names := l.columns()
	cells := append([]string{"_start_lsn", "_seqval", "_operation"}, names...)
	bronze := l.rows("bronze.orders", append(slices.Clone(cells), "_batch_id", "_snapshot")...)
	stamps, keys, perBatch := map[string]bool{}, map[string]bool{}, map[string]int{}
	var got, want []string
	newest := ""
	for _, r := range bronze {
		if r["_operation"] != "0" {
			newest = max(newest, r["_start_lsn"])
			got = append(got, r.in(cells))
			perBatch[r["_batch_id"]]++
			continue
		}
		stamps[r["_snapshot"]] = true
		if keys[r["order_id"]] {
			l.t.Errorf("the snapshot has order %s twice", r["order_id"])
		}
		keys[r["order_id"]] = true
	}
	if len(keys) == 0 { // of an empty table
		stamps[""] = true
	}
	if len(stamps) != 1 {
		l.t.Fatalf("bronze has snapshots of %d positions, not one: %v", len(stamps), stamps)
	}
	for stamp := range stamps {
		for _, c := range l.changes() {
			if c["_start_lsn"] > stamp && (whole || c["_start_lsn"] <= newest) {
				want = append(want, c.in(cells))
			}
		}
	}
	l.same("bronze.orders", got, want)
	l.factsCount(perBatch)
}

// changes is what the database has captured.
func (l *life) changes() []lakeRow {
	l.t.Helper()
	db, err := client.Open(l.server.DSN("shop"))
	if err != nil {
		l.t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(l.t.Context(), "SELECT * FROM cdc.dbo_orders_CT")
	if err != nil {
		l.t.Fatal(err)
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		l.t.Fatal(err)
	}
	values, into := make([]any, len(types)), make([]any, len(types))
	for i := range values {
		into[i] = &values[i]
	}
	renamed := map[string]string{"__$start_lsn": "_start_lsn", "__$seqval": "_seqval", "__$operation": "_operation"}
	var out []lakeRow
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			l.t.Fatal(err)
		}
		r := lakeRow{}
		for i, v := range values {
			name := types[i].Name()
			if to, ok := renamed[name]; ok {
				name = to
			}
			if data, ok := v.([]byte); ok {
				v = string(data)
				if types[i].DatabaseTypeName() != "DECIMAL" {
					v = fmt.Sprintf("0x%X", data)
				}
			}
			r[name] = sourceText(v)
		}
		out = append(out, r)
	}
	if err := rows.Err(); err != nil {
		l.t.Fatal(err)
	}
	return out
}

// factsCount holds that the facts know each batch once, without a gap, and as
// many rows of each as bronze has.
func (l *life) factsCount(perBatch map[string]int) {
	l.t.Helper()
	batches := 0
	seen := map[string]bool{}
	for _, r := range l.rows("ops.ingestion_facts", "batch_id", "event", "rows") {
		if r["event"] != "NULL" || r["batch_id"] == "NULL" {
			continue
		}
		id := r["batch_id"]
		if seen[id] {
			l.t.Errorf("the facts know batch %s twice", id)
		}
		seen[id] = true
		batches++
		if want := fmt.Sprint(perBatch[id]); r["rows"] != want {
			l.t.Errorf("the facts count %s rows in batch %s, bronze has %s", r["rows"], id, want)
		}
	}
	for n := range batches {
		if !seen[fmt.Sprint(n)] {
			l.t.Errorf("of %d batches the facts lack number %d", batches, n)
		}
	}
	for id := range perBatch {
		if !seen[id] {
			l.t.Errorf("bronze has rows of batch %s, the facts do not know it", id)
		}
	}
}

// batchesAreDone holds that no batch is half done: each has its commit mark.
func (l *life) batchesAreDone() {
	l.t.Helper()
	newest := func(log string) string {
		entries, err := os.ReadDir(filepath.Join(l.dir, "lake", "_pipectl", "shop", "streams", "bronze.orders", log))
		if errors.Is(err, fs.ErrNotExist) {
			return "" // the first batch was not begun
		}
		if err != nil {
			l.t.Fatal(err)
		}
		return entries[len(entries)-1].Name()
	}
	if offset, commit := newest("offsets"), newest("commits"); offset != commit {
		l.t.Errorf("batch %s was begun, and %s is the newest that is done", offset, commit)
	}
}

// litter lists what crashes left behind: files of tables that no commit ever
// named, temporary files, and whatever is in the folder for temporary files.
// Deletion vectors are not looked at: a log names them in its own encoding.
func (l *life) litter() []string {
	l.t.Helper()
	var commits strings.Builder
	var files []string
	for _, root := range []string{filepath.Join(l.dir, "lake"), l.temp} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || path == root {
				return err
			}
			switch {
			case root == l.temp, strings.HasPrefix(entry.Name(), "."):
				files = append(files, path)
			case entry.IsDir(), strings.Contains(path, "/_pipectl/"), strings.HasSuffix(path, ".bin"):
			case strings.Contains(path, "/_delta_log/"):
				if strings.HasSuffix(path, ".json") {
					text, err := os.ReadFile(path)
					commits.Write(text)
					return err
				}
			default:
				files = append(files, path)
			}
			return nil
		})
		if err != nil {
			l.t.Fatal(err)
		}
	}
	return slices.DeleteFunc(files, func(path string) bool { return strings.Contains(commits.String(), filepath.Base(path)) })
}
