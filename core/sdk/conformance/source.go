package conformance

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// Source says how a source is tested: by one table that has changes in its log
// and rows now.
type Source struct {
	// Request opens a session.
	Request plugin.OpenRequest
	// Table has at least two commits after its earliest position and at least
	// three rows.
	Table plugin.SourceTable
	// Rows is how many rows it has, Changes how many change rows follow its
	// earliest position (an update is two).
	Rows, Changes int64
	// Advance, when not nil, makes one more commit that inserts one row; it is
	// called after the tests that count.
	Advance func(t *testing.T, p plugin.Plugin)
}

type sourceTest struct {
	*Source
	plugin plugin.Plugin
	source plugin.Source
	caps   plugin.Capabilities
	start  plugin.Position // earliest
	newest plugin.Position
	info   plugin.TableInfo
}

func (s *Source) run(t *testing.T, p plugin.Plugin) {
	source, err := p.OpenSource(t.Context(), s.Request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := source.Close(); err != nil {
			t.Errorf("closing a session: %v", err)
		}
	}()
	x := &sourceTest{Source: s, plugin: p, source: source, caps: capabilities(t, p, plugin.RoleSource, s.Request.Component)}
	if l := source.Limits(); l.MaxReads < 1 {
		t.Errorf("a source reads at least one range at once, not %d", l.MaxReads)
	}
	for _, test := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"inspect", x.inspect},
		{"a column that is absent is an error with its path", x.wrongColumn},
		{"the next batch ends at or before what was asked", x.latest},
		{"a plan is the same twice and its ranges hold every change", x.batch},
		{"a reader that leaves early stops the source", x.leave},
	} {
		if !t.Run(test.name, test.run) {
			return // the rest stands on it
		}
	}
	if x.caps.Snapshot {
		t.Run("chunks tile the table", x.chunks)
	} else {
		unsupported(t, "OpenSnapshot", func(ctx context.Context) error {
			_, err := source.OpenSnapshot(ctx, plugin.OpenSnapshotRequest{Table: s.Table})
			return err
		})
	}
	if x.caps.Lost {
		t.Run("what is kept is not lost", x.lost)
	} else {
		unsupported(t, "Lost", func(ctx context.Context) error {
			_, err := source.Lost(ctx, plugin.LostRequest{Table: s.Table, Positions: []plugin.Position{x.start}})
			return err
		})
	}
	if x.caps.Aggregate {
		t.Run("count", x.count)
	} else {
		unsupported(t, "Aggregate", func(ctx context.Context) error {
			frames, err := source.Aggregate(ctx, plugin.AggregateRequest{Table: s.Table, Kind: plugin.AggregateCount})
			if err == nil {
				err = errors.Join(errors.New("it answered rows"), frames.Close())
			}
			return err
		})
	}
	if s.Advance != nil {
		t.Run("a commit moves the newest position", x.advance)
	}
}

