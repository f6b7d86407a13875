package e2e

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	arrowmemory "github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/plugin/rows"
	"github.com/pipectl/pipectl/core/stream"
	"github.com/pipectl/pipectl/plugins/silver/silver"
	"github.com/pipectl/pipectl/plugins/sink-delta/delta"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

var (
	raceBronze = plugin.TableRef{Name: "bronze.orders"}
	raceSilver = plugin.TableRef{Name: "silver.orders"}
	raceRows   = arrow.NewSchema([]arrow.Field{
		{Name: plugin.ColumnCaptureInstance, Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: plugin.ColumnStartLSN, Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: plugin.ColumnSeqval, Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: plugin.ColumnOperation, Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: plugin.ColumnCommandID, Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: plugin.ColumnCommitTS, Type: &arrow.TimestampType{Unit: arrow.Microsecond}, Nullable: true},
		{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	}, nil)
)

// race is a lake of Delta tables that two runs of silver work on, each with a
// session, a plugin and a ledger of its own, as two processes have them. What
// they do to each other needs no disk.
type race struct {
	t    *testing.T
	lake *store.Memory
	lsn  int
	want map[int64]bool
}

func (r *race) open() plugin.Tables {
	p := delta.NewOver("test", store.Schemes{"memory": func(context.Context, *url.URL) (store.Store, error) { return r.lake, nil }})
	description, err := p.Describe(context.Background())
	if err != nil {
		r.t.Fatal(err)
	}
	body := description.Components[0].Connection.EmptyValue().AsValueMap()
	body["root"] = cty.StringVal("memory:///lake")
	tables, err := p.OpenTables(context.Background(), plugin.OpenRequest{Component: "delta", Config: cty.ObjectVal(body)})
	if err != nil {
		r.t.Fatal(err)
	}
	return tables
}

func books(tables plugin.Tables) *ledger.Ledger {
	return ledger.New(tables, ledger.Options{Facts: "ops.facts", Control: "ops.control"})
}

func newRace(t *testing.T) *race {
	r := &race{t: t, lake: store.NewMemory(nil), want: map[int64]bool{}}
	tables := r.open()
	defer tables.Close()
	if err := books(tables).Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	spec, err := stream.BronzeSpec(raceBronze, raceRows)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tables.ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: spec}); err != nil {
		t.Fatal(err)
	}
	r.change(plugin.OpInsert, 1)
	if err := r.apply(&memory.Faults{}); err != nil {
		t.Fatal(err)
	}
	return r
}

// again is the same lake once more, which goes a way of its own.
func (r *race) again() *race {
	return &race{t: r.t, lake: r.lake.Clone(), lsn: r.lsn, want: maps.Clone(r.want)}
}

// change is one commit of the source, in bronze.
func (r *race) change(op int32, id int64) {
	r.lsn++
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, raceRows)
	defer b.Release()
	b.Field(0).(*array.StringBuilder).Append("dbo_orders")
	b.Field(1).(*array.StringBuilder).Append(r.position())
	b.Field(2).(*array.StringBuilder).Append(r.position())
	b.Field(3).(*array.Int32Builder).Append(op)
	b.Field(4).(*array.Int32Builder).Append(1)
	b.Field(5).(*array.TimestampBuilder).Append(arrow.Timestamp(r.lsn))
	b.Field(6).(*array.Int64Builder).Append(id)
	batch := b.NewRecordBatch()
	defer batch.Release()
	if r.want[id] = true; op == plugin.OpDelete {
		delete(r.want, id)
	}
	tables := r.open()
	defer tables.Close()
	begun, err := tables.BeginWrite(r.t.Context(), plugin.BeginWriteRequest{Table: raceBronze, Mode: plugin.WriteAppend, Schema: raceRows, BaseVersion: -1})
	if err != nil {
		r.t.Fatal(err)
	}
	part, err := tables.WritePart(r.t.Context(), plugin.WritePartRequest{WriteID: begun.WriteID}, rows.FromBatches(raceRows, batch))
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := tables.Commit(r.t.Context(), plugin.CommitRequest{WriteID: begun.WriteID, Tokens: []string{part.Token}}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *race) position() string { return fmt.Sprintf("0x%020X", r.lsn) }

