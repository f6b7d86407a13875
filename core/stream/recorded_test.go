package stream_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
)

// recorded is one line of a recorded history, see testdata/README.md.
type recorded struct {
	Kind string
	// A commit.
	LSN  string
	Time string
	Ops  []struct {
		Op            string
		Before, After *int
	}
	// A step.
	Name, Action string
	Args         struct {
		Table       string
		Granularity string
		Bootstrap   bool
		Options     map[string]string
		Offset      *struct {
			LSN      string
			CommitTS string `json:"commit_ts"`
		}
		PeriodEnds []string `json:"period_ends"`
	}
	Result struct {
		FinalizedUntil *string         `json:"finalized_until"`
		IsFinal        map[string]bool `json:"is_final"`
		Freshness      *struct {
			FinalizedUntil *string `json:"finalized_until"`
		}
		EndOffset *struct{ LSN string } `json:"end_offset"`
	}
	Facts, Control []map[string]any
}

// replay is a recorded history on its way through the fakes.
type replay struct {
	*world
	positions map[string]plugin.Position // recorded position -> ours
	facts     int                        // facts rows compared so far
}

// TestRecordedHistories carries recorded histories out and compares facts,
// control, verdicts and positions after every step.
func TestRecordedHistories(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, schema, app, source string }{
		{"full", "g_full.", "orders-v1", "bronze_orders"},
		{"days", "g_days.", "sensors-v1", "bronze_sensors"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := &replay{world: newWorld(), positions: map[string]plugin.Position{}}
			r.create(t)
			f, err := os.Open("testdata/" + tt.name + ".ndjson")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			lines := bufio.NewScanner(f)
			lines.Buffer(nil, 1<<20)
			steps := 0
			for lines.Scan() {
				// The recorded names are put where ours stand.
				text := strings.ReplaceAll(lines.Text(), tt.schema+tt.source+`"`, bronze+`"`)
				text = strings.ReplaceAll(text, `"`+tt.app+`"`, `"orders-v1"`)
				text = strings.ReplaceAll(text, `"`+tt.source+`"`, `"`+bronze+`"`)
				text = strings.ReplaceAll(text, tt.schema, "")
				var rec recorded
				if err := json.Unmarshal([]byte(text), &rec); err != nil {
					t.Fatal(err)
				}
				if rec.Kind == "commit" {
					r.commit(t, rec)
					continue
				}
				steps++
				if err := r.step(t, rec); err != nil {
					t.Fatalf("step %s: %v", rec.Name, err)
				}
			}
			if lines.Err() != nil || steps < 15 {
				t.Fatalf("%d steps, %v", steps, lines.Err())
			}
		})
	}
}

func (r *replay) commit(t *testing.T, rec recorded) {
	t.Helper()
	when, err := time.Parse("2006-01-02T15:04:05", rec.Time)
	if err != nil {
		t.Fatal(err)
	}
	var changes []memory.Change
	for _, op := range rec.Ops {
		switch op.Op {
		case "insert":
			changes = append(changes, memory.Insert(orders, memory.Row{"id": *op.After}))
		case "delete":
			changes = append(changes, memory.Delete(orders, memory.Row{"id": *op.Before}))
		case "update":
			changes = append(changes, memory.Update(orders, memory.Row{"id": *op.Before}, memory.Row{"id": *op.After}))
		default:
			t.Fatalf("operation %q", op.Op)
		}
	}
	r.positions[rec.LSN] = r.db.Commit(when, changes...)
}

