package ledger

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	arrowmemory "github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/plugin/rows"
)

// lake is a lake with a ledger whose clock and pauses are ours.
type lake struct {
	*memory.Lake
	*Ledger
	faults *memory.Faults

	mu       sync.Mutex
	now      time.Time
	pauses   []time.Duration
	warnings []diag.Diagnostic
}

func newBareLake() *lake {
	l := &lake{Lake: memory.NewLake(), faults: &memory.Faults{}, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	l.reopen()
	return l
}

// newLake is a lake whose ledger apply has made.
func newLake() *lake {
	l := newBareLake()
	if err := l.Ensure(context.Background()); err != nil {
		panic(err)
	}
	l.reopen()
	return l
}

// reopen starts the ledger of another run.
func (l *lake) reopen() {
	l.Ledger = New(l.faults.Tables(l.Lake.Open()), Options{
		Facts: "ops.facts", Control: "ops.control", Random: func() float64 { return 1 },
		Warn:  func(d diag.Diagnostic) { l.warnings = append(l.warnings, d) },
		Clock: func() time.Time { l.mu.Lock(); defer l.mu.Unlock(); return l.now },
		Sleep: func(_ context.Context, d time.Duration) error {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.pauses = append(l.pauses, d)
			l.now = l.now.Add(d)
			return nil
		},
	})
}

// put creates a table and fills it with rows in JSON, one object a line.
func (l *lake) put(t testing.TB, name string, schema *arrow.Schema, properties map[string]string, lines ...string) {
	t.Helper()
	ctx, tables, ref := context.Background(), l.Lake.Open(), plugin.TableRef{Name: name}
	if _, err := tables.ApplyTable(ctx, plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: ref, Schema: schema, Properties: properties}}); err != nil {
		t.Fatal(err)
	}
	if len(lines) == 0 {
		return
	}
	text := "[" + strings.Join(lines, ",") + "]"
	record, _, err := array.RecordFromJSON(arrowmemory.DefaultAllocator, schema, bytes.NewReader([]byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	begun, err := tables.BeginWrite(ctx, plugin.BeginWriteRequest{Table: ref, Mode: plugin.WriteAppend, Schema: schema, BaseVersion: -1})
	if err != nil {
		t.Fatal(err)
	}
	part, err := tables.WritePart(ctx, plugin.WritePartRequest{WriteID: begun.WriteID}, rows.FromBatches(schema, record))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tables.Commit(ctx, plugin.CommitRequest{WriteID: begun.WriteID, Tokens: []string{part.Token}}); err != nil {
		t.Fatal(err)
	}
}

var plansSchema = arrow.NewSchema([]arrow.Field{
	{Name: "snapshot", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "event", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "detail", Type: arrow.BinaryTypes.String, Nullable: true},
}, nil)

func linesOf(t testing.TB, file string) []string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

func withVersion(n string) map[string]string { return map[string]string{PropertySchemaVersion: n} }

// without returns the schema's fields but some.
func without(s *arrow.Schema, names ...string) *arrow.Schema {
	var fields []arrow.Field
	for _, f := range s.Fields() {
		if !slices.Contains(names, f.Name) {
			f.Metadata = arrow.Metadata{}
			fields = append(fields, f)
		}
	}
	return arrow.NewSchema(fields, nil)
}

func (l *lake) state(t testing.TB, name string) plugin.TableState {
	t.Helper()
	states, err := l.Lake.Open().GetTables(context.Background(), plugin.GetTablesRequest{Tables: []plugin.TableRef{{Name: name}}})
	if err != nil {
		t.Fatal(err)
	}
	return states[0]
}
