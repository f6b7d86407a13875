//go:build unix

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltatable"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// tableFolder is where a table of the script's lake lies.
func tableFolder(ts *testscript.TestScript, name string) string {
	return ts.MkAbs(filepath.Join("lake", filepath.FromSlash(strings.ReplaceAll(name, ".", "/"))))
}

func openTable(ts *testscript.TestScript, name string) (*deltatable.Table, *deltatable.Snapshot) {
	folder := tableFolder(ts, name)
	st, err := store.NewLocal(filepath.Dir(folder))
	ts.Check(err)
	table, err := deltatable.Open(context.Background(), st, filepath.Base(folder), deltatable.Options{})
	ts.Check(err)
	snapshot, err := table.Snapshot(context.Background())
	ts.Check(err)
	return table, snapshot
}

// scan hands over all batches of a version of a table.
func scan(s *deltatable.Snapshot, each func(arrow.RecordBatch) error) error {
	rows, err := s.Scan(context.Background(), deltatable.ScanSpec{})
	if err != nil {
		return err
	}
	defer rows.Close()
	for {
		batch, err := rows.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		err = each(batch)
		batch.Release()
		if err != nil {
			return err
		}
	}
}

// compare holds the rows of a lake table against those of the source, column
// by column of the source: compare silver.orders dbo.orders.
func compare(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: compare TABLE SOURCE")
	}
	db := scriptOf(ts).sim.db
	columns, err := db.Model().Columns(args[1])
	ts.Check(err)
	var want, got []string
	ts.Check(db.Rows(args[1], func(row []any) bool {
		var cells []string
		for i, v := range row {
			cells = append(cells, columns[i].Name+"="+sourceText(v))
		}
		want = append(want, strings.Join(cells, " "))
		return true
	}))
	_, snapshot := openTable(ts, args[0])
	ts.Check(scan(snapshot, func(b arrow.RecordBatch) error {
		for row := range int(b.NumRows()) {
			var cells []string
			for _, c := range columns {
				at := b.Schema().FieldIndices(c.Name)
				if len(at) != 1 {
					return fmt.Errorf("%s has no column %s", args[0], c.Name)
				}
				text, err := lakeText(b.Column(at[0]), row)
				if err != nil {
					return err
				}
				cells = append(cells, c.Name+"="+text)
			}
			got = append(got, strings.Join(cells, " "))
		}
		return nil
	}))
	slices.Sort(want)
	slices.Sort(got)
	switch same := slices.Equal(want, got); {
	case same && neg:
		ts.Fatalf("%s equals %s", args[0], args[1])
	case !same && !neg:
		ts.Fatalf("%s differs from %s:\nsource:\n%s\nlake:\n%s", args[0], args[1], strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
}

const timeText = "2006-01-02T15:04:05.000000"

// sourceText is a value of the simulator as text; see mssqlsim.GoValue.
func sourceText(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case time.Time:
		return v.UTC().Format(timeText)
	case string:
		return fmt.Sprintf("%q", v)
	}
	return fmt.Sprint(v)
}

// lakeText is the same of a value of a Delta table.
func lakeText(a arrow.Array, row int) (string, error) {
	if a.IsNull(row) {
		return "NULL", nil
	}
	switch a := a.(type) {
	case *array.Int64:
		return fmt.Sprint(a.Value(row)), nil
	case *array.Int32:
		return fmt.Sprint(a.Value(row)), nil
	case *array.Int16:
		return fmt.Sprint(a.Value(row)), nil
	case *array.Boolean:
		return fmt.Sprint(a.Value(row)), nil
	case *array.String:
		return fmt.Sprintf("%q", a.Value(row)), nil
	case *array.Decimal128:
		return fmt.Sprintf("%q", a.Value(row).ToString(a.DataType().(*arrow.Decimal128Type).Scale)), nil
	case *array.Date32:
		return a.Value(row).ToTime().Format(timeText), nil
	case *array.Timestamp:
		return time.UnixMicro(int64(a.Value(row))).UTC().Format(timeText), nil
	}
	return "", fmt.Errorf("the fixtures have no column of type %s", a.DataType())
}

