package reconcile_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/zclconf/go-cty/cty"
	"go.uber.org/goleak"

	"github.com/pipectl/pipectl/core/plugin"
	fake "github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/plugin/rows"
	"github.com/pipectl/pipectl/plugins/reconcile/reconcile"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	sourceName = "dbo.orders"
	bronzeName = "bronze.orders"
	silverName = "silver.orders"
	reportName = "ops.reconcile"
)

var (
	ntz    = &arrow.TimestampType{Unit: arrow.Microsecond}
	number = arrow.PrimitiveTypes.Int64
	words  = arrow.BinaryTypes.String
)

func column(name string, t arrow.DataType) arrow.Field {
	return arrow.Field{Name: name, Type: t, Nullable: true}
}

// failer is what a test and a property test share.
type failer interface {
	Fatal(...any)
	Fatalf(string, ...any)
	Helper()
}

// world is a source, bronze, silver and a ledger, as a pipeline leaves them.
type world struct {
	db     *fake.Database
	lake   *fake.Lake
	ledger *fake.Ledger
	faults *fake.Faults
	// reportGone leaves the report's table unmade.
	reportGone bool
	fields     []arrow.Field
	key        []string
	// declared is the key that the table block names.
	declared []string
	clock    time.Time
	// source replaces the database's session when a test needs another.
	source plugin.Source
	budget int64
	dir    string
	// settle, keys, again and await go into the request.
	settle bool
	keys   []string
	again  []plugin.KeyRange
	await  time.Duration
}

func newWorld(key []string, fields ...arrow.Field) *world {
	w := &world{
		db: fake.NewDatabase("db"), lake: fake.NewLake(), ledger: &fake.Ledger{Views: map[string]plugin.LedgerView{}},
		faults: &fake.Faults{}, fields: fields, key: key, clock: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC),
	}
	w.db.CreateTable(sourceName, arrow.NewSchema(fields, nil), key...)
	return w
}

// orders is the usual world: an integer key and two columns.
func orders() *world {
	return newWorld([]string{"id"}, column("id", number), column("note", words), column("amount", &arrow.Decimal128Type{Precision: 10, Scale: 2}))
}

func order(id int, note string) fake.Row {
	return fake.Row{"id": id, "note": note, "amount": fmt.Sprintf("%d.50", id%1000)}
}

func (w *world) commit(changes ...fake.Change) plugin.Position {
	w.clock = w.clock.Add(time.Second)
	return w.db.Commit(w.clock, changes...)
}

func (w *world) insert(list ...fake.Row) plugin.Position {
	var changes []fake.Change
	for _, r := range list {
		changes = append(changes, fake.Insert(sourceName, r))
	}
	return w.commit(changes...)
}

func (w *world) bronzeSchema() *arrow.Schema {
	fields := []arrow.Field{
		column("_capture_instance", words), column("_start_lsn", words), column("_seqval", words),
		column("_operation", arrow.PrimitiveTypes.Int32), column("_command_id", arrow.PrimitiveTypes.Int32), column("_commit_ts", ntz),
	}
	fields = append(fields, w.fields...)
	return arrow.NewSchema(append(fields, column("_batch_id", arrow.PrimitiveTypes.Int32), column("_snapshot", words), column("_chunk", arrow.PrimitiveTypes.Int32)), nil)
}

func (w *world) silverSchema() *arrow.Schema {
	return arrow.NewSchema(append(append([]arrow.Field{}, w.fields...), column("_start_lsn", words), column("_commit_ts", ntz)), nil)
}

