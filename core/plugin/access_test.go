package plugin_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
)

// seen records the tables that calls reach the sink with.
type seen struct {
	plugin.Tables
	tables []plugin.TableRef
}

func (s *seen) GetTables(_ context.Context, req plugin.GetTablesRequest) ([]plugin.TableState, error) {
	s.tables = append(s.tables, req.Tables...)
	return nil, nil
}

func (s *seen) PlanTable(_ context.Context, spec plugin.TableSpec) (plugin.TablePlan, error) {
	s.tables = append(s.tables, spec.Table)
	return plugin.TablePlan{}, nil
}

func (s *seen) ApplyTable(_ context.Context, req plugin.ApplyTableRequest) (plugin.ApplyTableResult, error) {
	s.tables = append(s.tables, req.Spec.Table)
	return plugin.ApplyTableResult{}, nil
}

func (s *seen) Scan(_ context.Context, req plugin.ScanRequest) (plugin.FrameReader, error) {
	s.tables = append(s.tables, req.Table)
	return nil, nil
}

func (s *seen) History(_ context.Context, req plugin.HistoryRequest) ([]plugin.Commit, error) {
	s.tables = append(s.tables, req.Table)
	return nil, nil
}

func (s *seen) BeginWrite(_ context.Context, req plugin.BeginWriteRequest) (plugin.BeginWriteResponse, error) {
	s.tables = append(s.tables, req.Table)
	return plugin.BeginWriteResponse{}, nil
}

// A sink looks at the path before the name, so a step must not choose it.
func TestAStepReachesItsTablesWhereTheConfigurationPutsThem(t *testing.T) {
	t.Parallel()
	bronze, silver, report := plugin.TableRef{Name: "bronze.orders", Path: "raw/orders"}, plugin.TableRef{Name: "silver.orders"}, plugin.TableRef{Name: "ops.report", Path: "r"}
	elsewhere := func(t plugin.TableRef) plugin.TableRef { return plugin.TableRef{Name: t.Name, Path: "hr/salaries"} }
	access := plugin.Access{Read: []plugin.TableRef{bronze}, Append: []plugin.TableRef{report}, Merge: []plugin.TableRef{silver}}
	for name, tt := range map[string]struct {
		call func(context.Context, plugin.Tables, plugin.TableRef) error
		may  []plugin.TableRef // of the three
	}{
		"look": {func(ctx context.Context, s plugin.Tables, ref plugin.TableRef) error {
			asked := []plugin.TableRef{ref}
			_, err := s.GetTables(ctx, plugin.GetTablesRequest{Tables: asked})
			if asked[0] != ref {
				t.Error("the caller's list was changed")
			}
			return err
		}, []plugin.TableRef{bronze, silver, report}},
		"plan": {func(ctx context.Context, s plugin.Tables, ref plugin.TableRef) error {
			_, err := s.PlanTable(ctx, plugin.TableSpec{Table: ref})
			return err
		}, []plugin.TableRef{bronze, silver, report}},
		"scan": {func(ctx context.Context, s plugin.Tables, ref plugin.TableRef) error {
			_, err := s.Scan(ctx, plugin.ScanRequest{Table: ref})
			return err
		}, []plugin.TableRef{bronze, silver, report}},
		"history": {func(ctx context.Context, s plugin.Tables, ref plugin.TableRef) error {
			_, err := s.History(ctx, plugin.HistoryRequest{Table: ref})
			return err
		}, []plugin.TableRef{bronze, silver, report}},
		"change": {func(ctx context.Context, s plugin.Tables, ref plugin.TableRef) error {
			_, err := s.ApplyTable(ctx, plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: ref}})
			return err
		}, []plugin.TableRef{silver, report}},
		"append": {func(ctx context.Context, s plugin.Tables, ref plugin.TableRef) error {
			_, err := s.BeginWrite(ctx, plugin.BeginWriteRequest{Table: ref, Mode: plugin.WriteAppend})
			return err
		}, []plugin.TableRef{silver, report}},
		"merge": {func(ctx context.Context, s plugin.Tables, ref plugin.TableRef) error {
			_, err := s.BeginWrite(ctx, plugin.BeginWriteRequest{Table: ref, Mode: plugin.WriteMerge})
			return err
		}, []plugin.TableRef{silver}},
		"overwrite": {func(ctx context.Context, s plugin.Tables, ref plugin.TableRef) error {
			_, err := s.BeginWrite(ctx, plugin.BeginWriteRequest{Table: ref, Mode: plugin.WriteOverwrite})
			return err
		}, []plugin.TableRef{silver}},
	} {
		t.Run(name, func(t *testing.T) {
			sink := &seen{}
			tables := access.Narrow(plugin.Host{Tables: sink}).Tables
			var reached []plugin.TableRef
			for _, ref := range []plugin.TableRef{bronze, silver, report, {Name: "hr.salaries"}} {
				switch err := tt.call(t.Context(), tables, elsewhere(ref)); {
				case err == nil:
					reached = append(reached, ref)
				case !diag.Is(err, diag.KindPermission):
					t.Errorf("%s: %v", ref.Name, err)
				}
			}
			if !reflect.DeepEqual(reached, tt.may) || !reflect.DeepEqual(sink.tables, tt.may) {
				t.Errorf("allowed %v, reached the sink with %v, want %v", reached, sink.tables, tt.may)
			}
		})
	}
}

// A check compares; positions and verdicts are not its to move.
func TestALedgerThatMayBeReadIsNotOneThatMayBeAdvanced(t *testing.T) {
	t.Parallel()
	books := &memory.Ledger{}
	narrow := plugin.Access{Targets: []string{"silver.orders", "silver.lines"}, Advance: []string{"silver.lines"}}.Narrow(plugin.Host{Ledger: books}).Ledger
	for target, want := range map[string]int{"silver.orders": 0, "silver.lines": 1, "silver.other": 0} {
		before := len(books.Advances())
		_, err := narrow.Advance(t.Context(), plugin.AdvanceRequest{Target: target})
		if got := len(books.Advances()) - before; got != want || (err == nil) != (want == 1) || err != nil && !diag.Is(err, diag.KindPermission) {
			t.Errorf("%s: %d advances, %v", target, got, err)
		}
	}
	if _, err := narrow.ReadLedger(t.Context(), "silver.orders"); err != nil {
		t.Errorf("reading: %v", err)
	}
}
