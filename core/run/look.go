package run

import (
	"time"

	"github.com/pipectl/pipectl/core/plugin"
)

// maxKeysInFlight bounds the keys that a later look is narrowed to; with more
// in flight or different, it looks at whole ranges again.
const maxKeysInFlight = 10_000

// maxRangesAgain bounds the ranges that a later look is asked for. What differs
// in more of them stays different.
const maxRangesAgain = 10_000

// look is one look of a check.
type look struct {
	plugin.CheckResult
	// findings are the first ones, at most MaxFindings.
	findings []plugin.Finding
	// keys are those in flight and those that differ, at most one more than
	// maxKeysInFlight.
	keys []string
	// ranges are where keys were found, each once, at most one more than
	// maxRangesAgain.
	ranges []plugin.KeyRange
	seen   map[plugin.KeyRange]bool
	// counts tells that counts of a range differ, or are in flight.
	counts bool
	// lasting tells of a finding that is neither about a key nor about counts.
	// Nothing that is on its way to silver can take it back.
	lasting bool
}

// note keeps a finding.
func (l *look) note(f plugin.Finding) {
	if len(l.findings) < MaxFindings {
		l.findings = append(l.findings, f)
	}
	switch {
	case f.Key != "":
		if len(l.keys) <= maxKeysInFlight {
			l.keys = append(l.keys, f.Key)
		}
		if at := (plugin.KeyRange{Lo: f.Lo, Hi: f.Hi}); !l.seen[at] && len(l.ranges) <= maxRangesAgain {
			if l.seen == nil {
				l.seen = map[plugin.KeyRange]bool{}
			}
			l.seen[at] = true
			l.ranges = append(l.ranges, at)
		}
	case f.Kind == plugin.FindingMismatch || f.Kind == plugin.FindingInFlight:
		l.counts = true
	default:
		l.lasting = true
	}
}

// again is what a later look is asked to look at.
type again struct {
	// keys narrow the look; nil = everything.
	keys []string
	// ranges are to be compared row by row, whatever else is chosen.
	ranges []plugin.KeyRange
}

// again is what a later look is asked for; false when none can settle this one.
func (l look) again() (again, bool) {
	if l.lasting || len(l.ranges) > maxRangesAgain {
		return again{}, false
	}
	ask := again{ranges: l.ranges}
	if !l.counts && l.Mismatch == 0 && len(l.keys) <= maxKeysInFlight {
		ask.keys = l.keys
	}
	return ask, true
}

// settles reports whether a later look, asked for what an earlier one found, did
// look at all of it. Counts are compared by every look that is not narrowed.
func (l look) settles(earlier look) bool {
	return l.LookedAgain || l.AllRowsCompared || len(earlier.keys) == 0 && earlier.counts
}

// looks are those of one check, one after the other.
type looks struct {
	// deadline is the end of the time to settle.
	deadline time.Time
	// counted is the newest look that was not narrowed to keys; last is the one
	// whose outcome counts.
	counted, last look
	// differed tells that a difference was looked at once more.
	differed bool
	// proven is the newest version of silver of which every row was compared, -1
	// when none was.
	proven int64
}

func begin(first look, deadline time.Time) *looks {
	l := &looks{deadline: deadline, counted: first, last: first, proven: -1}
	l.compared(first)
	return l
}

func (l *looks) compared(at look) {
	if at.AllRowsCompared {
		l.proven = at.SilverVersion
	}
}

// add takes a later look for the outcome, and reports whether it may: one that
// did not look at all that was found before takes nothing back, and only adds a
// difference.
func (l *looks) add(next look, ask again) bool {
	l.differed = l.differed || l.last.Outcome == plugin.Different
	settles := next.settles(l.last)
	if !settles && (l.last.Outcome == plugin.Different || next.Outcome != plugin.Different) {
		return false
	}
	l.last = next
	if ask.keys == nil || next.Buckets > 0 {
		hashed := max(l.counted.Hashed, next.Hashed)
		l.counted = next
		l.counted.Hashed = hashed
	}
	l.compared(next)
	return settles
}

// result has the counts of the newest look that counted, and the outcome of the
// last one.
func (l *looks) result() plugin.CheckResult {
	result := l.counted.CheckResult
	result.Outcome, result.Failures, result.AllRowsCompared = l.last.Outcome, l.last.Failures, l.proven >= 0
	if l.last.Outcome != plugin.Undecided {
		result.Match, result.InFlight = result.Match+result.InFlight, 0
	}
	return result
}
