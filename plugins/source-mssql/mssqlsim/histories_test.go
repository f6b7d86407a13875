package mssqlsim

import (
	"bytes"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/history"
)

// life is a recorded history as a test reads it, apart from the player.
type life struct {
	events []history.Event
	// read are the change rows that somebody else read of the same history, by the step in which he did.
	read map[string][]map[string]any
}

// ndjson reads a file of objects.
func ndjson[T any](t *testing.T, parts ...string) (out []T) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{"history", "testdata"}, parts...)...))
	must(t, err)
	for line := range bytes.Lines(data) {
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		var x T
		must(t, d.Decode(&x))
		out = append(out, x)
	}
	return out
}

func openLife(t *testing.T, name string) life {
	t.Helper()
	l := life{events: ndjson[history.Event](t, name+".ndjson"), read: map[string][]map[string]any{}}
	for _, row := range ndjson[map[string]any](t, "changes", name+".ndjson") {
		step := row["step"].(string)
		l.read[step] = append(l.read[step], row)
	}
	return l
}

// same compares a value of a history, or with micros one as it was read to microseconds, with what the driver gives.
func same(want, got any, typ string, micros bool) bool {
	switch w := want.(type) {
	case nil:
		return got == nil
	case bool:
		return got == w
	case json.Number:
		switch g := got.(type) {
		case int64:
			return fmt.Sprint(g) == w.String()
		case float64:
			f, err := w.Float64()
			if typ == "real" {
				return err == nil && float32(f) == float32(g)
			}
			return err == nil && f == g
		}
	case string:
		switch g := got.(type) {
		case string:
			return g == w
		case time.Time:
			at, err := time.Parse("2006-01-02", w)
			for _, form := range []string{"2006-01-02T15:04:05.9999999", time.RFC3339Nano} {
				if err != nil {
					at, err = time.Parse(form, w)
				}
			}
			if micros {
				g = g.Truncate(time.Microsecond)
			}
			return err == nil && at.Equal(g)
		case []byte:
			switch {
			case strings.HasPrefix(typ, "varbinary"):
				return hex.EncodeToString(g) == w
			case typ == "uniqueidentifier":
				var id mssql.UniqueIdentifier
				return id.Scan(g) == nil && id.String() == w
			}
			a, ok := new(big.Rat).SetString(w)
			b, also := new(big.Rat).SetString(string(g))
			return ok && also && a.Cmp(b) == 0
		}
	}
	return false
}

// table reads all rows of a statement.
func tableOf(t *testing.T, conn *sql.DB, stmt string) (out [][]any) {
	t.Helper()
	rows, err := conn.Query(stmt)
	must(t, err)
	defer func() { _ = rows.Close() }()
	cols, err := rows.Columns()
	must(t, err)
	for rows.Next() {
		vals, ptrs := make([]any, len(cols)), make([]any, len(cols))
		for i := range vals {
			ptrs[i] = &vals[i]
		}
		must(t, rows.Scan(ptrs...))
		out = append(out, vals)
	}
	must(t, rows.Err())
	return out
}

// capturedRows reads a change table: by LSN, seqval, operation and command id, the commit time and the captured columns.
func capturedRows(t *testing.T, conn *sql.DB, in history.Event) map[string][]any {
	t.Helper()
	list := ""
	for _, c := range in.Columns {
		list += ", c.[" + c.Name + "]"
	}
	out := map[string][]any{}
	for _, r := range tableOf(t, conn, "SELECT CONVERT(varchar(22), c.[__$start_lsn], 1), CONVERT(varchar(22), c.[__$seqval], 1), c.[__$operation], c.[__$command_id], CONVERT(datetime2(3), m.tran_end_time)"+list+
		" FROM cdc.["+in.Name+"_CT] AS c JOIN cdc.lsn_time_mapping AS m ON m.start_lsn = c.[__$start_lsn]") {
		key := fmt.Sprint(r[:4]...)
		if _, twice := out[key]; twice {
			t.Errorf("%s: the change %s comes twice", in.Name, key)
		}
		out[key] = r[4:]
	}
	return out
}

func sameChange(t *testing.T, in history.Event, key, at string, want map[string]any, got []any, micros bool) {
	t.Helper()
	if got == nil {
		t.Errorf("%s: the change %s is not there", in.Name, key)
		return
	}
	if !same(at, got[0], "datetime", false) {
		t.Errorf("%s: the change %s has the commit time %v, want %s", in.Name, key, got[0], at)
	}
	for i, c := range in.Columns {
		if !same(want[c.Name], got[i+1], c.SQL, micros) {
			t.Errorf("%s: the change %s has %v in %s, want %v", in.Name, key, got[i+1], c.Name, want[c.Name])
		}
	}
}

