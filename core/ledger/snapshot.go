package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/pipectl/pipectl/core/plugin"
)

// Mode is how a snapshot is taken.
type Mode string

// Modes. A whole snapshot is read before the stream starts, a chunked one in
// pieces next to it.
const (
	ModeFull    Mode = "full"
	ModeChunked Mode = "chunked"
)

// SnapshotOpening is the row that says a snapshot begins. Opening a chunked
// snapshot, which also writes its plans row, comes with chunked snapshots.
type SnapshotOpening struct {
	// AppID is the sink id of the generation.
	AppID  string
	Target string
	// Stamp is the position recorded before the first row was read.
	Stamp      plugin.Position
	Generation int
	// LostFrom and LostTo bound the gap that a re-snapshot follows, microseconds
	// UTC; nil for the first snapshot.
	LostFrom, LostTo *int64
}

// OpenFull records that a whole snapshot begins. It has no key: there is one
// row per run, and rows of runs that came to nothing are ignored.
func (l *Ledger) OpenFull(ctx context.Context, o SnapshotOpening) error {
	kind := EventBootstrap
	if o.LostTo != nil {
		kind = EventResnapshot
	}
	row := eventFact(fact{
		appID: o.AppID, target: o.Target, event: EventSnapshotOpen,
		detail: spaced.encode(object{
			{"mode", string(ModeFull)}, {"kind", kind}, {"generation", o.Generation},
			{"lost_from_ts", timeText(o.LostFrom)}, {"lost_to_ts", timeText(o.LostTo)},
		}),
	}, o.Stamp)
	return l.append(ctx, []entry{{rows: []fact{withGap(row, o.LostFrom, o.LostTo)}}})
}

// withGap fills the columns of rows that follow a loss.
func withGap(f fact, from, to *int64) fact {
	if to == nil {
		return f
	}
	f.lostFrom, f.lostTo = from, to
	f.measures.watermark = to
	if f.min.HasCommit {
		f.measures.headroomHours = headroomHours(f.min.CommitMicros, *to)
	}
	return f
}

// SnapshotCompletion is the row that says a whole snapshot is in bronze.
type SnapshotCompletion struct {
	// AppID is the sink id of the generation, KeyApp the user's app id.
	AppID, KeyApp string
	Target        string
	Stamp         plugin.Position
	Generation    int
	// Rows, StartedAt and Duration are nil when the snapshot was found and not
	// taken.
	Rows      *int64
	StartedAt *time.Time
	Duration  *time.Duration
}

// Bootstrapped records that the first snapshot of a stream is complete. It may
// be repeated; the first row stays.
func (l *Ledger) Bootstrapped(ctx context.Context, c SnapshotCompletion) error {
	row := eventFact(fact{appID: c.AppID, target: c.Target, event: EventBootstrap}, c.Stamp)
	row.rows = c.Rows
	if c.StartedAt != nil {
		started := c.StartedAt.UnixMicro()
		row.startedAt = &started
	}
	if c.Duration != nil {
		millis := c.Duration.Milliseconds()
		row.durationMillis = &millis
	}
	key := plugin.Txn{AppID: EventsApp(c.KeyApp), Version: int64(c.Generation)}
	return l.append(ctx, []entry{{txn: key, rows: []fact{row}}})
}

// SnapshotRow is one recorded opening or completion of a snapshot.
type SnapshotRow struct {
	AppID string
	// Event is snapshot_open, bootstrap or resnapshot.
	Event string
	Stamp plugin.Position
	// Mode and Generation are an opening's.
	Mode       Mode
	Generation int
	// Rows is a completion's, nil when the snapshot was found and not taken.
	Rows *int64
	// keys is set when an old opening holds the chunk keys itself.
	keys []string
}

// Snapshots lists what facts say about snapshots of a bronze table, in no
// order.
func (l *Ledger) Snapshots(ctx context.Context, target string) ([]SnapshotRow, error) {
	all, err := l.SnapshotsOf(ctx, target)
	return all[target], err
}

// SnapshotsOf is Snapshots for several tables in one scan.
func (l *Ledger) SnapshotsOf(ctx context.Context, targets ...string) (map[string][]SnapshotRow, error) {
	out := map[string][]SnapshotRow{}
	columns := []string{"app_id", "event", "min_lsn", "max_lsn", "max_commit_ts", "rows", "detail", "target"}
	filter := where(in("target", targets...), in("event", EventBootstrap, EventResnapshot, EventSnapshotOpen))
	err := l.scan(ctx, l.facts, columns, filter, func(b batch) error {
		for i := range b.rows() {
			event, target := b.text("event", i), b.text("target", i)
			if !slices.Contains(targets, target) {
				continue
			}
			r := SnapshotRow{AppID: b.text("app_id", i), Event: event, Stamp: b.position("max_lsn", "max_commit_ts", i)}
			switch event {
			case EventBootstrap, EventResnapshot:
				r.Rows = b.int64("rows", i)
			case EventSnapshotOpen:
				if !b.has("detail") {
					continue // tables this old know no chunked snapshot, and full ones wrote no opening
				}
				if err := r.readDetail(b.text("detail", i)); err != nil {
					return err
				}
			default:
				continue
			}
			out[target] = append(out[target], r)
		}
		return nil
	})
	return out, err
}

func (r *SnapshotRow) readDetail(detail string) error {
	var d struct {
		Mode       string   `json:"mode"`
		Generation int      `json:"generation"`
		Keys       []string `json:"keys"`
	}
	if err := json.Unmarshal([]byte(detail), &d); err != nil {
		return fmt.Errorf("detail of the snapshot opened at %s: %w", r.Stamp.Text, err)
	}
	r.Mode, r.Generation, r.keys = ModeChunked, d.Generation, d.Keys // a missing mode means chunked, as does an unknown one
	if d.Mode == string(ModeFull) {
		r.Mode = ModeFull
	}
	return nil
}

// complete reports whether a row of the list says that the opening is done: a
// completion of the same family at or after its stamp.
func (r SnapshotRow) complete(all []SnapshotRow, family func(appID string) bool) bool {
	for _, c := range all {
		if c.Event != EventSnapshotOpen && family(c.AppID) && c.Stamp.Text >= r.Stamp.Text {
			return true
		}
	}
	return false
}

// Family reports whether a sink id belongs to the stream with this app id: the
// id itself, or a later generation of it (id.g1, id.g2 ...). Both are taken
// literally and whole: orders-v1 is no family of orders-v10.
func Family(appID, sinkID string) bool {
	if sinkID == appID {
		return true
	}
	if len(sinkID) < len(appID)+3 || sinkID[:len(appID)] != appID || sinkID[len(appID):len(appID)+2] != ".g" {
		return false
	}
	for _, c := range sinkID[len(appID)+2:] {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// SinkID is the identity under which a generation of a stream writes.
func SinkID(appID string, generation int) string {
	if generation == 0 {
		return appID
	}
	return fmt.Sprintf("%s.g%d", appID, generation)
}

// OpenChunked returns the newest chunked snapshot that was opened for a stream,
// and whether it is complete; nil when there is none.
func OpenChunked(all []SnapshotRow, appID string) (open *SnapshotRow, complete bool) {
	for i, r := range all {
		if r.Event == EventSnapshotOpen && r.Mode == ModeChunked && Family(appID, r.AppID) &&
			(open == nil || r.Stamp.Text > open.Stamp.Text) {
			open = &all[i]
		}
	}
	if open == nil {
		return nil, false
	}
	return open, open.complete(all, func(id string) bool { return Family(appID, id) })
}
