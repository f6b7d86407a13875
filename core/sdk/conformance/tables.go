package conformance

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// Tables says how a sink is tested. The suite creates tables whose names begin
// with "conformance." and objects under "_pipectl/conformance/" in the place
// that Request configures, which must be empty of them.
type Tables struct {
	// Request opens a session.
	Request plugin.OpenRequest
}

// tablesTest is one run of the suite.
type tablesTest struct {
	tables plugin.Tables
	caps   plugin.Capabilities
	open   func(*testing.T) plugin.Tables
}

func (s *Tables) run(t *testing.T, p plugin.Plugin) {
	open := func(t *testing.T) plugin.Tables {
		t.Helper()
		tables, err := p.OpenTables(t.Context(), s.Request)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := tables.Close(); err != nil {
				t.Errorf("closing a session: %v", err)
			}
		})
		return tables
	}
	x := &tablesTest{tables: open(t), caps: capabilities(t, p, plugin.RoleSink, s.Request.Component), open: open}
	if l := x.tables.Limits(); l.MaxParts < 1 {
		t.Errorf("a sink writes at least one part at once, not %d", l.MaxParts)
	}
	t.Run("a table that is absent is an answer", x.absent)
	t.Run("converging creates, adds and never retypes", x.converge)
	t.Run("an append is repeatable", x.repeatable)
	t.Run("parts are written side by side and only named ones count", x.parts)
	t.Run("an aborted write leaves nothing", x.abort)
	t.Run("a broken stream is no part", x.broken)
	t.Run("a base version conflicts with data only", x.baseVersion)
	t.Run("overwrite replaces", x.overwrite)
	t.Run("new columns need permission", x.mergeSchema)
	t.Run("a scan may answer more and never fewer", x.scan)
	t.Run("texts are in the order of their bytes", x.textOrder)
	t.Run("a value larger than a frame", x.largeValue)
	if x.caps.History {
		t.Run("history", x.history)
	} else {
		unsupported(t, "History", func(ctx context.Context) error {
			_, err := x.tables.History(ctx, plugin.HistoryRequest{Table: plugin.TableRef{Name: "conformance.none"}, After: -1})
			return err
		})
	}
	if x.caps.Merge {
		t.Run("merge", x.merge)
	}
	if x.caps.Objects {
		t.Run("objects", x.objects)
	} else {
		unsupported(t, "PutObject", func(ctx context.Context) error {
			return x.tables.PutObject(ctx, plugin.Object{Key: "_pipectl/conformance/none"}, true)
		})
	}
}

// create makes a table that does not exist yet.
func (x *tablesTest) create(t *testing.T, name string, schema *arrow.Schema) plugin.TableRef {
	t.Helper()
	ref := plugin.TableRef{Name: name}
	res, err := x.tables.ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: ref, Schema: schema}, RequireID: "-"})
	if err != nil || res.Action != plugin.TableCreate || res.ID == "" {
		t.Fatalf("creating %s: %+v, %v", name, res, err)
	}
	return ref
}

// write carries out one write of one part.
func (x *tablesTest) write(t *testing.T, req plugin.BeginWriteRequest, frames plugin.FrameReader) (plugin.CommitResult, error) {
	t.Helper()
	begun, err := x.tables.BeginWrite(t.Context(), req)
	if err != nil || begun.Already {
		frames.Close()
		return plugin.CommitResult{Outcome: plugin.Already, Version: begun.Version}, err
	}
	part, err := x.tables.WritePart(t.Context(), plugin.WritePartRequest{WriteID: begun.WriteID}, frames)
	if err != nil {
		return plugin.CommitResult{}, errors.Join(err, x.tables.Abort(t.Context(), begun.WriteID))
	}
	return x.tables.Commit(t.Context(), plugin.CommitRequest{WriteID: begun.WriteID, Tokens: []string{part.Token}})
}

