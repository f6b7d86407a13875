package run

import (
	"context"

	"github.com/pipectl/pipectl/core/plugin"
)

// askedTables are the tables of a sink as one asks them who only looks.
type askedTables struct {
	plugin.Tables
	attention *attention
}

func (t askedTables) GetTables(ctx context.Context, req plugin.GetTablesRequest) ([]plugin.TableState, error) {
	return ask(t.attention, "what its tables are", func() ([]plugin.TableState, error) { return t.Tables.GetTables(ctx, req) })
}

func (t askedTables) PlanTable(ctx context.Context, spec plugin.TableSpec) (plugin.TablePlan, error) {
	return ask(t.attention, "what becomes of "+spec.Table.Name, func() (plugin.TablePlan, error) { return t.Tables.PlanTable(ctx, spec) })
}

func (t askedTables) Scan(ctx context.Context, req plugin.ScanRequest) (plugin.FrameReader, error) {
	return askFrames(t.attention, "rows of "+req.Table.Name, func() (plugin.FrameReader, error) { return t.Tables.Scan(ctx, req) })
}

func (t askedTables) History(ctx context.Context, req plugin.HistoryRequest) ([]plugin.Commit, error) {
	return ask(t.attention, "the commits of "+req.Table.Name, func() ([]plugin.Commit, error) { return t.Tables.History(ctx, req) })
}

// askedObjects is what of them the state asks for: a text in the lake, or which
// there are.
const askedObjects = "its objects"

func (t askedTables) GetObject(ctx context.Context, key string) (obj plugin.Object, found bool, err error) {
	obj, err = ask(t.attention, askedObjects, func() (out plugin.Object, err error) {
		out, found, err = t.Tables.GetObject(ctx, key)
		return out, err
	})
	return obj, found, err
}

func (t askedTables) ListObjects(ctx context.Context, prefix, startAfter string) ([]string, error) {
	return ask(t.attention, askedObjects, func() ([]string, error) { return t.Tables.ListObjects(ctx, prefix, startAfter) })
}

// ProbeObjects implements plugin.ObjectProber where the tables do.
func (t askedTables) ProbeObjects(ctx context.Context, prefix string) error {
	prober, ok := t.Tables.(plugin.ObjectProber)
	if !ok {
		return nil
	}
	_, err := ask(t.attention, askedObjects, func() (struct{}, error) { return struct{}{}, prober.ProbeObjects(ctx, prefix) })
	return err
}