// whole compares what a server holds with the events that were played: the change tables with their commit times and
// images, the mapping, the ends of the ranges, the history of DDL.
func (l life) whole(t *testing.T, conn *sql.DB, events []history.Event) {
	t.Helper()
	alive, begun, low := map[string]history.Event{}, map[string]int{}, map[string]string{}
	last := "0x00000000000000000000"
	for i, e := range events {
		switch e.Kind {
		case "instance":
			alive[e.Name], begun[e.Name], low[e.Name] = e, i, e.StartLSN
		case "drop_instance":
			delete(alive, e.Name)
		case "cleanup":
			low[e.Instance] = e.LowLSN
		case "commit", "idle":
			last = e.LSN
		}
	}
	equal(t, query(t, conn, "SELECT CONVERT(varchar(22), sys.fn_cdc_get_max_lsn(), 1)"), []string{last})
	mapping := map[string]any{}
	for _, r := range tableOf(t, conn, "SELECT CONVERT(varchar(22), start_lsn, 1), CONVERT(datetime2(3), tran_end_time) FROM cdc.lsn_time_mapping") {
		mapping[r[0].(string)] = r[1]
	}
	lowest := slices.Min(append(slices.Collect(maps.Values(low)), "0xFF"))
	for _, e := range events {
		if (e.Kind == "commit" || e.Kind == "idle") && e.LSN >= lowest && !same(e.Time, mapping[e.LSN], "datetime", false) {
			t.Errorf("the mapping has %v at %s, want %s", mapping[e.LSN], e.LSN, e.Time)
		}
	}
	for name, in := range alive {
		equal(t, query(t, conn, "SELECT CONVERT(varchar(22), sys.fn_cdc_get_min_lsn('"+name+"'), 1)"), []string{low[name]})
		got, want := capturedRows(t, conn, in), 0
		ordinal := in.Ordinal
		var ddl []string
		for i, e := range events {
			switch {
			case e.Kind == "drop_instance":
				ordinal = 0 // those that remain number anew
			case e.Kind == "ddl" && e.Table == in.Table && i > begun[name]:
				ddl = append(ddl, e.Command+" "+e.LSN)
			case e.Kind == "commit" && e.LSN >= low[name]:
				want += l.commit(t, in, e, ordinal, got)
			}
		}
		if len(got) != want {
			t.Errorf("%s has %d change rows, want %d", name, len(got), want)
		}
		var history []string
		for _, r := range tableOf(t, conn, "DECLARE @h TABLE (source_schema sysname, source_table sysname, capture_instance sysname, required_column_update bit, ddl_command nvarchar(max), ddl_lsn binary(10), ddl_time datetime);"+
			" INSERT INTO @h EXEC sys.sp_cdc_get_ddl_history '"+name+"'; SELECT ddl_command, CONVERT(varchar(22), ddl_lsn, 1) FROM @h ORDER BY ddl_lsn") {
			history = append(history, fmt.Sprintf("%s %s", r...))
		}
		equal(t, history, ddl)
	}
}

// commit compares the change rows of one commit; it tells how many there must be.
func (l life) commit(t *testing.T, in, e history.Event, ordinal int, got map[string][]any) (n int) {
	t.Helper()
	lsn, err := ParseLSN(e.LSN)
	must(t, err)
	for _, o := range e.Ops {
		if o.Table != in.Table {
			continue
		}
		changed := o.Op != "update"
		for _, c := range in.Columns {
			changed = changed || fmt.Sprint(o.Before[c.Name]) != fmt.Sprint(o.After[c.Name])
		}
		if !changed {
			continue
		}
		for _, side := range map[string][]struct {
			operation int
			row       map[string]any
		}{"insert": {{2, o.After}}, "delete": {{1, o.Before}}, "update": {{3, o.Before}, {4, o.After}}}[o.Op] {
			key := fmt.Sprint(e.LSN, lsn.Add(int64(o.N)).String(), int64(side.operation), int64(o.N+ordinal))
			sameChange(t, in, key, e.Time, side.row, got[key], false)
			n++
		}
	}
	return n
}