func appending(ref plugin.TableRef, schema *arrow.Schema) plugin.BeginWriteRequest {
	return plugin.BeginWriteRequest{Table: ref, Mode: plugin.WriteAppend, Schema: schema, BaseVersion: -1}
}

func (x *tablesTest) rows(t *testing.T, ref plugin.TableRef) []string {
	t.Helper()
	frames, err := x.tables.Scan(t.Context(), plugin.ScanRequest{Table: ref, Version: -1})
	list, _ := read(t, frames, err)
	return list
}

func (x *tablesTest) state(t *testing.T, ref plugin.TableRef, apps ...string) plugin.TableState {
	t.Helper()
	states, err := x.tables.GetTables(t.Context(), plugin.GetTablesRequest{Tables: []plugin.TableRef{ref}, AppIDs: apps})
	if err != nil || len(states) != 1 {
		t.Fatalf("%d states, %v", len(states), err)
	}
	return states[0]
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	want = slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func (x *tablesTest) absent(t *testing.T) {
	ref := plugin.TableRef{Name: "conformance.absent"}
	if s := x.state(t, ref); s.Exists || s.Table != ref {
		t.Errorf("a table that is absent answers %+v", s)
	}
	plan, err := x.tables.PlanTable(t.Context(), plugin.TableSpec{Table: ref, Schema: schemaOf(text("k"))})
	if err != nil || plan.Action != plugin.TableCreate || plan.Version != -1 || plan.ID != "" {
		t.Errorf("planning an absent table answers %+v, %v", plan, err)
	}
	if x.state(t, ref).Exists {
		t.Error("planning created the table")
	}
	if _, err := x.tables.BeginWrite(t.Context(), appending(ref, schemaOf(text("k")))); err == nil || diag.KindOf(err) == diag.KindInternal {
		t.Errorf("a write to an absent table answers %v", err)
	}
}

func (x *tablesTest) converge(t *testing.T) {
	ref := x.create(t, "conformance.converge", schemaOf(text("k")))
	commented := text("note")
	commented.Metadata = arrow.NewMetadata([]string{"comment"}, []string{"what was said"})
	spec := plugin.TableSpec{Table: ref, Schema: schemaOf(text("k"), commented), Description: "for tests",
		Properties: map[string]string{"pipectl.owner": "a", "other.kept": "b"}, Converge: []string{"pipectl."}}
	plan, err := x.tables.PlanTable(t.Context(), spec)
	if err != nil || plan.Action != plugin.TableAlter || len(plan.Changes) == 0 || plan.ID == "" {
		t.Fatalf("plan %+v, %v", plan, err)
	}
	if _, err := x.tables.ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: spec, RequireID: "-"}); !diag.Is(err, diag.KindStale) {
		t.Errorf("creating what exists answers %v, not kind stale", err)
	}
	if _, err := x.tables.ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: spec, RequireID: plan.ID + "x"}); !diag.Is(err, diag.KindStale) {
		t.Errorf("altering another table answers %v, not kind stale", err)
	}
	done, err := x.tables.ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: spec, RequireID: plan.ID})
	if err != nil || done.Action != plugin.TableAlter || done.Version <= plan.Version {
		t.Fatalf("apply %+v, %v", done, err)
	}
	s := x.state(t, ref)
	if s.Properties["pipectl.owner"] != "a" || s.Description != "for tests" || s.Schema.NumFields() != 2 {
		t.Errorf("state %+v", s)
	}
	if comment, _ := s.Schema.Field(1).Metadata.GetValue("comment"); comment != "what was said" {
		t.Errorf("the comment is %q", comment)
	}
	again, err := x.tables.ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: spec, RequireID: plan.ID})
	if err != nil || again.Action != plugin.TableNone || again.Version != done.Version {
		t.Errorf("applying twice: %+v, %v", again, err)
	}
	// A column of another type is refused or left alone, and never retyped.
	retyped := plugin.TableSpec{Table: ref, Schema: schemaOf(integer("k"))}
	if plan, err := x.tables.PlanTable(t.Context(), retyped); !diag.Is(err, diag.KindSchemaChanged) {
		t.Errorf("planning rows of a type that the table cannot hold answers %+v, %v, not kind schema_changed", plan, err)
	}
	if res, err := x.tables.ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: retyped}); err == nil && res.Action != plugin.TableNone || err != nil && !diag.Is(err, diag.KindSchemaChanged) {
		t.Errorf("another type answers %+v, %v", res, err)
	}
	if f := x.state(t, ref).Schema.Field(0); f.Type.ID() != arrow.STRING {
		t.Errorf("column k became %s", f.Type)
	}
}

