package view

import (
	"time"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/run"
)

type diagnostic = diag.Diagnostic

// jsonTime is the form of verdicts and commit times in JSON output.
const jsonTime = "2006-01-02T15:04:05.000Z"

func microsText(micros *int64) *string {
	if micros == nil {
		return nil
	}
	text := time.UnixMicro(*micros).UTC().Format(jsonTime)
	return &text
}

func streamResult(r *run.StepResult) any {
	var snapshot *int64
	if r.Stream.SnapshotRows >= 0 {
		snapshot = &r.Stream.SnapshotRows
	}
	return struct {
		Batches      int64   `json:"batches"`
		Rows         int64   `json:"rows"`
		SnapshotRows *int64  `json:"snapshot_rows"`
		Position     string  `json:"position"`
		CommitTS     string  `json:"commit_ts"`
		Verdict      *string `json:"finalized_until"`
	}{r.Stream.Batches, r.Stream.Rows, snapshot, r.Stream.End.Text, r.Stream.End.CommitText(), microsText(r.Stream.Verdict)}
}

func silverResult(r *run.StepResult) any {
	return struct {
		Rebuilt  bool    `json:"rebuilt"`
		Read     int64   `json:"rows_read"`
		Inserted int64   `json:"inserted"`
		Updated  int64   `json:"updated"`
		Deleted  int64   `json:"deleted"`
		Applied  string  `json:"applied"`
		Version  int64   `json:"version"`
		Verdict  *string `json:"finalized_until"`
	}{r.Silver.Rebuilt, r.Silver.RowsRead, r.Silver.Inserted, r.Silver.Updated, r.Silver.Deleted, r.Silver.Position.Applied, r.Silver.Version, microsText(r.Silver.Verdict)}
}

// jsonFinding is a finding; the key and the bounds are JSON in text.
type jsonFinding struct {
	Kind    string   `json:"kind"`
	Key     string   `json:"key,omitempty"`
	Columns []string `json:"columns,omitempty"`
	Lo      string   `json:"from,omitempty"`
	Hi      string   `json:"below,omitempty"`
	Detail  string   `json:"detail,omitempty"`
}

func checkResult(r *run.StepResult) any {
	c := r.Check
	failures := c.Failures
	if failures == nil {
		failures = map[string]int64{}
	}
	return struct {
		RunID    string           `json:"run_id"`
		Outcome  string           `json:"outcome"`
		Buckets  int64            `json:"buckets"`
		Match    int64            `json:"match"`
		InFlight int64            `json:"in_flight"`
		Mismatch int64            `json:"mismatch"`
		Hashed   int64            `json:"hashed"`
		Failures map[string]int64 `json:"failures"`
		Source   int64            `json:"source_rows"`
		Silver   int64            `json:"silver_rows"`
		Version  int64            `json:"silver_version"`
	}{c.RunID, string(c.Outcome), c.Buckets, c.Match, c.InFlight, c.Mismatch, c.Hashed, failures, c.SourceRows, c.SilverRows, c.SilverVersion}
}