func (r *replay) step(t *testing.T, rec recorded) error {
	ctx := context.Background()
	books := ledger.New(r.lake.Open(), ledger.Options{Facts: facts, Control: verds, Clock: r.clock})
	switch rec.Action {
	case "stream":
		options := []option{granular(ledger.Granularity(rec.Args.Granularity))}
		if rec.Args.Bootstrap {
			options = append(options, bootstrap)
		}
		if n := rec.Args.Options["maxCommitsPerBatch"]; n != "" {
			commits := 0
			if _, err := fmt.Sscan(n, &commits); err != nil {
				return err
			}
			options = append(options, maxCommits(commits))
		}
		result := r.mustRun(t, options...)
		if want := r.positions[rec.Result.EndOffset.LSN]; result.End != want {
			return fmt.Errorf("the stream stands at %v, want %v", result.End, want)
		}
		if err := sameVerdict(result.Verdict, rec.Result.FinalizedUntil); err != nil {
			return err
		}
	case "advance":
		var end plugin.Position
		if o := rec.Args.Offset; o != nil {
			end = r.positions[o.LSN]
			end.HasCommit = o.CommitTS != ""
		}
		got, err := books.Advance(ctx, rec.Args.Table, end, ledger.Granularity(rec.Args.Granularity))
		if err != nil {
			return err
		}
		if err := sameVerdict(got, rec.Result.FinalizedUntil); err != nil {
			return err
		}
	case "apply":
		// What silver reports is taken from the record; what the ledger makes of it
		// is compared.
		target := "silver_" + rec.Args.Table
		view := books.View(ledger.ViewOptions{Bronze: plugin.TableRef{Name: bronze}, Targets: []plugin.TableRef{{Name: target}}, Granularity: ledger.Granularity(rec.Args.Granularity)})
		seen, err := view.ReadLedger(ctx, target)
		if err != nil {
			return err
		}
		at := seen.Position
		for _, row := range rec.Control {
			if row["table_name"] == target {
				at = plugin.TargetPosition{Applied: r.text(row["applied_lsn"]), RebuiltFrom: r.text(row["snapshot_lsn"])}
			}
		}
		got, err := view.Advance(ctx, plugin.AdvanceRequest{Target: target, Position: at})
		if err != nil {
			return err
		}
		if err := sameVerdict(got, rec.Result.FinalizedUntil); err != nil {
			return err
		}
	case "finality":
		fresh, err := books.Freshness(ctx, rec.Args.Table)
		if err != nil {
			return err
		}
		if err := sameVerdict(fresh.FinalizedUntil, rec.Result.Freshness.FinalizedUntil); err != nil {
			return err
		}
		for _, text := range rec.Args.PeriodEnds {
			end, err := time.Parse(time.RFC3339, text)
			if err != nil {
				end, err = time.Parse("2006-01-02T15:04:05", text)
			}
			if err != nil {
				return err
			}
			got, err := books.IsFinal(ctx, rec.Args.Table, end)
			if err != nil {
				return err
			}
			if got != rec.Result.IsFinal[text] {
				return fmt.Errorf("final at %s: got %v", text, got)
			}
		}
	}
	return r.compare(rec)
}

func (r *replay) text(recorded any) string {
	s, _ := recorded.(string)
	return r.positions[s].Text
}

func sameVerdict(got *int64, want *string) error {
	var text string
	if got != nil {
		text = plugin.Position{CommitMicros: *got, HasCommit: true}.CommitText()
	}
	if want == nil && got == nil || want != nil && text == *want {
		return nil
	}
	return fmt.Errorf("verdict %q, want %v", text, want)
}

// compare looks at the facts rows that came and at the whole control table.
func (r *replay) compare(rec recorded) error {
	all := r.lake.Rows(facts)
	if err := r.same(all[r.facts:], rec.Facts); err != nil {
		return fmt.Errorf("facts: %w", err)
	}
	r.facts = len(all)
	if rec.Control != nil {
		if err := r.same(r.lake.Rows(verds), rec.Control); err != nil {
			return fmt.Errorf("control: %w", err)
		}
	}
	return nil
}

func (r *replay) same(got, want []map[string]any) error {
	form := func(rows []map[string]any, one func(string, any) string) []string {
		var out []string
		for _, row := range rows {
			var cells []string
			for name, v := range row {
				// The fake source has no clock, and the reference knows a table by its name.
				if slices.Contains([]string{"capture_lag_seconds", "table_path", "table_id"}, name) || v == nil {
					continue
				}
				cells = append(cells, name+"="+one(name, v))
			}
			slices.Sort(cells)
			out = append(out, strings.Join(cells, " "))
		}
		slices.Sort(out)
		return out
	}
	clocked := append([]string{"read_seconds", "read_mb"}, volatile...)
	ours := form(got, func(name string, v any) string {
		if slices.Contains(clocked, name) {
			return "<volatile>"
		}
		if at, ok := v.(time.Time); ok {
			return at.Format("2006-01-02T15:04:05.000000")
		}
		return fmt.Sprint(v)
	})
	theirs := form(want, func(_ string, v any) string {
		if s, ok := v.(string); ok {
			if p, known := r.positions[s]; known {
				return p.Text
			}
		}
		return fmt.Sprint(v)
	})
	if !slices.Equal(ours, theirs) {
		return fmt.Errorf("got\n  %s\nwant\n  %s", strings.Join(ours, "\n  "), strings.Join(theirs, "\n  "))
	}
	return nil
}