func (x *tablesTest) repeatable(t *testing.T) {
	schema := schemaOf(text("k"))
	ref := x.create(t, "conformance.repeatable", schema)
	req := appending(ref, schema)
	req.Txns = []plugin.Txn{{AppID: "app", Version: 3}}
	begun, err := x.tables.BeginWrite(t.Context(), req)
	if err != nil || begun.Already {
		t.Fatalf("begin %+v, %v", begun, err)
	}
	part, err := x.tables.WritePart(t.Context(), plugin.WritePartRequest{WriteID: begun.WriteID}, rowsOf(t, schema, []any{"x"}))
	if err != nil || part.Rows != 1 {
		t.Fatalf("part %+v, %v", part, err)
	}
	commit := plugin.CommitRequest{WriteID: begun.WriteID, Tokens: []string{part.Token}, UserMetadata: `{"rows":1}`}
	first, err := x.tables.Commit(t.Context(), commit)
	if err != nil || first.Outcome != plugin.Committed || first.Inserted != 1 {
		t.Fatalf("commit %+v, %v", first, err)
	}
	if again, err := x.tables.Commit(t.Context(), commit); err != nil || again != first {
		t.Errorf("a repeated commit answers %+v, %v; the first %+v", again, err, first)
	}
	for _, version := range []int64{2, 3} {
		req.Txns = []plugin.Txn{{AppID: "app", Version: version}}
		if res, err := x.tables.BeginWrite(t.Context(), req); err != nil || !res.Already {
			t.Errorf("a write of version %d after 3 answers %+v, %v", version, res, err)
		}
	}
	req.Txns = []plugin.Txn{{AppID: "app", Version: 3}, {AppID: "second", Version: 0}}
	if res, err := x.tables.BeginWrite(t.Context(), req); !diag.Is(err, diag.KindConflict) {
		t.Errorf("a write one of whose keys is recorded and one is not answers %+v, %v, not kind conflict", res, err)
	}
	if s := x.state(t, ref, "app", "second"); len(s.Txns) != 1 || s.Txns["app"] != 3 || s.Version != first.Version {
		t.Errorf("txns %v at version %d", s.Txns, s.Version)
	}
	same(t, "rows", x.rows(t, ref), []string{"k=x"})
}

func (x *tablesTest) parts(t *testing.T) {
	n := int64(7)
	table := schemaOf(text("k"), integer("batch"), text("snapshot"))
	ref := x.create(t, "conformance.parts", table)
	begun, err := x.tables.BeginWrite(t.Context(), appending(ref, table))
	if err != nil {
		t.Fatal(err)
	}
	constants := []plugin.Constant{
		{Name: "batch", Type: arrow.PrimitiveTypes.Int64, Value: &plugin.Literal{Type: plugin.LiteralInt, Int: n}},
		{Name: "snapshot", Type: arrow.BinaryTypes.String},
	}
	keys := []string{"a", "b", "c"}
	tokens := make([]string, len(keys))
	failures := make([]error, len(keys))
	streams := make([]plugin.FrameReader, len(keys))
	for i, key := range keys {
		streams[i] = rowsOf(t, schemaOf(text("k")), []any{key})
	}
	var wait sync.WaitGroup
	for i := range keys {
		wait.Go(func() {
			part, err := x.tables.WritePart(t.Context(), plugin.WritePartRequest{WriteID: begun.WriteID, Part: i, Constants: constants}, streams[i])
			tokens[i], failures[i] = part.Token, err
		})
	}
	wait.Wait()
	if err := errors.Join(failures...); err != nil {
		t.Fatal(err)
	}
	// The second attempt at part 2 is the one that counts.
	retried, err := x.tables.WritePart(t.Context(), plugin.WritePartRequest{WriteID: begun.WriteID, Part: 2, Attempt: 1, Constants: constants}, rowsOf(t, schemaOf(text("k")), []any{"again"}))
	if err != nil {
		t.Fatal(err)
	}
	if res, err := x.tables.Commit(t.Context(), plugin.CommitRequest{WriteID: begun.WriteID, Tokens: []string{tokens[0], tokens[1], retried.Token}}); err != nil || res.Inserted != 3 {
		t.Fatalf("commit %+v, %v", res, err)
	}
	same(t, "rows", x.rows(t, ref), []string{"k=a batch=7 snapshot=NULL", "k=again batch=7 snapshot=NULL", "k=b batch=7 snapshot=NULL"})
}

