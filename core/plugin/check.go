package plugin

import (
	"context"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
)

// CheckRequest is a check block and what it compares.
type CheckRequest struct {
	Address string
	Body    cty.Value
	// Source is the source table, read with the default read body.
	Source SourceTable
	// Object is its name at the source, for people.
	Object string
	// SourceSchema is the shape of its rows, metadata columns included.
	SourceSchema *arrow.Schema
	Silver       TableRef
	Bronze       TableRef
	Key          []string
	Instances    []string
	// Settle asks to compare ranges with rows in flight row by row, too, so that
	// findings of kind IN_FLIGHT name every such key. A check may ignore it; the
	// host then looks at everything again.
	Settle bool
	// Keys asks to look at these keys only (JSON objects as in Finding.Key): they
	// were in flight, or differed, at an earlier look. None = everything. A check
	// may ignore it.
	Keys []string
	// Again are the ranges in which an earlier look of the same check found keys,
	// as the findings have them: where Keys are not looked at one by one, their
	// rows are to be compared, whatever else is chosen. A check that does neither
	// must not set LookedAgain.
	Again []KeyRange
	// AwaitCapture is how long the look may wait, after it has read rows of the source
	// that differ, until all that it can have seen can be read as changes, too (see
	// LatestResponse.CaptureLag); 0 = not at all. A check may ignore it.
	AwaitCapture time.Duration
}

// KeyRange is a piece of the key space: bounds as in Finding, "" = open.
type KeyRange struct{ Lo, Hi string }

// CheckPlan is what a check would do.
type CheckPlan struct {
	// Summary for people: "2 buckets, 1 % compared row by row".
	Summary     string
	Tables      []TableSpec
	Diagnostics diag.List
}

// Outcome is how a check ended.
type Outcome string

// Outcomes. Undecided is neither proof nor difference: rows were in flight.
const (
	Equal     Outcome = "equal"
	Different Outcome = "different"
	Undecided Outcome = "undecided"
)

// Finding is one difference, or one range that could not be decided.
type Finding struct {
	// Kind: MISSING_TARGET, MISSING_SOURCE, RECORD_DIFF, IN_FLIGHT, MISMATCH,
	// CHUNK_TILING, CHUNK_ROWS, CHUNK_STAMP.
	Kind string
	// Key is a JSON object of key columns, "" for a bucket.
	Key string
	// Columns differ (RECORD_DIFF), in schema order.
	Columns []string
	// Lo and Hi bound the bucket (JSON), "" = open.
	Lo, Hi string
	// Detail is text for people.
	Detail string
}

// CheckResult is what a check found.
type CheckResult struct {
	RunID   string
	Outcome Outcome
	// Buckets by status, and how many were compared row by row.
	Buckets, Match, InFlight, Mismatch, Hashed int64
	// Failures counts findings by kind, IN_FLIGHT among them.
	Failures map[string]int64
	// SourceRows and SilverRows are the counts compared.
	SourceRows, SilverRows   int64
	SilverVersion            int64
	SilverApplied, SourceEnd string
	Diagnostics              diag.List
	// AllRowsCompared tells that every row that silver has in SilverVersion, and
	// every row that the source was counted with, was compared with all its values.
	AllRowsCompared bool
	// LookedAgain tells that all Keys, or all rows in the ranges of Again, were
	// compared. Without it an outcome takes back nothing that an earlier look found
	// about keys.
	LookedAgain bool
}

// CheckEvents receives what a running check has to say; both may be nil.
type CheckEvents struct {
	Finding  func(Finding)
	Progress func(Progress)
}

// Check is one check session.
type Check interface {
	PlanCheck(ctx context.Context, req CheckRequest, host Host) (CheckPlan, error)
	RunCheck(ctx context.Context, req CheckRequest, host Host, events CheckEvents) (CheckResult, error)
	Close() error
}

// FindingInFlight is the kind of a finding that names a key in flight: it is
// undecided and no difference.
const FindingInFlight = "IN_FLIGHT"

// FindingMismatch is the kind of a finding that tells of a range with other
// counts. A later look at everything settles it, as it counts again.
const FindingMismatch = "MISMATCH"

// Findings counts the differences: all findings but keys in flight.
func (r CheckResult) Findings() int64 {
	var n int64
	for kind, count := range r.Failures {
		if kind != FindingInFlight {
			n += count
		}
	}
	return n
}