// put appends rows to a table of the lake, or replaces all of them.
func (w *world) put(t failer, name string, schema *arrow.Schema, mode plugin.WriteMode, list []fake.Row) {
	t.Helper()
	ctx := context.Background()
	tables := w.lake.Open()
	defer tables.Close()
	ref := plugin.TableRef{Name: name}
	if _, err := tables.ApplyTable(ctx, plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: ref, Schema: schema}}); err != nil {
		t.Fatal(err)
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for _, row := range list {
		for i, f := range schema.Fields() {
			appendValue(t, b.Field(i), row[f.Name])
		}
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	write, err := tables.BeginWrite(ctx, plugin.BeginWriteRequest{Table: ref, Mode: mode, Schema: schema, BaseVersion: -1})
	if err != nil {
		t.Fatal(err)
	}
	part, err := tables.WritePart(ctx, plugin.WritePartRequest{WriteID: write.WriteID}, rows.FromBatches(schema, batch))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tables.Commit(ctx, plugin.CommitRequest{WriteID: write.WriteID, Tokens: []string{part.Token}}); err != nil {
		t.Fatal(err)
	}
}

func appendValue(t failer, b array.Builder, v any) {
	t.Helper()
	if v == nil {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.Int64Builder:
		b.Append(integer(v))
	case *array.Int32Builder:
		b.Append(int32(integer(v)))
	case *array.Int16Builder:
		b.Append(int16(integer(v)))
	case *array.Float64Builder:
		b.Append(v.(float64))
	case *array.Float32Builder:
		b.Append(float32(v.(float64)))
	case *array.BooleanBuilder:
		b.Append(v.(bool))
	case *array.StringBuilder:
		b.Append(v.(string))
	case *array.BinaryBuilder:
		b.Append(v.([]byte))
	case *array.Date32Builder:
		b.Append(arrow.Date32FromTime(v.(time.Time)))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(v.(time.Time).UnixMicro()))
	case *array.Decimal128Builder:
		if err := b.AppendValueFromString(v.(string)); err != nil {
			t.Fatal(err)
		}
	default:
		t.Fatalf("no value of a test goes into a %T", b)
	}
}

func integer(v any) int64 {
	if n, ok := v.(int); ok {
		return int64(n)
	}
	return v.(int64)
}

// changesAfter are the rows a stream would append to bronze for the commits
// after a position.
func (w *world) changesAfter(t failer, after string) []fake.Row {
	t.Helper()
	ctx := context.Background()
	src := w.db.Open()
	defer src.Close()
	table := w.request().Source
	if after == "" {
		start, err := src.Start(ctx, plugin.StartRequest{Table: table})
		if err != nil {
			t.Fatal(err)
		}
		after = start.Text
	}
	plan, err := src.PlanBatch(ctx, plugin.PlanBatchRequest{Table: table, Start: plugin.Position{Text: after}, End: w.db.Newest()})
	if err != nil {
		t.Fatal(err)
	}
	var out []fake.Row
	for _, part := range plan.Ranges {
		frames, err := src.Read(ctx, plugin.ReadRequest{Table: table, Range: part})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, collect(t, frames)...)
	}
	return out
}