func (x *tablesTest) abort(t *testing.T) {
	schema := schemaOf(text("k"))
	ref := x.create(t, "conformance.abort", schema)
	begun, err := x.tables.BeginWrite(t.Context(), appending(ref, schema))
	if err != nil {
		t.Fatal(err)
	}
	part, err := x.tables.WritePart(t.Context(), plugin.WritePartRequest{WriteID: begun.WriteID}, rowsOf(t, schema, []any{"x"}))
	if err != nil {
		t.Fatal(err)
	}
	if err := x.tables.Abort(t.Context(), begun.WriteID); err != nil {
		t.Fatal(err)
	}
	if res, err := x.tables.Commit(t.Context(), plugin.CommitRequest{WriteID: begun.WriteID, Tokens: []string{part.Token}}); err == nil {
		t.Errorf("an aborted write was committed: %+v", res)
	}
	same(t, "rows", x.rows(t, ref), nil)
}

func (x *tablesTest) broken(t *testing.T) {
	schema := schemaOf(text("k"))
	ref := x.create(t, "conformance.broken", schema)
	for name, end := range map[string]error{"without its end": io.EOF, "by an error": errors.New("the source went away")} {
		begun, err := x.tables.BeginWrite(t.Context(), appending(ref, schema))
		if err != nil {
			t.Fatal(err)
		}
		stream := &cut{FrameReader: rowsOf(t, schema, []any{"x"}), frames: 2, end: end}
		if part, err := x.tables.WritePart(t.Context(), plugin.WritePartRequest{WriteID: begun.WriteID}, stream); err == nil {
			t.Errorf("a stream that stopped %s became part %+v", name, part)
		}
		if !stream.closed {
			t.Errorf("a stream that stopped %s was not closed", name)
		}
		if err := x.tables.Abort(t.Context(), begun.WriteID); err != nil {
			t.Error(err)
		}
	}
	same(t, "rows", x.rows(t, ref), nil)
}

// cut stops a stream after some frames.
type cut struct {
	plugin.FrameReader
	frames int
	end    error
	closed bool
}

func (c *cut) Recv() (plugin.Frame, error) {
	if c.frames == 0 {
		return plugin.Frame{}, c.end
	}
	c.frames--
	return c.FrameReader.Recv()
}

func (c *cut) Close() error {
	c.closed = true
	return c.FrameReader.Close()
}