func (x *sourceTest) inspect(t *testing.T) {
	res, err := x.source.Inspect(t.Context(), plugin.InspectRequest{Tables: []plugin.SourceTable{x.Table}, PendingLimit: 1,
		Since: map[string]plugin.Position{x.Table.Address: {}}})
	if err != nil {
		t.Fatal(err)
	}
	if res.Identity == "" || res.Display == "" || res.Newest.IsZero() || len(res.Tables) != 1 {
		t.Fatalf("answer %+v", res)
	}
	x.info, x.newest = res.Tables[0], res.Newest
	info := x.info
	if info.Diagnostics.HasErrors() {
		t.Fatalf("diagnostics %v", info.Diagnostics)
	}
	if info.Address != x.Table.Address || info.Object == "" || info.Identity == "" || len(info.Key) == 0 || len(info.Instances) == 0 {
		t.Errorf("table %+v", info)
	}
	if info.Pending > 1 {
		t.Errorf("%d commits are pending and 1 is the limit", info.Pending)
	}
	metadata := []struct {
		name string
		id   arrow.Type
	}{
		{plugin.ColumnCaptureInstance, arrow.STRING}, {plugin.ColumnStartLSN, arrow.STRING}, {plugin.ColumnSeqval, arrow.STRING},
		{plugin.ColumnOperation, arrow.INT32}, {plugin.ColumnCommandID, arrow.INT32}, {plugin.ColumnCommitTS, arrow.TIMESTAMP},
	}
	if info.Schema == nil || info.Schema.NumFields() <= len(metadata) {
		t.Fatalf("schema %v", info.Schema)
	}
	for i, m := range metadata {
		f := info.Schema.Field(i)
		if f.Name != m.name || f.Type.ID() != m.id || !f.Nullable {
			t.Errorf("column %d is %v, and by contract a nullable %s of type %s", i, f, m.name, m.id)
		}
	}
	for _, key := range info.Key {
		if len(info.Schema.FieldIndices(key)) != 1 {
			t.Errorf("the key names column %q, which rows do not have", key)
		}
	}
	if x.start, err = x.source.Start(t.Context(), plugin.StartRequest{Table: x.Table, From: "earliest"}); err != nil || x.start.IsZero() {
		t.Fatalf("the earliest position is %+v, %v", x.start, err)
	}
	latest, err := x.source.Start(t.Context(), plugin.StartRequest{Table: x.Table, From: "latest"})
	if err != nil || latest.Compare(x.newest) < 0 {
		t.Errorf("the latest position is %+v, %v; the newest was %+v", latest, err, x.newest)
	}
	given, err := x.source.Start(t.Context(), plugin.StartRequest{Table: x.Table, From: x.newest.Text})
	if err != nil || given != x.newest {
		t.Errorf("position %q starts at %+v, %v", x.newest.Text, given, err)
	}
}

func (x *sourceTest) wrongColumn(t *testing.T) {
	table := x.Table
	table.Columns = append(slices.Clone(table.Columns), plugin.ColumnRule{Name: "no_such_column_here", Drop: true})
	res, err := x.source.Inspect(t.Context(), plugin.InspectRequest{Tables: []plugin.SourceTable{table}})
	list := diag.FromError(err)
	if err == nil {
		list = res.Tables[0].Diagnostics
	}
	if !list.HasErrors() || len(list.Errors()[0].Path) == 0 {
		t.Errorf("dropping a column that the table lacks answers %+v, %v", list, err)
	}
}

func (x *sourceTest) latest(t *testing.T) {
	all, err := x.source.Latest(t.Context(), plugin.LatestRequest{Table: x.Table, After: x.start})
	if err != nil || all.End.Compare(x.newest) < 0 || all.Newest.Compare(all.End) < 0 {
		t.Fatalf("%+v, %v; the newest was %+v", all, err, x.newest)
	}
	x.newest = all.End
	if !all.End.HasCommit {
		t.Errorf("the end of a batch has no commit time: %+v", all.End)
	}
	one, err := x.source.Latest(t.Context(), plugin.LatestRequest{Table: x.Table, After: x.start, MaxCommits: 1})
	if err != nil || one.End.Compare(x.start) <= 0 || one.End.Compare(all.End) >= 0 {
		t.Errorf("one commit after %+v ends at %+v, %v", x.start, one.End, err)
	}
	until, err := x.source.Latest(t.Context(), plugin.LatestRequest{Table: x.Table, After: x.start, Until: one.End})
	if err != nil || until.End != one.End {
		t.Errorf("until %+v ends at %+v, %v", one.End, until.End, err)
	}
	idle, err := x.source.Latest(t.Context(), plugin.LatestRequest{Table: x.Table, After: all.End, Until: all.End})
	if err != nil || idle.End != all.End {
		t.Errorf("nothing new after %+v ends at %+v, %v", all.End, idle.End, err)
	}
	for _, after := range []plugin.Position{x.start, all.End} {
		lag, err := x.source.Latest(t.Context(), plugin.LatestRequest{Table: x.Table, After: after, CaptureLag: true})
		if err != nil || lag.End != all.End || lag.CaptureLag != nil && *lag.CaptureLag < 0 {
			t.Errorf("asked for the lag of capture, too, after %+v: %+v, %v", after, lag, err)
		}
	}
	if all.CaptureLag != nil || idle.CaptureLag != nil {
		t.Errorf("nobody asked for the lag of capture: %+v, %+v", all, idle)
	}
}

