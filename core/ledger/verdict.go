package ledger

import (
	"context"
	"strings"
	"time"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// Granularity is the period that verdicts count in.
type Granularity string

// Granularities.
const (
	Minute Granularity = "minute"
	Hour   Granularity = "hour"
	Day    Granularity = "day"
)

// ParseGranularity reads a granularity, ignoring case; "" is Hour.
func ParseGranularity(text string) (Granularity, error) {
	switch g := Granularity(strings.ToLower(text)); g {
	case "":
		return Hour, nil
	case Minute, Hour, Day:
		return g, nil
	}
	return "", diag.Errorf(diag.KindConfiguration, "stream.granularity", "Allowed are minute, hour and day.",
		"%q is no granularity", text).At("granularity").Err()
}

func (g Granularity) micros() int64 {
	switch g {
	case Minute:
		return time.Minute.Microseconds()
	case Day:
		return 24 * time.Hour.Microseconds()
	}
	return time.Hour.Microseconds()
}

// Candidate is the verdict that a batch ending at end proves: its commit time
// cut to the period, because other transactions with the very same commit time
// may still be arriving. False when the commit time is not known.
func (g Granularity) Candidate(end plugin.Position) (int64, bool) {
	if !end.HasCommit || end.IsZero() {
		return 0, false
	}
	rest := end.CommitMicros % g.micros()
	if rest < 0 {
		rest += g.micros()
	}
	return end.CommitMicros - rest, true
}

// FinalizedUntil returns the stored verdict of a table in microseconds UTC, nil
// when there is none.
func (l *Ledger) FinalizedUntil(ctx context.Context, table string) (*int64, error) {
	row, err := l.ControlRow(ctx, table)
	return row.FinalizedUntil, err
}

// IsFinal reports whether everything up to periodEnd is complete in the table.
func (l *Ledger) IsFinal(ctx context.Context, table string, periodEnd time.Time) (bool, error) {
	verdict, err := l.FinalizedUntil(ctx, table)
	return err == nil && verdict != nil && periodEnd.UnixMicro() <= *verdict, err
}

// Freshness is how old the verdict of a table is.
type Freshness struct {
	Table string
	// FinalizedUntil and UpdatedAt are microseconds UTC, nil before the first verdict.
	FinalizedUntil, UpdatedAt *int64
	// Age is now minus FinalizedUntil, SinceUpdate now minus UpdatedAt, on the
	// caller's clock; nil before the first verdict.
	Age, SinceUpdate *time.Duration
	// OpenSnapshot is the chunked snapshot being applied, "" when none.
	OpenSnapshot string
}

// Freshness reads how old the verdict of a table is.
func (l *Ledger) Freshness(ctx context.Context, table string) (Freshness, error) {
	row, err := l.ControlRow(ctx, table)
	if err != nil {
		return Freshness{}, err
	}
	now := l.clock()
	since := func(micros *int64) *time.Duration {
		if micros == nil {
			return nil
		}
		d := now.Sub(time.UnixMicro(*micros))
		return &d
	}
	return Freshness{
		Table: table, FinalizedUntil: row.FinalizedUntil, UpdatedAt: row.UpdatedAt,
		Age: since(row.FinalizedUntil), SinceUpdate: since(row.UpdatedAt), OpenSnapshot: row.Position.Open,
	}, nil
}