// damage changes one text value of one row, as another writer of the table
// could: damage TABLE KEY=VALUE COLUMN TEXT.
func damage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: damage TABLE KEY=VALUE COLUMN TEXT")
	}
	key, value, _ := strings.Cut(args[1], "=")
	ctx := context.Background()
	table, snapshot := openTable(ts, args[0])
	write, err := table.Begin(ctx, deltatable.WriteSpec{Mode: deltatable.Overwrite, Schema: snapshot.Schema()})
	ts.Check(err)
	part, err := write.Part(ctx)
	ts.Check(err)
	changed := 0
	ts.Check(scan(snapshot, func(b arrow.RecordBatch) error {
		keyAt, at := b.Schema().FieldIndices(key)[0], b.Schema().FieldIndices(args[2])[0]
		builder := array.NewStringBuilder(memory.DefaultAllocator)
		defer builder.Release()
		old := b.Column(at).(*array.String)
		for row := range int(b.NumRows()) {
			text, err := lakeText(b.Column(keyAt), row)
			switch {
			case err != nil:
				return err
			case text == value:
				builder.Append(args[3])
				changed++
			case old.IsNull(row):
				builder.AppendNull()
			default:
				builder.Append(old.Value(row))
			}
		}
		fresh := builder.NewArray()
		defer fresh.Release()
		cells := slices.Clone(b.Columns())
		cells[at] = fresh
		batch := array.NewRecordBatch(b.Schema(), cells, b.NumRows())
		defer batch.Release()
		return part.Write(batch)
	}))
	if changed != 1 {
		ts.Fatalf("%d rows of %s have %s", changed, args[0], args[1])
	}
	done, err := part.Close()
	ts.Check(err)
	_, err = write.Commit(ctx, []string{done.Token}, "")
	ts.Check(err)
}

// copyFolder copies a folder with all that is in it: copy FROM TO.
func copyFolder(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: copy FROM TO")
	}
	ts.Check(os.CopyFS(ts.MkAbs(args[1]), os.DirFS(ts.MkAbs(args[0]))))
}

// empty takes every row out of a table, as another program can: empty TABLE.
func empty(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: empty TABLE")
	}
	ctx := context.Background()
	table, snapshot := openTable(ts, args[0])
	write, err := table.Begin(ctx, deltatable.WriteSpec{Mode: deltatable.Overwrite, Schema: snapshot.Schema()})
	ts.Check(err)
	_, err = write.Commit(ctx, nil, "")
	ts.Check(err)
}

// feature raises the protocol of a table by a commit of its own: feature TABLE
// NAME, or feature TABLE NAME reader when readers must know it, too. A later
// feature TABLE off takes the commit away (Delta protocol: Table Features).
func feature(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: feature TABLE NAME [reader]")
	}
	if args[1] == "off" {
		logs := logsOf(ts, args[0])
		ts.Check(os.Remove(logs[len(logs)-1]))
		return
	}
	raise(ts, args[0], func(protocol map[string]any) {
		features, _ := protocol["writerFeatures"].([]any)
		protocol["writerFeatures"], protocol["minWriterVersion"] = append(features, args[1]), 7
		if len(args) == 3 {
			features, _ := protocol["readerFeatures"].([]any)
			protocol["readerFeatures"], protocol["minReaderVersion"] = append(features, args[1]), 3
		}
	})
}

// protocol raises the versions of a table's protocol by a commit of its own:
// protocol TABLE READER WRITER.
func protocol(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: protocol TABLE READER WRITER")
	}
	reader, err := strconv.Atoi(args[1])
	ts.Check(err)
	writer, err := strconv.Atoi(args[2])
	ts.Check(err)
	raise(ts, args[0], func(protocol map[string]any) {
		protocol["minReaderVersion"], protocol["minWriterVersion"] = reader, writer
	})
}

// logsOf are the commits of a table, oldest first.
func logsOf(ts *testscript.TestScript, table string) []string {
	logs, err := filepath.Glob(filepath.Join(tableFolder(ts, table), "_delta_log", "*.json"))
	ts.Check(err)
	slices.Sort(logs)
	return logs
}

// raise commits a changed protocol.
func raise(ts *testscript.TestScript, table string, change func(map[string]any)) {
	logs := logsOf(ts, table)
	var protocol map[string]any
	for _, log := range logs {
		text, err := os.ReadFile(log)
		ts.Check(err)
		for line := range strings.Lines(string(text)) {
			var action map[string]map[string]any
			if json.Unmarshal([]byte(line), &action) == nil && action["protocol"] != nil {
				protocol = action["protocol"]
			}
		}
	}
	change(protocol)
	line, err := json.Marshal(map[string]any{"protocol": protocol})
	ts.Check(err)
	name := fmt.Sprintf("%020d.json", len(logs))
	ts.Check(os.WriteFile(filepath.Join(tableFolder(ts, table), "_delta_log", name), append(line, '\n'), 0o644))
}
