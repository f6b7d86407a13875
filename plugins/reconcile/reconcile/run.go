package reconcile

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
)

// run is one comparison.
type run struct {
	*session
	subject  subject
	settings settings
	req      plugin.CheckRequest
	host     plugin.Host
	events   plugin.CheckEvents
	random   *rand.Rand
	at       time.Time

	view   plugin.LedgerView
	silver plugin.TableState
	// known is a position that the source knows, to ask for newer ones.
	known plugin.Position
	// asOf is the source's newest position before it was counted. Counts cover it.
	asOf plugin.Position

	buckets []bucket
	// rowsEnd is the source's newest position before its rows were read.
	rowsEnd string
	// findings holds keys that differ, with what was found.
	findings *spool
	chunks   []chunkFinding
	// awaited is how long the look has waited for capture.
	awaited time.Duration
	// keysCompared are those that a look was narrowed to.
	keysCompared int64

	result plugin.CheckResult
}

func (r *run) all(ctx context.Context) error {
	if err := r.prepare(ctx); err != nil {
		return err
	}
	if err := r.count(ctx); err != nil {
		return err
	}
	if err := r.checkChunks(ctx); err != nil {
		return err
	}
	r.conclude()
	if err := r.tellFindings(ctx); err != nil {
		return err
	}
	return r.writeReport(ctx)
}

// prepare reads how far silver is, and only then pins silver: what is pinned
// holds every change up to that position. (Not silver's newest row: the stamp
// of a chunk can be ahead.)
func (r *run) prepare(ctx context.Context) error {
	var err error
	if r.view, err = r.host.Ledger.ReadLedger(ctx, r.req.Silver.Name); err != nil {
		return err
	}
	r.result.SilverApplied = r.view.Position.Applied
	states, err := r.host.Tables.GetTables(ctx, plugin.GetTablesRequest{Tables: []plugin.TableRef{r.req.Silver}})
	if err != nil {
		return fmt.Errorf("looking at %s: %w", r.req.Silver.Name, err)
	}
	r.silver = states[0]
	if !r.silver.Exists {
		return r.noSilver("does not exist yet")
	}
	if neverBuilt(r.silver, r.view.Position) {
		return r.noSilver("was never built")
	}
	r.result.SilverVersion = r.silver.Version
	for _, k := range r.subject.key {
		if fieldNamed(r.silver.Schema, k.name) == "" {
			return diag.Errorf(diag.KindSchemaChanged, "reconcile.no_key_column", "Build the table anew under another name.",
				"%s has no column %q, which is part of the key of %s", r.req.Silver.Name, k.name, r.req.Object).Err()
		}
	}
	if open := r.view.Position.Open; open != "" {
		r.warn("reconcile.snapshot_open", "Check again when the snapshot is complete and applied.",
			"The chunked snapshot %s is open: keys of chunks not read yet will be missing in %s", open, r.req.Silver.Name)
	}
	return nil
}

// neverBuilt reports whether no run has applied anything to a silver: its table
// was made empty, and each run, also one that finds nothing, stores the version.
func neverBuilt(silver plugin.TableState, at plugin.TargetPosition) bool {
	return silver.Rows == 0 && at.Applied == "" && at.Open == "" && at.Version == nil
}

func (r *run) noSilver(why string) error {
	return diag.Errorf(diag.KindDifferent, "reconcile.no_silver", "Run its silver first.",
		"%s %s, so there is nothing to compare with %s", r.req.Silver.Name, why, r.req.Object).Err()
}

// fieldNamed returns the spelling that a schema has for a column: exact, else
// ignoring case, "" when there is none.
func fieldNamed(schema *arrow.Schema, name string) string {
	if schema.HasField(name) {
		return name
	}
	for _, f := range schema.Fields() {
		if strings.EqualFold(f.Name, name) {
			return f.Name
		}
	}
	return ""
}

func (r *run) warn(code, detail, summary string, args ...any) {
	r.result.Diagnostics = append(r.result.Diagnostics, diag.Warningf(code, detail, summary, args...))
}

