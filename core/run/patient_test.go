package run_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/run"
)

// hangingStore answers a kind of call late.
type hangingStore struct {
	plugin.Tables
	call  string
	takes time.Duration
}

func (s hangingStore) wait(call string) {
	if call == s.call {
		time.Sleep(s.takes)
	}
}

func (s hangingStore) GetObject(ctx context.Context, key string) (plugin.Object, bool, error) {
	s.wait("object")
	return s.Tables.GetObject(ctx, key)
}

func (s hangingStore) GetTables(ctx context.Context, req plugin.GetTablesRequest) ([]plugin.TableState, error) {
	s.wait("tables")
	return s.Tables.GetTables(ctx, req)
}

func (s hangingStore) Scan(ctx context.Context, req plugin.ScanRequest) (plugin.FrameReader, error) {
	s.wait("scan")
	return s.Tables.Scan(ctx, req)
}

// hanging has a store, or the opening of one, that hangs.
type hanging struct {
	*sessions
	store plugin.Tables
	opens time.Duration
}

func (h hanging) Tables(context.Context, addr.Address) (plugin.Tables, error) {
	time.Sleep(h.opens)
	return h.store, nil
}

// Whoever looks at a lake hears that its store does not answer, as of a source.
func TestALakeThatDoesNotAnswerIsTold(t *testing.T) {
	t.Parallel()
	for call, what := range map[string]string{
		"open":   "to open",
		"object": "its objects",
		"tables": "what its tables are",
		"scan":   "rows of ops.table_finalization",
	} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, "orders")
				w.mustExecute(true)
				_, _, s := w.plan()
				store := hanging{sessions: s, store: hangingStore{w.plugin.Lake.Open(), call, 90 * time.Second}}
				if call == "open" {
					store.opens = 90 * time.Second
				}
				var got []string
				patient := run.NewPatient(store, time.Now,
					func(a addr.Address, d diag.Diagnostic) {
						got = append(got, fmt.Sprintf("%s %s: %s", d.Severity, d.Code, d.Summary))
						if !strings.Contains(d.Detail, "store") {
							t.Errorf("%s", d.Detail)
						}
					},
					func(a addr.Address, waited time.Duration) {
						got = append(got, fmt.Sprintf("goes on: %s after %s", a, waited))
					})
				lake, err := planner.OpenLake(t.Context(), w.cfg, &w.cfg.Sinks[0], patient, planner.LakeOptions{Clock: w.now})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := lake.Ledger.ControlRows(t.Context(), "bronze.orders"); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Hour) // nothing is asked any more
				patient.End()
				want := []string{"Warning run.no_answer: sink.lake was asked " + what + ", and has not answered for 60 s", "goes on: sink.lake after 1m30s"}
				if len(got) < 2 || !slices.Equal(got[:2], want) {
					t.Errorf("heard\n%s", strings.Join(got, "\n"))
				}
			})
		})
	}
}
