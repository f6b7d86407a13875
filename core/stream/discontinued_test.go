package stream_test

import (
	"context"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/stream"
)

// lackingSource gives no more values of the column note from a position on.
type lackingSource struct {
	plugin.Source
	from plugin.Position
}

func (s lackingSource) PlanBatch(ctx context.Context, req plugin.PlanBatchRequest) (plugin.BatchPlan, error) {
	out, err := s.Source.PlanBatch(ctx, req)
	if req.End.Compare(s.from) > 0 {
		out.Discontinued = []string{"note"}
	}
	return out, err
}

// accept does what apply does when it accepts that columns are left out.
func (w *world) accept(t *testing.T, names string) {
	t.Helper()
	source, tables := w.db.Open(), w.lake.Open()
	got, err := source.Inspect(t.Context(), plugin.InspectRequest{Tables: []plugin.SourceTable{w.table(1)}})
	if err != nil {
		t.Fatal(err)
	}
	spec, err := stream.BronzeSpec(plugin.TableRef{Name: bronze}, got.Tables[0].Schema)
	if err != nil {
		t.Fatal(err)
	}
	spec.Properties[stream.LeftOutProperty], spec.Converge = names, append(spec.Converge, stream.LeftOutProperty)
	if _, err := tables.ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: spec}); err != nil {
		t.Fatal(err)
	}
}

func TestABatchWithoutAColumnThatTheTableHasWaitsUntilItIsAccepted(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.create(t)
	w.insert(1, 1)
	at := w.mustRun(t).End
	w.insert(2, 2)
	lacking := func(c *stream.Config) { c.Source = lackingSource{c.Source, at} }
	for range 2 { // also the offset that the first one stored
		_, err := w.run(nil, lacking)
		w.later()
		if kind := diag.KindOf(err); kind != diag.KindStale || !diag.HasCode(err, stream.CodeDiscontinued) || !strings.Contains(err.Error(), "column note of bronze.orders") {
			t.Fatalf("kind %s, %v", kind, err)
		}
		if n := len(w.lake.Rows(bronze)); n != 1 {
			t.Errorf("bronze has %d rows", n)
		}
	}
	w.accept(t, `["NOTE"]`)
	w.mustRun(t, lacking)
	if n := len(w.lake.Rows(bronze)); n != 2 {
		t.Errorf("bronze has %d rows", n)
	}
}
