package ledger

import (
	"context"
	"slices"
	"time"

	"github.com/pipectl/pipectl/core/plugin"
)

// Pace is how fast a stream was read, by its facts.
type Pace struct {
	Rows     int64
	Duration time.Duration
}

// RowsPerSecond is 0 when nothing was measured.
func (p Pace) RowsPerSecond() float64 {
	if p.Duration <= 0 {
		return 0
	}
	return float64(p.Rows) / p.Duration.Seconds()
}

// Paces sums rows and durations of the batches and whole snapshots that were
// written since a time, per target; one scan for all of them. A target that
// wrote no rows since then is absent.
func (l *Ledger) Paces(ctx context.Context, since time.Time, targets ...string) (map[string]Pace, error) {
	if len(targets) == 0 {
		return nil, nil
	}
	out := map[string]Pace{}
	from := plugin.Literal{Type: plugin.LiteralTimestampNTZ, Int: since.UnixMicro()}
	filter := where(in("target", targets...), plugin.Term{Column: "written_at", Op: plugin.OpGE, Literals: []plugin.Literal{from}})
	columns := []string{"target", "event", "rows", "duration_ms", "written_at"}
	err := l.scan(ctx, l.facts, columns, filter, func(b batch) error {
		for i := range b.rows() {
			event, target := b.text("event", i), b.text("target", i)
			if event != "" && event != EventBootstrap && event != EventResnapshot || !slices.Contains(targets, target) {
				continue
			}
			n, millis, written := b.int64("rows", i), b.int64("duration_ms", i), b.micros("written_at", i)
			if n == nil || *n == 0 || millis == nil || written == nil || *written < since.UnixMicro() {
				continue
			}
			p := out[target]
			p.Rows += *n
			p.Duration += time.Duration(*millis) * time.Millisecond
			out[target] = p
		}
		return nil
	})
	return out, err
}
