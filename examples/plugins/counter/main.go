// Counter is a source that needs no server: a table of counters that are
// turned one after the other. Commit n sets counter (n-1) mod keys + 1 to n, so
// two numbers are the whole history and every read can be repeated. It shows
// what a third party writes for a source: five calls over the SDK.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/sdk"
)

func main() { sdk.Serve(newCounter) }

const instance = "counter" // what _capture_instance holds

var captured = []arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "value", Type: arrow.PrimitiveTypes.Int64}}

type counterPlugin struct{ sdk.UnimplementedPlugin }

func newCounter(*slog.Logger) plugin.Plugin { return counterPlugin{} }

func (counterPlugin) Describe(context.Context) (plugin.Description, error) {
	return plugin.Description{Name: "example/counter", Version: "1.0.0", Components: []plugin.Component{{
		Role: plugin.RoleSource, Type: "counter", Description: "Counters that are turned one after the other.",
		Connection: sdk.NewSchema("What has happened so far.").
			Attribute("commits", cty.Number, "How many commits there are.", sdk.Required()).Body(),
		Object: sdk.NewSchema("The table of counters.").
			Attribute("keys", cty.Number, "How many counters there are.", sdk.Default(cty.NumberIntVal(10))).Body(),
	}}}, nil
}

func (counterPlugin) OpenSource(_ context.Context, req plugin.OpenRequest) (plugin.Source, error) {
	if req.Component != "counter" {
		return nil, sdk.Unsupported("OpenSource of " + req.Component)
	}
	commits, err := sdk.Int(req.Config, "commits")
	return &source{commits: commits}, err
}

type source struct {
	sdk.UnimplementedSource
	commits int64
}

func (*source) Limits() plugin.Limits { return plugin.Limits{MaxReads: 4} }
func (*source) Close() error          { return nil }

// at is the position of a commit: its number with leading zeros, so that texts
// sort as numbers do; 0 lies before the first. One commit a second in 2026.
func at(n int64) plugin.Position {
	return plugin.At(fmt.Sprintf("%020d", n), time.Date(2026, 1, 1, 0, 0, int(n), 0, time.UTC))
}

// number is the inverse of at.
func number(position string) (int64, error) {
	n, err := strconv.ParseInt(position, 10, 64)
	if err != nil || n < 0 || at(n).Text != position {
		return 0, diag.Errorf(diag.KindConfiguration, "counter.position", "It has 20 digits.", "%q is no position of a counter", position).Err()
	}
	return n, nil
}

func (s *source) Inspect(_ context.Context, req plugin.InspectRequest) (plugin.InspectResponse, error) {
	out := plugin.InspectResponse{Identity: "counter", Display: "a counter", Newest: at(s.commits)}
	for _, table := range req.Tables {
		info := plugin.TableInfo{Address: table.Address, Object: "counters", Identity: "counters", Key: []string{"id"},
			Instances: []string{instance}, RowsEstimate: -1, Oldest: at(1), Pending: -1}
		changes, err := sdk.NewChangeRows(captured, table, nil, instance)
		if err == nil {
			info.Schema = changes.Schema
		}
		info.Diagnostics = diag.FromError(err) // of this table; the others are inspected
		out.Tables = append(out.Tables, info)
	}
	return out, nil
}

func (s *source) Start(_ context.Context, req plugin.StartRequest) (plugin.Position, error) {
	switch req.From {
	case "earliest":
		return at(0), nil
	case "latest":
		return at(s.commits), nil
	}
	n, err := number(req.From)
	return at(n), err
}

func (s *source) Latest(_ context.Context, req plugin.LatestRequest) (plugin.LatestResponse, error) {
	after, err := number(req.After.Text)
	end := at(max(s.commits, after))
	if req.MaxCommits > 0 {
		end = at(min(s.commits, after+int64(req.MaxCommits)))
	}
	if !req.Until.IsZero() && end.Compare(req.Until) > 0 {
		end = req.Until
	}
	return plugin.LatestResponse{End: end, Newest: at(s.commits)}, err
}

// PlanBatch: the two positions are all that reading the batch needs.
func (*source) PlanBatch(_ context.Context, req plugin.PlanBatchRequest) (plugin.BatchPlan, error) {
	changes, err := sdk.NewChangeRows(captured, req.Table, nil, instance)
	if err != nil {
		return plugin.BatchPlan{}, err
	}
	return plugin.BatchPlan{Ranges: []plugin.Range{plugin.Range(req.Start.Text + req.End.Text)}, Schema: changes.Schema}, nil
}

func (*source) Read(ctx context.Context, req plugin.ReadRequest) (plugin.FrameReader, error) {
	changes, err := sdk.NewChangeRows(captured, req.Table, req.Columns, instance)
	if err != nil {
		return nil, err
	}
	keys, err := sdk.Int(req.Table.Object, "keys")
	if err != nil {
		return nil, err
	}
	var first, last int64
	if _, err := fmt.Sscanf(string(req.Range), "%20d%20d", &first, &last); err != nil {
		return nil, fmt.Errorf("the range %q: %w", req.Range, err)
	}
	return changes.Produce(ctx, func(_ context.Context, w *sdk.ChangeWriter) error {
		ids, values := w.Captured(0).(*array.Int64Builder), w.Captured(1).(*array.Int64Builder)
		for n := first + 1; n <= last; n++ {
			operation := plugin.OpInsert
			if n > keys {
				operation = plugin.OpUpdateAfter
			}
			if err := w.Row(at(n), operation); err != nil {
				return err
			}
			ids.Append((n-1)%keys + 1)
			values.Append(n)
		}
		return nil
	}), nil
}