func (x *tablesTest) baseVersion(t *testing.T) {
	schema := schemaOf(text("k"))
	ref := x.create(t, "conformance.base", schema)
	req := appending(ref, schema)
	req.BaseVersion = x.state(t, ref).Version
	if _, err := x.tables.ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: ref, Schema: schemaOf(text("k"), text("new"))}}); err != nil {
		t.Fatal(err)
	}
	late, err := x.tables.BeginWrite(t.Context(), req)
	if err != nil {
		t.Fatalf("a commit that changed no data is in the way: %v", err)
	}
	if res, err := x.write(t, req, rowsOf(t, schema, []any{"x"})); err != nil || res.Outcome != plugin.Committed {
		t.Fatalf("%+v, %v", res, err)
	}
	part, err := x.tables.WritePart(t.Context(), plugin.WritePartRequest{WriteID: late.WriteID}, rowsOf(t, schema, []any{"y"}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.tables.Commit(t.Context(), plugin.CommitRequest{WriteID: late.WriteID, Tokens: []string{part.Token}}); !diag.Is(err, diag.KindConflict) {
		t.Errorf("a commit over newer data answers %v, not kind conflict", err)
	}
	if _, err := x.tables.BeginWrite(t.Context(), req); !diag.Is(err, diag.KindConflict) {
		t.Errorf("a begin over newer data answers %v, not kind conflict", err)
	}
	same(t, "rows", x.rows(t, ref), []string{"k=x new=NULL"})
}

func (x *tablesTest) overwrite(t *testing.T) {
	schema := schemaOf(text("k"))
	ref := x.create(t, "conformance.overwrite", schema)
	if _, err := x.write(t, appending(ref, schema), rowsOf(t, schema, []any{"old"}, []any{"older"})); err != nil {
		t.Fatal(err)
	}
	req := appending(ref, schema)
	req.Mode = plugin.WriteOverwrite
	if res, err := x.write(t, req, rowsOf(t, schema, []any{"new"})); err != nil || res.Outcome != plugin.Committed || res.Inserted != 1 {
		t.Errorf("%+v, %v", res, err)
	}
	same(t, "rows", x.rows(t, ref), []string{"k=new"})
	// Of two that saw the same rows the second has not seen the first one's.
	late, err := x.tables.BeginWrite(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := x.write(t, req, rowsOf(t, schema, []any{"first"})); err != nil || res.Outcome != plugin.Committed {
		t.Fatalf("%+v, %v", res, err)
	}
	part, err := x.tables.WritePart(t.Context(), plugin.WritePartRequest{WriteID: late.WriteID}, rowsOf(t, schema, []any{"second"}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.tables.Commit(t.Context(), plugin.CommitRequest{WriteID: late.WriteID, Tokens: []string{part.Token}}); !diag.Is(err, diag.KindConflict) {
		t.Errorf("overwriting rows that came later answers %v, not kind conflict", err)
	}
	same(t, "rows", x.rows(t, ref), []string{"k=first"})
}

func (x *tablesTest) mergeSchema(t *testing.T) {
	narrow, wide := schemaOf(text("k")), schemaOf(text("k"), text("v"))
	ref := x.create(t, "conformance.wider", narrow)
	if _, err := x.write(t, appending(ref, narrow), rowsOf(t, narrow, []any{"a"})); err != nil {
		t.Fatal(err)
	}
	if _, err := x.write(t, appending(ref, wide), rowsOf(t, wide, []any{"b", "x"})); !diag.Is(err, diag.KindSchemaChanged) {
		t.Errorf("rows with a new column answer %v, not kind schema_changed", err)
	}
	req := appending(ref, wide)
	req.MergeSchema = true
	if _, err := x.write(t, req, rowsOf(t, wide, []any{"b", "x"})); err != nil {
		t.Error(err)
	}
	same(t, "rows", x.rows(t, ref), []string{"k=a v=NULL", "k=b v=x"})
}

func (x *tablesTest) largeValue(t *testing.T) {
	schema := schemaOf(text("k"), text("v"))
	ref := x.create(t, "conformance.large", schema)
	large := strings.Repeat("0123456789abcdef", 10<<20/16)
	if _, err := x.write(t, appending(ref, schema), rowsOf(t, schema, []any{"a", "small"}, []any{"b", large})); err != nil {
		t.Fatal(err)
	}
	list := x.rows(t, ref)
	if len(list) != 2 || list[0] != "k=a v=small" || list[1] != "k=b v="+large {
		t.Errorf("a value of %d bytes did not come back as it was", len(large))
	}
}
