package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// The table of snapshot plans stands beside a bronze table and holds what facts
// must not: the key values of a chunked snapshot. Its columns are snapshot,
// event and detail, one row per snapshot_open, snapshot_plan and snapshot_chunk
// row of the facts. Here it is read; it is written where chunked snapshots are
// opened and read in waves, which comes with them.
const plansSuffix = "_snapshot_plans"

// PlansTable names the plans of a bronze table.
func PlansTable(bronze plugin.TableRef) plugin.TableRef {
	return plugin.TableRef{Name: plansName(bronze.Name), Path: plansName(bronze.Path)}
}

func plansName(bronze string) string {
	if bronze == "" {
		return ""
	}
	bronze = strings.TrimRight(bronze, "/")
	if name, quoted := strings.CutSuffix(bronze, "`"); quoted {
		return name + plansSuffix + "`"
	}
	return bronze + plansSuffix
}

// planRow is one row of the plans.
type planRow struct{ event, detail string }

// plans reads the rows of one snapshot.
func (l *Ledger) plans(ctx context.Context, bronze plugin.TableRef, snapshot, event string) ([]planRow, error) {
	var out []planRow
	filter := where(equal("snapshot", snapshot), equal("event", event))
	err := l.scan(ctx, PlansTable(bronze), []string{"snapshot", "event", "detail"}, filter, func(b batch) error {
		for i := range b.rows() {
			if b.text("snapshot", i) == snapshot && b.text("event", i) == event {
				out = append(out, planRow{event, b.text("detail", i)})
			}
		}
		return nil
	})
	return out, err
}

// lostKeys says that key values are in neither place.
func lostKeys(bronze plugin.TableRef, what, snapshot string) error {
	return diag.Errorf(diag.KindConfiguration, "ledger.plans_missing",
		"Was that table dropped, or is bronze named differently here than where the snapshot is read?",
		"The key values of %s of the snapshot at %s are neither in the facts nor in %s", what, snapshot, PlansTable(bronze).Name).Err()
}

// snapshotKeys returns the columns that a chunked snapshot is cut on.
func (l *Ledger) snapshotKeys(ctx context.Context, bronze plugin.TableRef, open SnapshotRow) ([]string, error) {
	if open.keys != nil {
		return open.keys, nil
	}
	rows, err := l.plans(ctx, bronze, open.Stamp.Text, EventSnapshotOpen)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		var d struct {
			Keys []string `json:"keys"`
		}
		if err := json.Unmarshal([]byte(r.detail), &d); err != nil {
			return nil, fmt.Errorf("plan of the snapshot at %s: %w", open.Stamp.Text, err)
		}
		if d.Keys != nil {
			return d.Keys, nil
		}
	}
	return nil, lostKeys(bronze, "the opening", open.Stamp.Text)
}

// chunkDetail is the payload of a chunk's row. A facts row that holds lo or hi
// is whole; else the bounds are in the plans.
type chunkDetail struct {
	Snapshot string          `json:"snapshot"`
	Wave     int32           `json:"wave"`
	Chunk    int32           `json:"chunk"`
	Last     bool            `json:"last"`
	Lo       json.RawMessage `json:"lo"`
	Hi       json.RawMessage `json:"hi"`
}

func (d chunkDetail) whole() bool { return d.Lo != nil || d.Hi != nil }

// bound is the text of a bound, "" for an open end.
func bound(raw json.RawMessage) string {
	if raw == nil || string(raw) == "null" {
		return ""
	}
	return string(raw)
}

// Chunks lists the recorded chunks of a snapshot of bronze, as they are: a chunk
// that was recorded twice stands there twice. They are ordered by index, then
// wave.
func (l *Ledger) Chunks(ctx context.Context, bronze plugin.TableRef, snapshot string) ([]plugin.ChunkRow, error) {
	var (
		out     []plugin.ChunkRow
		details []chunkDetail
	)
	columns := []string{"event", "target", "rows", "min_lsn", "max_lsn", "detail"}
	filter := where(equal("target", bronze.Name), equal("event", EventSnapshotChunk))
	err := l.scan(ctx, l.facts, columns, filter, func(b batch) error {
		for i := range b.rows() {
			if b.text("target", i) != bronze.Name || b.text("event", i) != EventSnapshotChunk {
				continue
			}
			var d chunkDetail
			if err := json.Unmarshal([]byte(b.text("detail", i)), &d); err != nil {
				return fmt.Errorf("detail of a chunk row: %w", err)
			}
			if d.Snapshot != snapshot {
				continue
			}
			row := plugin.ChunkRow{Index: d.Chunk, Wave: d.Wave, Stamp: b.text("min_lsn", i), High: b.text("max_lsn", i), Last: d.Last}
			if n := b.int64("rows", i); n != nil {
				row.Rows = *n
			}
			row.Lo, row.Hi = bound(d.Lo), bound(d.Hi)
			out, details = append(out, row), append(details, d)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(details, func(d chunkDetail) bool { return !d.whole() }) {
		if err := l.fillBounds(ctx, bronze, snapshot, out, details); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(out, func(a, b plugin.ChunkRow) int {
		if a.Index != b.Index {
			return int(a.Index) - int(b.Index)
		}
		return int(a.Wave) - int(b.Wave)
	})
	return out, nil
}

// fillBounds takes the bounds that facts do not hold from the plans.
func (l *Ledger) fillBounds(ctx context.Context, bronze plugin.TableRef, snapshot string, out []plugin.ChunkRow, details []chunkDetail) error {
	plans, err := l.plans(ctx, bronze, snapshot, EventSnapshotChunk)
	if err != nil {
		return err
	}
	type key struct{ chunk, wave int32 }
	planned := map[key]chunkDetail{}
	for _, p := range plans {
		var d chunkDetail
		if err := json.Unmarshal([]byte(p.detail), &d); err != nil {
			return fmt.Errorf("plan of a chunk of the snapshot at %s: %w", snapshot, err)
		}
		planned[key{d.Chunk, d.Wave}] = d
	}
	for i, d := range details {
		if d.whole() {
			continue
		}
		p, ok := planned[key{d.Chunk, d.Wave}]
		if !ok {
			return lostKeys(bronze, fmt.Sprintf("chunk %d (wave %d)", d.Chunk, d.Wave), snapshot)
		}
		out[i].Lo, out[i].Hi = bound(p.Lo), bound(p.Hi)
	}
	return nil
}