func (r *run) tell(stage string, n, total int64) {
	if r.events.Progress != nil {
		r.events.Progress(plugin.Progress{Stage: stage, Rows: n, RowsTotal: total})
	}
}

// newest is the source's newest position, "" when it has none yet.
func (r *run) newest(ctx context.Context) (plugin.Position, error) {
	if r.known.IsZero() {
		r.known = plugin.Position{Text: r.view.Position.Applied}
	}
	if r.known.IsZero() {
		var err error
		if r.known, err = r.host.Source.Start(ctx, plugin.StartRequest{Table: r.req.Source, From: "earliest"}); err != nil {
			return plugin.Position{}, fmt.Errorf("reading the oldest position of %s: %w", r.req.Object, err)
		}
		r.known = plugin.Position{Text: r.known.Text}
	}
	latest, err := r.latest(ctx, false)
	return latest.Newest, err
}

func (r *run) latest(ctx context.Context, lag bool) (plugin.LatestResponse, error) {
	latest, err := r.host.Source.Latest(ctx, plugin.LatestRequest{Table: r.req.Source, After: r.known, CaptureLag: lag})
	if err != nil {
		return latest, fmt.Errorf("reading the newest position of %s: %w", r.req.Object, err)
	}
	return latest, nil
}

// count compares counts, then the rows of what it chooses.
func (r *run) count(ctx context.Context) error {
	if key, keys, ok := r.keysAgain(); ok {
		return r.lookAgain(ctx, key, keys)
	}
	key, ok := r.subject.rangeKey()
	if !ok {
		return r.countWhole(ctx)
	}
	err := r.countRanges(ctx, key)
	if diag.Is(err, diag.KindUnsupported) && r.buckets == nil {
		r.warn("reconcile.no_buckets", "", "The source cannot count %s in buckets: all its rows are counted at once", r.req.Object)
		return r.countWhole(ctx)
	}
	return err
}

// conclude fills the result from buckets and findings.
func (r *run) conclude() {
	// A bucket in flight whose rows were all compared is as decided as its keys.
	undecided := false
	for i := range r.buckets {
		b := &r.buckets[i]
		r.result.SourceRows += b.source.rows
		r.result.SilverRows += b.silver.rows
		switch b.status {
		case statusMatch:
			r.result.Match++
		case statusInFlight:
			r.result.InFlight++
			undecided = undecided || !b.decidedByRows()
		default:
			r.result.Mismatch++
		}
	}
	r.result.Buckets = int64(len(r.buckets))
	different := r.result.Mismatch > 0
	for kind := range r.result.Failures {
		different = different || kind != kindInFlight
	}
	switch {
	case different:
		r.result.Outcome = plugin.Different
	case undecided || r.result.Failures[kindInFlight] > 0:
		r.result.Outcome = plugin.Undecided
	default:
		r.result.Outcome = plugin.Equal
	}
}

// scan hands each batch of a table to use.
func (r *run) scan(ctx context.Context, req plugin.ScanRequest, use func(arrow.RecordBatch) error) error {
	frames, err := r.host.Tables.Scan(ctx, req)
	if err == nil {
		err = r.forEach(frames, use)
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", req.Table.Name, err)
	}
	return nil
}

// ask hands each batch of an aggregate of the source to use.
func (r *run) ask(ctx context.Context, req plugin.AggregateRequest, use func(arrow.RecordBatch) error) error {
	req.Table, req.Keys, req.At = r.req.Source, r.req.Key, r.asOf
	frames, err := r.host.Source.Aggregate(ctx, req)
	if err == nil {
		err = r.forEach(frames, use)
	}
	if err != nil {
		return fmt.Errorf("counting %s: %w", r.req.Object, err)
	}
	return nil
}

func (r *run) forEach(frames plugin.FrameReader, use func(arrow.RecordBatch) error) error {
	reader, err := rows.NewReader(frames, r.alloc)
	if err != nil {
		return err
	}
	_, err = reader.ForEach(use)
	return err
}
