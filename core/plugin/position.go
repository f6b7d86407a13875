package plugin

import (
	"cmp"
	"fmt"
	"time"
)

// Position is a point in the history of a source. Text is an order-preserving
// string chosen by the source (SQL Server: the canonical LSN, "0x" and 20
// upper-case hex digits); empty text means none. Positions are compared as
// strings; arithmetic on them is the source's. A position means something only
// inside one source identity.
type Position struct {
	Text string
	// CommitMicros is the commit time in microseconds since 1970 UTC; it means
	// something only when HasCommit is true. Time is a function of Text.
	CommitMicros int64
	HasCommit    bool
}

// At returns a position with a commit time.
func At(text string, commit time.Time) Position {
	return Position{Text: text, CommitMicros: commit.UnixMicro(), HasCommit: true}
}

// IsZero reports whether the position is none.
func (p Position) IsZero() bool { return p.Text == "" }

// Commit returns the commit time in UTC, and whether it is known.
func (p Position) Commit() (time.Time, bool) {
	if !p.HasCommit {
		return time.Time{}, false
	}
	return time.UnixMicro(p.CommitMicros).UTC(), true
}

// Compare orders positions by text.
func (p Position) Compare(q Position) int { return cmp.Compare(p.Text, q.Text) }

// CommitText returns the commit time as it stands in offsets and payloads: UTC,
// YYYY-MM-DDTHH:MM:SS.mmm without a suffix, or "" when it is unknown.
func (p Position) CommitText() string {
	at, ok := p.Commit()
	if !ok {
		return ""
	}
	return at.Format("2006-01-02T15:04:05.000")
}

// ParsePosition is the inverse of Text and CommitText. Times without a
// fraction, as older state holds them, are accepted.
func ParsePosition(text, commit string) (Position, error) {
	if commit == "" {
		return Position{Text: text}, nil
	}
	at, err := time.Parse("2006-01-02T15:04:05", commit) // a fraction is accepted too
	if err != nil {
		return Position{}, fmt.Errorf("commit time %q of position %s: want YYYY-MM-DDTHH:MM:SS.mmm in UTC", commit, text)
	}
	return At(text, at), nil
}