// collect reads a stream into rows, by way of a table of another lake.
func collect(t failer, frames plugin.FrameReader) []fake.Row {
	t.Helper()
	ctx := context.Background()
	lake := fake.NewLake()
	tables := lake.Open()
	defer tables.Close()
	reader, err := rows.NewReader(frames, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	var batches []arrow.RecordBatch
	_, err = reader.ForEach(func(b arrow.RecordBatch) error {
		b.Retain()
		batches = append(batches, b)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	ref := plugin.TableRef{Name: "t"}
	if _, err := tables.ApplyTable(ctx, plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: ref, Schema: reader.Schema()}}); err != nil {
		t.Fatal(err)
	}
	write, err := tables.BeginWrite(ctx, plugin.BeginWriteRequest{Table: ref, Mode: plugin.WriteAppend, Schema: reader.Schema(), BaseVersion: -1})
	if err != nil {
		t.Fatal(err)
	}
	part, err := tables.WritePart(ctx, plugin.WritePartRequest{WriteID: write.WriteID}, rows.FromBatches(reader.Schema(), batches...))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tables.Commit(ctx, plugin.CommitRequest{WriteID: write.WriteID, Tokens: []string{part.Token}}); err != nil {
		t.Fatal(err)
	}
	var out []fake.Row
	for _, m := range lake.Rows("t") {
		out = append(out, fake.Row(m))
	}
	return out
}

// stream brings bronze to the source's newest position.
func (w *world) stream(t failer, after string) {
	t.Helper()
	w.put(t, bronzeName, w.bronzeSchema(), plugin.WriteAppend, w.changesAfter(t, after))
}

// apply makes silver what the source is now, and says so in the ledger.
func (w *world) apply(t failer, damage ...func([]fake.Row) []fake.Row) {
	t.Helper()
	applied := w.db.Newest().Text
	var list []fake.Row
	for _, m := range w.db.Rows(sourceName) {
		m["_start_lsn"] = applied
		list = append(list, fake.Row(m))
	}
	for _, d := range damage {
		list = d(list)
	}
	w.put(t, silverName, w.silverSchema(), plugin.WriteOverwrite, list)
	view := w.ledger.Views[silverName]
	view.Position.Applied = applied
	w.ledger.Views[silverName] = view
}

// settings is the body of a check block.
type settings map[string]any

func (s settings) body() cty.Value {
	attrs := map[string]cty.Value{
		"bucket_rows": cty.NumberIntVal(1_000_000), "sample": cty.NumberFloatVal(0.01),
		"sample_seed": cty.NullVal(cty.Number), "report": cty.NullVal(cty.String),
	}
	for name, v := range s {
		switch v := v.(type) {
		case int:
			attrs[name] = cty.NumberIntVal(int64(v))
		case float64:
			attrs[name] = cty.NumberFloatVal(v)
		case string:
			attrs[name] = cty.StringVal(v)
		}
	}
	return cty.ObjectVal(attrs)
}

func (w *world) request() plugin.CheckRequest {
	return plugin.CheckRequest{
		Address: "check.orders", Object: sourceName,
		Source: plugin.SourceTable{Address: "table.orders", Object: cty.ObjectVal(map[string]cty.Value{"object": cty.StringVal(sourceName)}), Key: w.declared},
		Silver: plugin.TableRef{Name: silverName}, Bronze: plugin.TableRef{Name: bronzeName},
		Key: w.key, Instances: []string{"dbo_orders"}, Settle: w.settle, Keys: w.keys, Again: w.again, AwaitCapture: w.await,
		SourceSchema: arrow.NewSchema(append([]arrow.Field{
			column("_capture_instance", words), column("_start_lsn", words), column("_seqval", words),
			column("_operation", arrow.PrimitiveTypes.Int32), column("_command_id", arrow.PrimitiveTypes.Int32), column("_commit_ts", ntz),
		}, w.fields...), nil),
	}
}

// outcome is a result and its findings.
type outcome struct {
	plugin.CheckResult
	findings []plugin.Finding
}

func (o outcome) keys(kind string) []string {
	var out []string
	for _, f := range o.findings {
		if f.Kind == kind && f.Key != "" {
			out = append(out, f.Key)
		}
	}
	return out
}

func (w *world) try(s settings) (outcome, error) {
	ctx := context.Background()
	session, err := reconcile.New("test").OpenCheck(ctx, plugin.OpenRequest{Component: "reconcile", MemoryBudget: w.budget, SpillDir: w.dir})
	if err != nil {
		return outcome{}, err
	}
	defer session.Close()
	inner := w.source
	if inner == nil {
		inner = w.db.Open()
	}
	defer inner.Close()
	tables := w.lake.Open()
	defer tables.Close()
	req := w.request()
	req.Body = s.body()
	access := plugin.Access{Read: []plugin.TableRef{{Name: bronzeName}, {Name: silverName}}, Append: []plugin.TableRef{{Name: reportName}}, Source: []plugin.SourceTable{req.Source}, Targets: []string{silverName}}
	host := access.Narrow(plugin.Host{Tables: w.faults.Tables(tables), Source: w.faults.Source(inner), Ledger: w.faults.Ledger(w.ledger)})
	if s["report"] != nil && !w.reportGone {
		if err := makeReport(ctx, session, req, tables, access.Narrow(plugin.Host{Tables: tables, Source: unasked{}, Ledger: w.ledger})); err != nil {
			return outcome{}, err
		}
	}
	var out outcome
	out.CheckResult, err = session.RunCheck(ctx, req, host, plugin.CheckEvents{
		Finding:  func(f plugin.Finding) { out.findings = append(out.findings, f) },
		Progress: func(plugin.Progress) {},
	})
	return out, err
}

// unasked is a source that knows no number of rows.
type unasked struct{ plugin.Source }

func (unasked) Inspect(_ context.Context, req plugin.InspectRequest) (plugin.InspectResponse, error) {
	return plugin.InspectResponse{Tables: []plugin.TableInfo{{Address: req.Tables[0].Address, RowsEstimate: -1, Pending: -1}}}, nil
}

// makeReport makes the table that a check plans, as apply does.
func makeReport(ctx context.Context, session plugin.Check, req plugin.CheckRequest, tables plugin.Tables, host plugin.Host) error {
	planned, err := session.PlanCheck(ctx, req, host)
	if err != nil {
		return err
	}
	for _, spec := range planned.Tables {
		have, err := tables.GetTables(ctx, plugin.GetTablesRequest{Tables: []plugin.TableRef{spec.Table}})
		if err != nil || have[0].Exists {
			return err
		}
		if _, err := tables.ApplyTable(ctx, plugin.ApplyTableRequest{Spec: spec}); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) check(t failer, s settings) outcome {
	t.Helper()
	out, err := w.try(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Kinds of damage to silver.
func without(id int) func([]fake.Row) []fake.Row {
	return func(list []fake.Row) []fake.Row {
		var out []fake.Row
		for _, r := range list {
			if r["id"] != int64(id) {
				out = append(out, r)
			}
		}
		return out
	}
}

func with(row fake.Row) func([]fake.Row) []fake.Row {
	return func(list []fake.Row) []fake.Row { return append(list, row) }
}

func edited(id int, name string, value any) func([]fake.Row) []fake.Row {
	return func(list []fake.Row) []fake.Row {
		for _, r := range list {
			if r["id"] == int64(id) {
				r[name] = value
			}
		}
		return list
	}
}

func many(from, to int) []fake.Row {
	var list []fake.Row
	for id := from; id <= to; id++ {
		list = append(list, order(id, fmt.Sprintf("note %d", id)))
	}
	return list
}

// expect compares the numbers of a result.
func expect(t *testing.T, o outcome, want plugin.CheckResult) {
	t.Helper()
	got := plugin.CheckResult{Outcome: o.Outcome, Buckets: o.Buckets, Match: o.Match, InFlight: o.InFlight, Mismatch: o.Mismatch, Hashed: o.Hashed}
	failures := o.Failures
	for kind, n := range want.Failures {
		if failures[kind] != n {
			t.Errorf("%s: %d, want %d", kind, failures[kind], n)
		}
	}
	if len(failures) != len(want.Failures) {
		t.Errorf("failures %v, want %v", failures, want.Failures)
	}
	want.Failures = nil
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %+v\nwant %+v\nfindings %+v", got, want, o.findings)
	}
}

// plan plans the check, and tells which calls that took.
func (w *world) plan(t failer, s settings) (plugin.CheckPlan, string) {
	t.Helper()
	ctx := context.Background()
	session, err := reconcile.New("test").OpenCheck(ctx, plugin.OpenRequest{Component: "reconcile"})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	source, tables := w.db.Open(), w.lake.Open()
	defer source.Close()
	defer tables.Close()
	req := w.request()
	req.Body = s.body()
	plan, err := session.PlanCheck(ctx, req, plugin.Host{Tables: w.faults.Tables(tables), Source: w.faults.Source(source), Ledger: w.faults.Ledger(w.ledger)})
	if err != nil {
		t.Fatal(err)
	}
	return plan, fmt.Sprint(w.faults.Points())
}
