package planner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
)

// foreign makes a table as another program does, with two rows.
func (w *world) foreign(name string, schema *arrow.Schema, properties map[string]string) {
	w.t.Helper()
	_, err := w.plugin.Lake.Open().ApplyTable(w.t.Context(), plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: plugin.TableRef{Name: name}, Schema: schema, Properties: properties}})
	w.must(err)
	w.write(name, schema)
}

// write appends two rows of NULL to a table.
func (w *world) write(name string, schema *arrow.Schema, txns ...plugin.Txn) {
	w.t.Helper()
	ctx, tables, ref := w.t.Context(), w.plugin.Lake.Open(), plugin.TableRef{Name: name}
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for _, f := range b.Fields() {
		f.AppendNulls(2)
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	begun, err := tables.BeginWrite(ctx, plugin.BeginWriteRequest{Table: ref, Mode: plugin.WriteAppend, Schema: schema, Txns: txns, BaseVersion: -1})
	w.must(err)
	part, err := tables.WritePart(ctx, plugin.WritePartRequest{WriteID: begun.WriteID}, rows.FromBatches(schema, batch))
	w.must(err)
	_, err = tables.Commit(ctx, plugin.CommitRequest{WriteID: begun.WriteID, Tokens: []string{part.Token}})
	w.must(err)
}

// Rows that pipectl did not write are not taken over unasked, wherever a table of
// another program stands. What is told is what becomes of them.
func TestRowsOfAnotherProgramAreNotTakenUnasked(t *testing.T) {
	t.Parallel()
	id := arrow.Field{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true}
	plain := arrow.NewSchema([]arrow.Field{id}, nil)
	changes := arrow.NewSchema([]arrow.Field{id,
		{Name: plugin.ColumnStartLSN, Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: plugin.ColumnSeqval, Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: plugin.ColumnOperation, Type: arrow.PrimitiveTypes.Int32, Nullable: true}}, nil)
	layout := map[string]string{ledger.PropertySchemaVersion: "0"}
	for name, c := range map[string]struct {
		table      string
		schema     *arrow.Schema
		properties map[string]string
		at         addr.Address
		refusal    string // in the detail of the error; "" when it is taken unasked
		asked      string // what a take-over that is asked for says; "" when it is refused
	}{
		"bronze":                  {"bronze.orders", plain, nil, theStream, "Give the stream another target.", ""},
		"a change log":            {"bronze.orders", changes, nil, theStream, "beside the rows that it holds, run: pipectl apply -take-over stream.orders shop.hcl", "; its 2 rows stay"},
		"bronze of the layout":    {"bronze.orders", changes, layout, theStream, "", "; its 2 rows stay"},
		"silver":                  {"silver.orders", plain, nil, theSilver, "replaced by those of bronze.orders, run: pipectl apply -take-over silver.orders shop.hcl", "; its 2 rows are replaced by those of bronze.orders"},
		"silver without position": {"silver.orders", plain, layout, theSilver, "Give the silver another target. If its rows may be lost", "; its 2 rows are replaced by those of bronze.orders"},
		"silver of this bronze":   {"silver.orders", plain, map[string]string{"pipectl.from": "bronze.orders"}, theSilver, "", "; a run made it and did not end; its 2 rows are replaced by those of bronze.orders"},
		"silver of this bronze, which has no snapshot": {"silver.orders", plain, map[string]string{"pipectl.from": "bronze.orders"}, theSilver,
			"replaced by those of bronze.orders, run: pipectl apply -take-over silver.orders shop.hcl", "; its 2 rows are replaced by those of bronze.orders"},
		"silver of another":    {"silver.orders", plain, map[string]string{"pipectl.from": "bronze.others"}, theSilver, "Give the silver another target.", "; its 2 rows are replaced by those of bronze.orders"},
		"report":               {"ops.report", columns("run_id", "finding"), nil, theCheck, "Give the check a table of its own.", "; its 2 rows stay"},
		"report of the layout": {"ops.report", columns("run_id", "finding"), layout, theCheck, "", "; its 2 rows stay"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.cfg.Path, w.check = "shop.hcl", reporter{table: "ops.report"}
			if strings.Contains(name, "no snapshot") {
				w.cfg.Streams[0].Bootstrap = model.BootstrapNone
			}
			w.foreign(c.table, c.schema, c.properties)
			says := func(p *plan.Plan) string {
				list := tablesNamed(p, c.table)
				if err := p.Errors().Err(); err != nil || len(list) != 1 {
					t.Fatalf("%v, %d tables", err, len(list))
				}
				want := plan.ClassInPlace
				if strings.Contains(c.asked, "replaced") {
					want = plan.ClassDestructive
				}
				if list[0].Class != want {
					t.Errorf("class %q, want %q", list[0].Class, want)
				}
				return strings.Join(list[0].Changes, "\n")
			}
			if p := w.plan(); c.refusal != "" {
				if d := errorOf(t, p, c.at); d.Code != planner.CodeNoOwner || d.Kind != diag.KindStale || !strings.Contains(d.Summary, "holds 2 rows") || !strings.Contains(d.Detail, c.refusal) {
					t.Errorf("unasked: %+v", d)
				}
			} else if text := says(p); !strings.Contains(text, "take over: the table has no owner"+c.asked) || !strings.Contains(text, "; apply gives it this configuration's") {
				t.Errorf("unasked: %s", text)
			}
			p := w.plan(func(r *planner.Request) { r.TakeOver = []addr.Address{c.at} })
			if c.asked == "" {
				if d := errorOf(t, p, c.at); strings.Contains(d.Detail, "-take-over") {
					t.Errorf("asked: %+v", d)
				}
			} else if text := says(p); !strings.Contains(text, "take over: the table has no owner"+c.asked) {
				t.Errorf("asked: %s", text)
			}
		})
	}
}