// apply is one run of silver that faults may stop or kill.
func (r *race) apply(faults *memory.Faults) error {
	session, err := silver.New("test").OpenSilver(r.t.Context(), plugin.OpenRequest{Component: "current"})
	if err != nil {
		return err
	}
	defer session.Close()
	tables := faults.Tables(r.open())
	defer tables.Close()
	view := books(tables).View(ledger.ViewOptions{Bronze: raceBronze, Targets: []plugin.TableRef{raceSilver}, Granularity: ledger.Hour})
	_, err = session.RunSilver(r.t.Context(), plugin.SilverRequest{
		Address: "silver.orders", Input: raceBronze, Target: raceSilver, Key: []string{"id"}, Instances: []string{"dbo_orders"}, InputSchema: raceRows,
	}, plugin.Host{Tables: tables, Ledger: view}, nil)
	return err
}

// settle repeats a run that lost, as the host does.
func (r *race) settle(err error) error {
	for try := 0; diag.Is(err, diag.KindConflict) && try < 3; try++ {
		err = r.apply(&memory.Faults{})
	}
	return err
}

func (r *race) silver() map[int64]bool {
	tables := r.open()
	defer tables.Close()
	frames, err := tables.Scan(r.t.Context(), plugin.ScanRequest{Table: raceSilver, Version: -1, Columns: []string{"id"}})
	if err != nil {
		r.t.Fatal(err)
	}
	reader, err := rows.NewReader(frames, arrowmemory.DefaultAllocator)
	if err != nil {
		r.t.Fatal(err)
	}
	got := map[int64]bool{}
	if _, err := reader.ForEach(func(b arrow.RecordBatch) error {
		for _, id := range b.Column(0).(*array.Int64).Int64Values() {
			got[id] = true
		}
		return nil
	}); err != nil {
		r.t.Fatal(err)
	}
	return got
}

// A run of silver is stopped at each of its calls, as a process that lost its
// lock is; meanwhile the source changes and another run applies that, or dies
// between its merge and its position. What the other applied stays.
func TestARunThatWasOvertakenUndoesNothing(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		before, between func(*race)
	}{
		"a row comes": {
			before:  func(r *race) { r.change(plugin.OpInsert, 5) },
			between: func(r *race) { r.change(plugin.OpInsert, 6) },
		},
		"the row that both have goes": {
			before:  func(r *race) { r.change(plugin.OpInsert, 5) },
			between: func(r *race) { r.change(plugin.OpDelete, 5) },
		},
	} {
		for _, dies := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, the other dies %v", name, dies), func(t *testing.T) {
				t.Parallel()
				first := newRace(t)
				tt.before(first)
				for at := 1; ; at++ {
					r, n, reached := first.again(), 0, false
					err := r.apply(&memory.Faults{Hook: func(p memory.Point) error {
						if p.After || strings.HasSuffix(p.Call, ".Recv") {
							return nil
						}
						if n++; n != at {
							return nil
						}
						reached = true
						tt.between(r)
						var other memory.Faults
						if dies { // its second commit is that of the position
							other.KillBefore("Tables.Commit", 2)
						}
						if err := r.apply(&other); err != nil && !other.Dead() {
							t.Errorf("the other run, at call %d: %v", at, err)
						}
						return nil
					}})
					if err := r.settle(err); err != nil {
						t.Fatalf("the run, stopped at call %d: %v", at, err)
					}
					if !reached {
						return
					}
					for _, when := range []string{"at its end", "after one more run"} {
						if got := r.silver(); !maps.Equal(got, r.want) {
							t.Fatalf("stopped at call %d, %s: silver %v, source %v", at, when, got, r.want)
						}
						if err := r.settle(r.apply(&memory.Faults{})); err != nil {
							t.Fatal(err)
						}
					}
					row, err := books(r.open()).ControlRow(t.Context(), raceSilver.Name)
					if err != nil || row.Position.Applied != r.position() || row.Position.Foreign != nil {
						t.Fatalf("stopped at call %d: %+v, %v", at, row, err)
					}
				}
			})
		}
	}
}
