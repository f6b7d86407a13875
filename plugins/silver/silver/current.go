package silver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// current is a session of silver "current": one row per key, as the source
// has it. A call brings silver from its stored position to bronze's head:
//
//	pin silver, read the ledger, pin bronze (so each holds what those before it speak of)
//	decide: apply changes, or rebuild from a newer whole snapshot
//	select rows, keep the newest of each key, merge them in one commit
//	report the position, then the verdict
//
// A crash anywhere repeats the call from the stored position. The range always
// reaches bronze's head, and a row is only replaced by one with a higher
// position, so applying it again changes nothing and brings no deleted key back.
//
// Two calls that do not know of each other undo nothing: the merges are counted
// in silver itself, and one commits only as the next after those that its call
// pinned. Silver is pinned first, so all that went into it is in the ledger and
// bronze that are read after it. The position moves only from the one that was
// read. Who loses ends with a conflict, and the host repeats the call.
type current struct {
	budget   int64
	spillDir string
	alloc    memory.Allocator
}

var _ plugin.Silver = (*current)(nil)

func (s *current) Close() error { return nil }

// looked is what a call begins from: the target and bronze as they were pinned,
// the ledger, and the target once more as it was after the ledger was read.
type looked struct {
	target, bronze, after plugin.TableState
	view                  plugin.LedgerView
}

// look pins the target, reads the ledger, and then pins bronze: in this order, so
// that they hold whatever was applied to the target.
func look(ctx context.Context, req plugin.SilverRequest, host plugin.Host) (looked, error) {
	var l looked
	first, err := host.Tables.GetTables(ctx, plugin.GetTablesRequest{Tables: []plugin.TableRef{req.Target, req.Input}, AppIDs: []string{plugin.MergesApp}})
	if err != nil {
		return l, fmt.Errorf("looking at %s: %w", req.Target.Name, err)
	}
	l.target, l.bronze = first[0], first[1]
	// Control, then facts, then plans.
	if l.view, err = host.Ledger.ReadLedger(ctx, req.Target.Name); err != nil {
		return l, err
	}
	for {
		// What is recorded of a bronze is asked for by its id: once more for one that
		// came in its place meanwhile.
		id := l.bronze.ID
		then, err := host.Tables.GetTables(ctx, plugin.GetTablesRequest{
			Tables: []plugin.TableRef{req.Input, req.Target},
			AppIDs: []string{plugin.MergesApp, plugin.SnapshotsApp, plugin.SnapshotsOf(id)},
		})
		if err != nil {
			return l, fmt.Errorf("looking at %s: %w", req.Input.Name, err)
		}
		if l.bronze, l.after = then[0], then[1]; l.bronze.ID == id {
			return l, nil
		}
	}
}

// PlanSilver says which table it needs and, from the ledger alone, what waits.
func (s *current) PlanSilver(ctx context.Context, req plugin.SilverRequest, host plugin.Host) (plugin.SilverPlan, error) {
	var plan plugin.SilverPlan
	at, err := look(ctx, req, host)
	if err != nil {
		return plan, err
	}
	shape := shapeOf(bronzeToCome(req.InputSchema, at.bronze))
	if err := shape.checkKey(req.Key, req.Input.Name); err != nil {
		return plan, err
	}
	spec := targetSpec(req, shape)
	plan.Tables = []plugin.TableSpec{spec}
	silver, view := at.target, at.view
	if silver.Exists {
		if err := checkTarget(spec, silver); err != nil {
			return plan, err
		}
	}
	if err := checkLost(silver, at.after, view.Position); err != nil {
		return plan, err
	}
	foreign, err := plugin.ChangedByOthers(ctx, host.Tables, silver, view.Position, writer)
	if err != nil {
		return plan, err
	}
	plan.Diagnostics = warnForeign(req.Target.Name, foreign)
	switch d := decide(view, snapshotRows{again: at.readAgain()}); {
	case view.Position.Applied == "":
		plan.Pending = "first build"
	case d.rebuild:
		plan.Pending = "rebuild from the snapshot " + d.snapshot
	case view.BronzeEnd.Text > view.Position.Applied:
		plan.Pending = "changes after " + view.Position.Applied
	}
	return plan, nil
}