// The rows of another configuration's silver stay where control knows how far they
// have come; else it is built from bronze, and the plan says that they go.
func TestASilverOfAnotherConfigurationSaysWhatBecomesOfItsRows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		applied, want string
		class         plan.Class
	}{
		{"", "take over from other/1; its 2 rows are replaced by those of bronze.orders", plan.ClassDestructive},
		{"00000001", "take over from other/1", plan.ClassInPlace},
	} {
		w := filled(t)
		p := w.plan()
		schema := tablesNamed(p, "silver.orders")[0].Spec.Schema
		control, err := w.lake().Ledger.ControlRow(t.Context(), "silver.orders")
		w.must(err)
		w.must(w.lake().Ledger.SetPosition(t.Context(), "silver.orders", control.Position, plugin.TargetPosition{Applied: c.applied}))
		w.plugin.Lake.DropTable("silver.orders")
		w.foreign("silver.orders", schema, map[string]string{ledger.PropertySchemaVersion: "0", "pipectl.owner": "other/1"})
		p = w.plan(func(r *planner.Request) { r.TakeOver = []addr.Address{theSilver} })
		w.must(p.Errors().Err())
		if list := tablesNamed(p, "silver.orders"); !slices.Contains(list[0].Changes, c.want) || list[0].Class != c.class {
			t.Errorf("applied %q: class %s, %q", c.applied, list[0].Class, list[0].Changes)
		}
	}
}

// A silver that control knows goes on, when its table is of the layout: so does
// the lake of another program of that layout. Another table in its place is not
// that silver, and asking makes it none.
func TestASilverWithoutAnOwnerGoesOnFromItsPosition(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		properties map[string]string
		refused    bool
	}{
		"of the layout": {map[string]string{ledger.PropertySchemaVersion: "0"}, false},
		"of no layout":  {nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := filled(t)
			p := w.plan()
			schema := tablesNamed(p, "silver.orders")[0].Spec.Schema
			control, err := w.lake().Ledger.ControlRow(t.Context(), "silver.orders")
			w.must(err)
			w.must(w.lake().Ledger.SetPosition(t.Context(), "silver.orders", control.Position, plugin.TargetPosition{Applied: "00000001"}))
			w.plugin.Lake.DropTable("silver.orders")
			w.foreign("silver.orders", schema, c.properties)
			for range 3 { // versions, so that it is not behind the position
				w.foreign("silver.orders", schema, nil)
			}
			for _, asked := range [][]addr.Address{nil, {theSilver}} {
				p = w.plan(func(r *planner.Request) { r.TakeOver = asked })
				if c.refused {
					if d := errorOf(t, p, theSilver); d.Code != planner.CodeNoOwner || !strings.Contains(d.Detail, "Restore that one.") {
						t.Errorf("asked for %v: %+v", asked, d)
					}
					continue
				}
				w.must(p.Errors().Err())
				if text := strings.Join(tablesNamed(p, "silver.orders")[0].Changes, "\n"); !strings.Contains(text, "; its 8 rows stay, and it goes on from its position in control") {
					t.Errorf("asked for %v: %s", asked, text)
				}
			}
		})
	}
}

// A table of another program where facts or control belong is no ledger.
func TestALedgerIsNotMadeOfAnotherProgramsTable(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ops.facts", "ops.control"} {
		w := newWorld(t)
		w.foreign(name, columns("id"), nil)
		p := w.plan()
		if !diag.HasCode(p.Errors().Err(), ledger.CodeOtherTable) {
			t.Errorf("%s: %v", name, p.Errors().Err())
		}
		if err := w.lake().Ledger.Ensure(t.Context()); !diag.HasCode(err, ledger.CodeOtherTable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Two rows of one name in control are the fault of who wrote them, and of the table
// that they are about; a configuration that does not have it is not stopped.
func TestRowsOfOthersInControlStopNobody(t *testing.T) {
	t.Parallel()
	w := filled(t)
	w.write(w.cfg.Sinks[0].Control, arrow.NewSchema([]arrow.Field{{Name: "table_name", Type: arrow.BinaryTypes.String, Nullable: true}}, nil))
	if p := w.plan(); len(p.Errors()) > 0 {
		t.Error(p.Errors().Err())
	}
}
