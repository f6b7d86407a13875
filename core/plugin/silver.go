package plugin

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
)

// Host is what the host serves to a silver or check plugin for one step:
// tables, source and ledger, narrowed to what the step may touch.
type Host struct {
	Tables Tables
	// Source is nil when the step has none.
	Source Source
	Ledger Ledger
}

// LedgerView is what the ledger knows of a target, read in this order:
// control, then facts, then plans. Pin bronze only after this answer.
type LedgerView struct {
	// BronzeEnd is the batch end that last moved bronze's verdict; zero when none.
	BronzeEnd Position
	// Position is the target's stored one.
	Position TargetPosition
	// Verdict is the target's, microseconds UTC, nil when none.
	Verdict *int64
	// Snapshot is the newest completed snapshot of bronze, "" when none.
	Snapshot string
	// Open is the newest chunked snapshot opened, nil when none.
	Open *OpenSnapshot
	// FactsTargets are the targets that facts hold rows of, when there is no
	// row of this one's bronze; else nil.
	FactsTargets []string
}

// TargetPosition is how far a silver table has come.
type TargetPosition struct {
	// Applied is the highest change position applied, or the snapshot rebuilt
	// from; "" when none.
	Applied string
	// RebuiltFrom is the snapshot last rebuilt from, "" when none.
	RebuiltFrom string
	// Open is the chunked snapshot whose waves are being applied, "" when none.
	Open string
	// Wave is the last wave of it applied, nil when none.
	Wave *int32
	// Version is the target's when this was stored, nil when it is not known. A
	// target that is behind it was put back.
	Version *int64
	// Merge is the number of the target's last merge when this was stored, under
	// MergesApp; nil when it is not known. A target of which the number is lower was
	// put back, whatever version it has.
	Merge *int64
	// Foreign is the newest version of the target in which another writer changed
	// rows, nil when none did since the target was rebuilt, or since a check found
	// every row of it equal.
	Foreign *int64
}

// OpenSnapshot is a chunked snapshot that was opened.
type OpenSnapshot struct {
	Snapshot string
	Keys     []string
}

// ChunkRow is one recorded chunk of a chunked snapshot.
type ChunkRow struct {
	Index, Wave int32
	Stamp, High string
	Rows        int64
	Lo, Hi      string
	Last        bool
}

// AdvanceRequest reports a target's position after its commit.
type AdvanceRequest struct {
	Target   string
	Position TargetPosition
	// HoldVerdict leaves the verdict where it is (a snapshot is open).
	HoldVerdict bool
}

// Ledger is the part of facts, plans and control that a plugin may see. The
// verdict follows the bronze end that the first ReadLedger of this step answered
// with, never a newer one.
type Ledger interface {
	//
	// Pin the target before it and bronze after it: then what was applied to the
	// target is in what the ledger and bronze say.
	ReadLedger(ctx context.Context, target string) (LedgerView, error)
	// Chunks lists the recorded chunks of a snapshot as they are, doubles included.
	Chunks(ctx context.Context, snapshot string) ([]ChunkRow, error)
	// Advance stores position, then verdict, and answers the stored verdict. It
	// moves the position only from the one that the step read first: kind conflict
	// when another run has moved it since. End the step with that; it is repeated.
	Advance(ctx context.Context, req AdvanceRequest) (verdict *int64, err error)
}

// SilverRequest is a silver block and its input.
type SilverRequest struct {
	Address string
	Body    cty.Value
	// Input is bronze, Target the table to bring up to date.
	Input  TableRef
	Target TableRef
	// Until, when not zero, applies only commits at or below it.
	Until Position
	Key   []string
	// Instances are the names whose rows belong to the table, lower case.
	Instances []string
	// InputSchema is bronze's as it will be; bronze may not exist yet.
	InputSchema *arrow.Schema
}

// CodeUnknownInstance is the code of the diagnostic with which a silver refuses
// rows whose name is in none of its Instances. The host then asks the source
// again and, when it learns of more names, repeats the call once.
const CodeUnknownInstance = "silver.unknown_instance"

// SilverPlan is what a silver would need and do.
type SilverPlan struct {
	Tables []TableSpec
	// Pending says in a few words what waits, "" when nothing: "12 commits", "rebuild".
	Pending     string
	Diagnostics diag.List
}

// Progress is how far a running step has come.
type Progress struct {
	// Stage is a word or two: "scan", "merge".
	Stage string
	Rows  int64
	// RowsTotal is an estimate, -1 when unknown.
	RowsTotal int64
}

// SilverResult is what a run of silver did.
type SilverResult struct {
	Rebuilt bool
	// BronzeFound is false when bronze does not exist.
	BronzeFound bool
	Position    TargetPosition
	Verdict     *int64
	// RowsRead are bronze rows selected; the others are rows of silver.
	RowsRead, Inserted, Updated, Deleted int64
	// Version is silver's after the run, -1 when it does not exist.
	Version     int64
	Diagnostics diag.List
}

// Silver is one silver session.
type Silver interface {
	PlanSilver(ctx context.Context, req SilverRequest, host Host) (SilverPlan, error)
	RunSilver(ctx context.Context, req SilverRequest, host Host, progress func(Progress)) (SilverResult, error)
	Close() error
}