// asRead compares the rows that somebody else read in a step with those of the server.
func (l life) asRead(t *testing.T, conn *sql.DB, events []history.Event, step string) (n int) {
	t.Helper()
	tables := map[string]map[string][]any{}
	instances := map[string]history.Event{}
	for _, e := range events {
		if e.Kind == "instance" {
			instances[e.Name] = e
		}
	}
	for _, row := range l.read[step] {
		name := row["_capture_instance"].(string)
		if tables[name] == nil {
			tables[name] = capturedRows(t, conn, instances[name])
		}
		operation, _ := row["_operation"].(json.Number).Int64()
		command, _ := row["_command_id"].(json.Number).Int64()
		key := fmt.Sprint(row["_start_lsn"], row["_seqval"], operation, command)
		sameChange(t, instances[name], key, row["_commit_ts"].(string), row, tables[name][key], true)
		n++
	}
	return n
}

// source compares the tables with the rows that they must hold in the end.
func (l life) source(t *testing.T, conn *sql.DB, name string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("history", "testdata", "source", name+".*.ndjson"))
	must(t, err)
	if len(files) == 0 {
		t.Fatal("no rows to compare with")
	}
	for _, f := range files {
		table := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(f), name+"."), ".ndjson")
		var in history.Event
		for _, e := range l.events {
			if e.Kind == "instance" && e.Table == "dbo."+table {
				in = e // the last one has the most columns
			}
		}
		list := ""
		for _, c := range in.Columns {
			list += ", [" + c.Name + "]"
		}
		rows := tableOf(t, conn, "SELECT "+list[2:]+" FROM dbo.["+table+"]")
		want := ndjson[map[string]any](t, "source", filepath.Base(f))
		if len(rows) != len(want) {
			t.Errorf("%s holds %d rows, want %d", table, len(rows), len(want))
		}
	next:
		for _, w := range want {
			for _, r := range rows {
				equalRow := true
				for i, c := range in.Columns {
					equalRow = equalRow && same(w[c.Name], r[i], c.SQL, false)
				}
				if equalRow {
					continue next
				}
			}
			t.Errorf("%s does not hold %v", table, w)
		}
	}
}

// The program plays every recorded history to its end, or to one step after the other, and what clients then read is
// what was recorded: LSNs, commit times, images, commits inside a read, DDL, cleanup; and what somebody else read.
func TestMainPlaysEveryHistory(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct{ steps, read int }{
		"full": {25, 106}, "chunked": {31, 30}, "switch": {10, 17}, "switch-chunked": {15, 22}, "loss": {22, 15}, "days": {37, 20},
	} {
		file := filepath.Join("history", "testdata", name+".ndjson")
		t.Run(name+" at once", func(t *testing.T) {
			t.Parallel()
			l := openLife(t, name)
			next, end := startProgram(t, nil, "-password", "pw1", "-history", file)
			conn := open(t, dsn(t, next()))
			l.whole(t, conn, l.events)
			l.source(t, conn, name)
			if c := end(); c != 0 {
				t.Errorf("exit code %d", c)
			}
		})
		t.Run(name+" step by step", func(t *testing.T) {
			t.Parallel()
			l := openLife(t, name)
			in, input := io.Pipe()
			next, end := startProgram(t, in, "-password", "pw1", "-history", file, "-stepwise")
			conn := open(t, dsn(t, next()))
			steps, read := 0, 0
			for i, e := range l.events {
				if e.Kind != "step" {
					continue
				}
				steps++
				if got, want := next(), fmt.Sprintf("step %s %s %s", e.Name, e.Action, e.Args); got != want {
					t.Fatalf("%q, want %q", got, want)
				}
				l.whole(t, conn, l.events[:i])
				read += l.asRead(t, conn, l.events[:i], e.Name)
				for k := i + 1; k < len(l.events) && l.events[k].Kind == "read"; { // its commits happen now
					tableOf(t, conn, "SELECT * FROM "+l.events[k].Table)
					k += 1 + l.events[k].Commits
					l.whole(t, conn, l.events[:k])
				}
				_, err := input.Write([]byte("\n"))
				must(t, err)
			}
			if last := next(); last != "end" {
				t.Errorf("%q", last)
			}
			l.whole(t, conn, l.events)
			l.source(t, conn, name)
			if steps != want.steps || read != want.read {
				t.Errorf("%d steps and %d change rows that were read, want %+v", steps, read, want)
			}
			_ = input.Close()
			if c := end(); c != 0 {
				t.Errorf("exit code %d", c)
			}
		})
	}
}