func (x *sourceTest) batch(t *testing.T) {
	req := plugin.PlanBatchRequest{Table: x.Table, Start: x.start, End: x.newest}
	plan, err := x.source.PlanBatch(t.Context(), req)
	if err != nil || len(plan.Ranges) == 0 || plan.Schema == nil {
		t.Fatalf("%+v, %v", plan, err)
	}
	again, err := x.source.PlanBatch(t.Context(), req)
	if err != nil || !reflect.DeepEqual(again.Ranges, plan.Ranges) || !reflect.DeepEqual(again.Events, plan.Events) {
		t.Errorf("the second plan is %+v, %v; the first %+v", again, err, plan)
	}
	total := int64(0)
	for i, r := range plan.Ranges {
		var first []string
		for attempt := range 2 { // a range can be read again
			frames, err := x.source.Read(t.Context(), plugin.ReadRequest{Table: x.Table, Range: r})
			list, end := read(t, frames, err)
			if attempt == 1 {
				same(t, "a range read again", list, first)
				continue
			}
			first = list
			total += end.Rows
			x.rangeEnd(t, list, end)
			if end.Metrics != nil && end.Metrics.Last != (i == len(plan.Ranges)-1) {
				t.Errorf("range %d of %d ends with metrics of the last: %v", i, len(plan.Ranges), end.Metrics.Last)
			}
		}
	}
	if total != x.Changes {
		t.Errorf("the ranges hold %d rows, the log %d", total, x.Changes)
	}
	captured := x.info.Schema.Field(x.info.Schema.NumFields() - 1).Name
	frames, err := x.source.Read(t.Context(), plugin.ReadRequest{Table: x.Table, Range: plan.Ranges[0], Columns: x.info.Key})
	list, _ := read(t, frames, err)
	if !slices.Contains(x.info.Key, captured) && len(column(list, captured)) > 0 {
		t.Errorf("a read of the key columns alone has %q: %q", captured, list)
	}
	if len(list) > 0 && len(column(list, plugin.ColumnStartLSN)) == 0 {
		t.Errorf("a projection left out the metadata columns: %q", list)
	}
}

// rangeEnd compares an End frame with the rows that it ends.
func (x *sourceTest) rangeEnd(t *testing.T, list []string, end plugin.End) {
	t.Helper()
	if int64(len(list)) != end.Rows {
		t.Errorf("End counts %d rows of %d", end.Rows, len(list))
	}
	counted := int64(0)
	for _, n := range end.Operations {
		counted += n
	}
	if counted != end.Rows {
		t.Errorf("End counts %d operations of %d rows: %v", counted, end.Rows, end.Operations)
	}
	positions := column(list, plugin.ColumnStartLSN)
	if len(positions) == 0 {
		return
	}
	least, greatest := slices.Min(positions), slices.Max(positions)
	if end.Least.Text != least || end.Greatest.Text != greatest {
		t.Errorf("End says %q to %q, the rows are at %q to %q", end.Least.Text, end.Greatest.Text, least, greatest)
	}
	if least <= x.start.Text || greatest > x.newest.Text {
		t.Errorf("rows at %q to %q do not lie in (%q, %q]", least, greatest, x.start.Text, x.newest.Text)
	}
}

func (x *sourceTest) leave(t *testing.T) {
	plan, err := x.source.PlanBatch(t.Context(), plugin.PlanBatchRequest{Table: x.Table, Start: x.start, End: x.newest})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 * x.source.Limits().MaxReads {
		frames, err := x.source.Read(t.Context(), plugin.ReadRequest{Table: x.Table, Range: plan.Ranges[0]})
		if err != nil {
			t.Fatal(err)
		}
		if f, err := frames.Recv(); err != nil || f.Begin == nil {
			t.Fatalf("the first frame is %+v, %v", f, err)
		}
		if err := errors.Join(frames.Close(), frames.Close()); err != nil {
			t.Errorf("closing a read twice: %v", err)
		}
	}
}

