package reconcile_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/plugin"
	fake "github.com/pipectl/pipectl/core/plugin/memory"
)

// golden is what mssql-cdc-pyspark 0.8.0 found when it reconciled a table of
// 18 columns seven times: clean, with rows of silver damaged, and with changes
// in flight. Rows are lists of values; changes and bronze begin with position
// and operation, silver's rows end with _start_lsn.
type golden struct {
	Columns        [][2]string
	Source, Silver [][]any
	Steps          []goldenStep
}

type goldenStep struct {
	Name            string
	Newest          string
	Changes, Bronze [][]any
	SilverRemoved   []json.Number `json:"silver_removed"`
	SilverAdded     [][]any       `json:"silver_added"`
	BucketRows      int           `json:"bucket_rows"`
	Sample          float64
	Result          struct {
		SilverLSN string `json:"silver_lsn"`
		SourceLSN string `json:"source_lsn"`
		Buckets   int64
		Match     int64
		InFlight  int64 `json:"in_flight"`
		Mismatch  int64
		Hashed    int64
		Failures  map[string]int64
	}
	Report [][]any
}

var sparkTypes = map[string]arrow.DataType{
	"INT": arrow.PrimitiveTypes.Int32, "SMALLINT": arrow.PrimitiveTypes.Int16, "BIGINT": arrow.PrimitiveTypes.Int64,
	"BOOLEAN": arrow.FixedWidthTypes.Boolean, "DECIMAL(18,4)": &arrow.Decimal128Type{Precision: 18, Scale: 4},
	"DECIMAL(38,10)": &arrow.Decimal128Type{Precision: 38, Scale: 10}, "DOUBLE": arrow.PrimitiveTypes.Float64,
	"FLOAT": arrow.PrimitiveTypes.Float32, "DATE": arrow.PrimitiveTypes.Date32, "TIMESTAMP_NTZ": ntz,
	"TIMESTAMP": &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, "STRING": words, "BINARY": arrow.BinaryTypes.Binary,
}

func readGolden(t *testing.T) (golden, []arrow.Field) {
	t.Helper()
	f, err := os.Open("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := json.NewDecoder(f)
	d.UseNumber()
	var g golden
	if err := d.Decode(&g); err != nil {
		t.Fatal(err)
	}
	var fields []arrow.Field
	for _, c := range g.Columns {
		if sparkTypes[c[1]] == nil {
			t.Fatalf("no type %s", c[1])
		}
		fields = append(fields, column(c[0], sparkTypes[c[1]]))
	}
	return g, fields
}

// value reads a value of a dump.
func value(t *testing.T, typ arrow.DataType, v any) any {
	t.Helper()
	var err error
	switch x := v.(type) {
	case json.Number:
		if arrow.IsFloating(typ.ID()) {
			v, err = x.Float64()
		} else {
			v, err = x.Int64()
		}
	case string:
		switch typ.ID() {
		case arrow.DATE32:
			v, err = time.Parse(time.DateOnly, x)
		case arrow.TIMESTAMP:
			v, err = time.Parse("2006-01-02T15:04:05.000000", strings.TrimSuffix(x, "Z"))
		case arrow.BINARY:
			v, err = hex.DecodeString(x)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func rowOf(t *testing.T, fields []arrow.Field, values []any) fake.Row {
	t.Helper()
	out := fake.Row{}
	for i, f := range fields {
		out[f.Name] = value(t, f.Type, values[i])
	}
	return out
}

func TestResultsAndReportsEqualTheReference(t *testing.T) {
	t.Parallel()
	g, fields := readGolden(t)
	w := newWorld([]string{"order_id"}, fields...)
	src := &scripted{fields: fields, key: w.key}
	w.source = src
	for _, r := range g.Source {
		src.rows = append(src.rows, rowOf(t, fields, r))
	}
	var silver []fake.Row
	add := func(values []any) {
		r := rowOf(t, fields, values)
		r["_start_lsn"] = values[len(fields)]
		silver = append(silver, r)
	}
	for _, r := range g.Silver {
		add(r)
	}
	w.put(t, bronzeName, w.bronzeSchema(), plugin.WriteAppend, nil)
	without := func(list []fake.Row, key any) []fake.Row {
		return slices.DeleteFunc(list, func(r fake.Row) bool { return r["order_id"] == key })
	}
	reported := 0
	for _, step := range g.Steps {
		for _, c := range step.Changes {
			row := rowOf(t, fields, c[2:])
			op, _ := c[1].(json.Number).Int64()
			src.log = append(src.log, logged{lsn: c[0].(string), op: int32(op), row: row})
			src.rows = without(src.rows, row["order_id"])
			if op == 2 || op == 4 {
				src.rows = append(src.rows, row)
			}
		}
		src.newest = step.Newest
		var bronze []fake.Row
		for _, b := range step.Bronze {
			row := rowOf(t, fields, b[2:])
			op, _ := b[1].(json.Number).Int64()
			row["_start_lsn"], row["_operation"] = b[0], op
			bronze = append(bronze, row)
		}
		w.put(t, bronzeName, w.bronzeSchema(), plugin.WriteAppend, bronze)
		for _, key := range step.SilverRemoved {
			n, _ := key.Int64()
			silver = without(silver, n)
		}
		for _, r := range step.SilverAdded {
			add(r)
		}
		w.put(t, silverName, w.silverSchema(), plugin.WriteOverwrite, silver)
		w.ledger.Views[silverName] = plugin.LedgerView{Position: plugin.TargetPosition{Applied: step.Result.SilverLSN}}

		t.Run(step.Name, func(t *testing.T) {
			got := w.check(t, settings{"bucket_rows": step.BucketRows, "sample": step.Sample, "report": reportName})
			want := step.Result
			state := plugin.Equal
			switch {
			case want.Mismatch > 0 || len(want.Failures) > 1 || len(want.Failures) == 1 && want.Failures["IN_FLIGHT"] == 0:
				state = plugin.Different
			case want.InFlight > 0 || want.Failures["IN_FLIGHT"] > 0:
				state = plugin.Undecided
			}
			expect(t, got, plugin.CheckResult{Outcome: state, Buckets: want.Buckets, Match: want.Match, InFlight: want.InFlight, Mismatch: want.Mismatch, Hashed: want.Hashed, Failures: want.Failures})
			if got.SilverApplied != want.SilverLSN || got.SourceEnd != want.SourceLSN {
				t.Errorf("positions %s and %s, want %s and %s", got.SilverApplied, got.SourceEnd, want.SilverLSN, want.SourceLSN)
			}
			all := w.lake.Rows(reportName)
			compareReport(t, all[reported:], step.Report)
			reported = len(all)
		})
	}
}

// compareReport compares rows as sets, apart from run, time and version.
func compareReport(t *testing.T, got []map[string]any, want [][]any) {
	t.Helper()
	names := []string{"silver_lsn", "source_lsn", "bucket_lo", "bucket_hi", "source_rows", "source_key_sum", "silver_rows", "silver_key_sum", "status", "hashed", "key", "failure_type", "detail"}
	var a, b []string
	for _, row := range got {
		var values []any
		for _, name := range names {
			values = append(values, row[name])
		}
		a = append(a, fmt.Sprint(values...))
	}
	for _, row := range want {
		b = append(b, fmt.Sprint(row...))
	}
	slices.Sort(a)
	slices.Sort(b)
	if !slices.Equal(a, b) {
		t.Errorf("report\n%s\nwant\n%s", strings.Join(a, "\n"), strings.Join(b, "\n"))
	}
}