// RunSilver applies what bronze holds.
func (s *current) RunSilver(ctx context.Context, req plugin.SilverRequest, host plugin.Host, progress func(plugin.Progress)) (plugin.SilverResult, error) {
	result := plugin.SilverResult{Version: -1}
	if !req.Until.IsZero() {
		return result, diag.Errorf(diag.KindUnsupported, "silver.until_unsupported", "", "Applying only up to a position is not built yet").Err()
	}
	at, err := look(ctx, req, host)
	if err != nil {
		return result, err
	}
	silver, view, bronze := at.target, at.view, at.bronze
	result.Position, result.Verdict = view.Position, view.Verdict
	if silver.Exists {
		result.Version = silver.Version
	}
	if !bronze.Exists {
		result.Diagnostics = append(result.Diagnostics, diag.Warningf("silver.no_bronze",
			"Nothing was applied. It appears with the stream's first rows.", "%s does not exist yet, so %s has nothing to follow", req.Input.Name, req.Target.Name))
		return result, nil
	}
	result.BronzeFound = true
	result.Diagnostics = append(result.Diagnostics, warnFacts(view, req)...)

	shape := shapeOf(bronze.Schema)
	if err := shape.checkKey(req.Key, req.Input.Name); err != nil {
		return result, err
	}
	if err := checkLost(silver, at.after, view.Position); err != nil {
		return result, err
	}
	foreign, err := plugin.ChangedByOthers(ctx, host.Tables, silver, view.Position, writer)
	if err != nil {
		return result, err
	}
	// Rows of snapshots up to the newest completed one tell nothing new: that one
	// is known, and chunks matter only when none is.
	known := max(view.Position.RebuiltFrom, view.Snapshot)
	found, err := findSnapshotRows(ctx, host, bronze, shape, req.Instances, known, at.readAgain())
	if err != nil {
		return result, err
	}
	if err := checkChunks(found, view, req); err != nil {
		return result, err
	}
	d := decide(view, found)
	if err := s.refuseWaves(ctx, host, d, view, req); err != nil {
		return result, err
	}
	base, err := ensureTarget(ctx, host, targetSpec(req, shape), silver)
	if err != nil {
		return result, err
	}
	result.Version = base.version
	if last := view.Position.Merge; base.applied < 0 && last != nil {
		base.applied = *last // the table has forgotten it
	}
	a := &application{current: s, req: req, host: host, view: view, bronze: bronze, taken: at.taken(), known: !at.readAgain(), base: base, shape: shape, decision: d, progress: progress}
	if err := a.run(ctx, &result); err != nil {
		return result, err
	}
	position := a.position()
	position.Version, position.Merge, position.Foreign = &result.Version, a.lastMerge(), foreign
	if d.rebuild {
		position.Foreign = nil // a rebuild leaves no row of another
	}
	result.Diagnostics = append(result.Diagnostics, warnForeign(req.Target.Name, position.Foreign)...)
	return result, s.report(ctx, host, req, d, position, &result)
}

// taken is the number of bronze's newest whole snapshot, -1 for none, by the app id
// that says of which table: of one that an older release wrote, any.
func (l looked) taken() plugin.Txn {
	app := plugin.SnapshotsOf(l.bronze.ID)
	if _, told := l.bronze.Txns[app]; !told {
		app = plugin.SnapshotsApp
	}
	return plugin.Txn{AppID: app, Version: numberOf(l.bronze, app)}
}

// readAgain reports whether bronze was given a whole snapshot after the one that
// silver was last rebuilt from.
func (l looked) readAgain() bool {
	taken := l.taken()
	return taken.Version > numberOf(l.after, taken.AppID)
}

// report stores position, then verdict: in this order, after the merge.
func (s *current) report(ctx context.Context, host plugin.Host, req plugin.SilverRequest, d decision, position plugin.TargetPosition, result *plugin.SilverResult) error {
	verdict, err := host.Ledger.Advance(ctx, plugin.AdvanceRequest{Target: req.Target.Name, Position: position, HoldVerdict: d.open})
	if err != nil {
		return fmt.Errorf("recording the position of %s: %w", req.Target.Name, err)
	}
	result.Position, result.Verdict = position, verdict
	return nil
}

// refuseWaves stops at a chunked snapshot that has waves to apply: their rows
// need the completion by later changes and range deletes that belong here,
// between selecting and ranking. Ignoring them would only delay them, but a
// verdict held for ever must say why.
func (s *current) refuseWaves(ctx context.Context, host plugin.Host, d decision, view plugin.LedgerView, req plugin.SilverRequest) error {
	if !d.open {
		return nil
	}
	chunks, err := host.Ledger.Chunks(ctx, view.Open.Snapshot)
	if err != nil {
		return err
	}
	if len(chunks) == 0 {
		return nil
	}
	return diag.Errorf(diag.KindUnsupported, "silver.waves_unsupported",
		"Complete the snapshot with the tool that opened it, then run again: a completed one is applied whole.",
		"%s has an open chunked snapshot %s with %d chunks read; applying it wave by wave is not built yet", req.Input.Name, view.Open.Snapshot, len(chunks)).Err()
}

// checkChunks finds rows of a chunked snapshot, newer than what is known, whose
// opening the facts do not have: they would be applied by nobody, and the
// verdict would move over them.
func checkChunks(found snapshotRows, view plugin.LedgerView, req plugin.SilverRequest) error {
	if found.chunks == 0 || view.Open != nil {
		return nil
	}
	detail := "Were the facts put back to an older version, or is bronze named differently there?"
	if len(view.FactsTargets) > 0 {
		detail += " They hold rows of: " + strings.Join(view.FactsTargets, ", ") + "."
	}
	return diag.Errorf(diag.KindConfiguration, "silver.chunks_unknown", detail,
		"%s holds rows of a chunked snapshot, and the facts know of none", req.Input.Name).Err()
}

func warnFacts(view plugin.LedgerView, req plugin.SilverRequest) diag.List {
	if view.FactsTargets == nil {
		return nil
	}
	return diag.List{diag.Warningf("silver.no_facts",
		fmt.Sprintf("They hold rows of: %s. Use one name for bronze everywhere.", strings.Join(view.FactsTargets, ", ")),
		"The facts hold no row of %s", req.Input.Name)}
}

// rankedSchema is what ranking sees: the captured columns, then the order.
func rankedSchema(shape bronzeShape, bronze *arrow.Schema) *arrow.Schema {
	names := []string{plugin.ColumnStartLSN, plugin.ColumnSeqval, plugin.ColumnOperation, plugin.ColumnCommitTS}
	if shape.commands {
		names = append(names, plugin.ColumnCommandID)
	}
	fields := slices.Clone(shape.captured)
	for _, name := range names {
		f, _ := bronze.FieldsByName(name)
		fields = append(fields, f...)
	}
	for i := range fields {
		// Parquet readers add field ids; only names and types matter here.
		fields[i].Metadata = arrow.Metadata{}
	}
	return arrow.NewSchema(fields, nil)
}
