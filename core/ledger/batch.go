package ledger

import (
	"time"

	"github.com/pipectl/pipectl/core/plugin"
)

// Counts are the facts over the rows of a batch or snapshot.
type Counts struct {
	// Rows counts every operation, Updates the rows after an update only.
	Rows, Deletes, Inserts, Updates int64
	// Least and Greatest are the positions of the rows; zero when there are none.
	Least, Greatest plugin.Position
}

// Add adds what the end of one range says.
func (c *Counts) Add(end plugin.End) {
	c.Rows += end.Rows
	c.Deletes += end.Operations[plugin.OpDelete]
	c.Inserts += end.Operations[plugin.OpInsert]
	c.Updates += end.Operations[plugin.OpUpdateAfter]
	if end.Rows == 0 {
		return
	}
	if c.Least.IsZero() || end.Least.Compare(c.Least) < 0 {
		c.Least = end.Least
	}
	if c.Greatest.IsZero() || end.Greatest.Compare(c.Greatest) > 0 {
		c.Greatest = end.Greatest
	}
}

// Batch is what one micro-batch did.
type Batch struct {
	// AppID is the sink id of the stream generation, Number the batch's.
	AppID  string
	Number int64
	// Target is bronze's dotted name.
	Target string
	Counts Counts
	// StartedAt is when reading began, Duration lasts until bronze held the rows.
	StartedAt time.Time
	Duration  time.Duration
	// Metrics are one per range that measured, in any order.
	Metrics []plugin.ReadMetrics
	// Events and Warnings come from planning and reading.
	Events   []plugin.Event
	Warnings []string
}

// FactsApp is the app id under which the facts of a stream generation are
// recorded in the facts table.
func FactsApp(sinkID string) string { return sinkID + "#facts" }

// EventsApp is the app id of the completion events of a stream's snapshots;
// appID is the user's, the version is the generation.
func EventsApp(appID string) string { return appID + "#events" }

// BatchMetadata is the user metadata of a batch's commit to bronze.
func BatchMetadata(b Batch) string {
	c := b.Counts
	return dense.encode(object{
		{"rows", c.Rows},
		{"min_lsn", orNull(c.Least.Text)}, {"max_lsn", orNull(c.Greatest.Text)},
		{"min_commit_ts", orNull(c.Least.CommitText())}, {"max_commit_ts", orNull(c.Greatest.CommitText())},
		{"deletes", c.Deletes}, {"inserts", c.Inserts}, {"updates", c.Updates},
		{"batch_id", b.Number}, {"app_id", b.AppID},
	})
}

// SnapshotMetadata is the user metadata of a whole snapshot's commit to bronze.
func SnapshotMetadata(captureInstance string, stamp plugin.Position) string {
	return spaced.encode(object{
		{"snapshot", captureInstance}, {"lsn", stamp.Text}, {"commit_ts", stamp.CommitText()},
	})
}

// facts turns a batch into its row and one row per event.
func (b Batch) facts() []fact {
	row := fact{
		appID: b.AppID, batchID: &b.Number, target: b.Target,
		rows: &b.Counts.Rows, min: b.Counts.Least, max: b.Counts.Greatest,
		deletes: &b.Counts.Deletes, inserts: &b.Counts.Inserts, updates: &b.Counts.Updates,
	}
	started, millis := b.StartedAt.UnixMicro(), b.Duration.Milliseconds()
	row.startedAt, row.durationMillis = &started, &millis
	row.measures, row.end = fold(b.Metrics, b.Counts.Greatest)
	if len(b.Warnings) > 0 {
		row.detail = spaced.encode(object{{"warnings", b.Warnings}})
	}
	out := []fact{row}
	for _, e := range b.Events {
		out = append(out, eventFact(fact{
			appID: b.AppID, batchID: &b.Number, target: b.Target, event: e.Name, detail: e.Detail,
			lostFrom: e.LostFrom, lostTo: e.LostTo,
		}, e.Position))
	}
	return out
}

// eventFact fills what all events but chunks have in common: no rows, and their
// position in every place.
func eventFact(f fact, at plugin.Position) fact {
	var rows, deletes, inserts, updates int64
	f.rows, f.deletes, f.inserts, f.updates = &rows, &deletes, &inserts, &updates
	f.min, f.max, f.end = at, at, at
	return f
}