func (x *sourceTest) chunks(t *testing.T) {
	info, err := x.source.OpenSnapshot(t.Context(), plugin.OpenSnapshotRequest{Table: x.Table})
	if err != nil {
		t.Fatal(err)
	}
	if info.Stamp.Compare(x.newest) < 0 || info.Schema == nil || !slices.Contains(x.info.Instances, info.CaptureInstance) {
		t.Errorf("snapshot %+v after %+v", info, x.newest)
	}
	for name, req := range map[string]plugin.PlanChunksRequest{
		"by rows":  {ChunkRows: max(x.Rows/3, 1)},
		"by parts": {Parts: 2},
	} {
		req.Table, req.Keys, req.Extent = x.Table, info.Keys, info.Extent
		list, err := x.source.PlanChunks(t.Context(), req)
		if err != nil || len(list) == 0 {
			t.Fatalf("%s: %+v, %v", name, list, err)
		}
		total, lo := int64(0), ""
		for i, c := range list {
			if c.Lo != lo || int(c.Index) != i || c.Last != (i == len(list)-1) {
				t.Errorf("%s: chunk %d is %+v and the one before ends at %q", name, i, c, lo)
			}
			lo = c.Hi
			frames, err := x.source.Read(t.Context(), plugin.ReadRequest{Table: x.Table, Chunk: &c, Keys: info.Keys, Stamp: info.Stamp})
			rows, end := read(t, frames, err)
			total += end.Rows
			for _, at := range column(rows, plugin.ColumnStartLSN) {
				if at != info.Stamp.Text {
					t.Fatalf("%s: a snapshot row is at %q, the stamp at %q", name, at, info.Stamp.Text)
				}
			}
			if end.Operations[plugin.OpSnapshot] != end.Rows || end.High.Compare(info.Stamp) < 0 {
				t.Errorf("%s: chunk %d ended with %+v", name, i, end)
			}
		}
		if total != x.Rows {
			t.Errorf("%s: the chunks hold %d rows, the table %d", name, total, x.Rows)
		}
	}
}

func (x *sourceTest) lost(t *testing.T) {
	res, err := x.source.Lost(t.Context(), plugin.LostRequest{Table: x.Table, Positions: []plugin.Position{x.start, x.newest}})
	if err != nil || !slices.Equal(res.Lost, []bool{false, false}) {
		t.Errorf("%+v, %v", res, err)
	}
}

func (x *sourceTest) count(t *testing.T) {
	frames, err := x.source.Aggregate(t.Context(), plugin.AggregateRequest{Table: x.Table, Kind: plugin.AggregateCount, Keys: x.info.Key})
	list, _ := read(t, frames, err)
	if len(list) != 1 || !slices.Equal(column(list, "n"), []string{strconv.FormatInt(x.Rows, 10)}) {
		t.Errorf("the count of %d rows is %q", x.Rows, list)
	}
}

func (x *sourceTest) advance(t *testing.T) {
	x.Advance(t, x.plugin)
	next, err := x.source.Latest(t.Context(), plugin.LatestRequest{Table: x.Table, After: x.newest})
	if err != nil || next.End.Compare(x.newest) <= 0 {
		t.Fatalf("after a commit the batch ends at %+v, %v; before at %+v", next.End, err, x.newest)
	}
	plan, err := x.source.PlanBatch(t.Context(), plugin.PlanBatchRequest{Table: x.Table, Start: x.newest, End: next.End})
	if err != nil {
		t.Fatal(err)
	}
	inserts := int64(0)
	for _, r := range plan.Ranges {
		frames, err := x.source.Read(t.Context(), plugin.ReadRequest{Table: x.Table, Range: r})
		_, end := read(t, frames, err)
		inserts += end.Operations[plugin.OpInsert]
	}
	if inserts != 1 {
		t.Errorf("the batch holds %d inserts", inserts)
	}
}
