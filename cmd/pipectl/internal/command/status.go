package command

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pipectl/pipectl/cmd/pipectl/internal/cli"
	"github.com/pipectl/pipectl/cmd/pipectl/internal/exit"
	"github.com/pipectl/pipectl/cmd/pipectl/internal/view"
	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/state"
	"github.com/pipectl/pipectl/core/stream"
)

// status shows per table how far it has come.
func status(ctx context.Context, e *Environment, args []string) (int, error) {
	a, err := cli.ParsePlain("status", args)
	if err != nil {
		return 0, err
	}
	e.Streams.JSON = a.JSON
	w, err := open(ctx, e, a.Common, false)
	defer w.close()
	if err != nil {
		return w.fail(err), nil
	}
	ctx, stop := e.interruptible(ctx)
	defer stop()
	targets, err := w.chosen(a.Targets)
	if err != nil {
		return w.fail(err), nil
	}
	exclude, err := w.chosen(a.Exclude)
	if err != nil {
		return w.fail(err), nil
	}
	patient := w.patient()
	defer patient.End()
	lakes, err := w.lakes(ctx, patient)
	if err != nil {
		return w.fail(err), nil
	}
	wanted := func(own addr.Address) bool {
		is := func(a addr.Address) bool { return meansOne(a, own) }
		return !slices.ContainsFunc(exclude, is) && (len(targets) == 0 || slices.ContainsFunc(targets, is))
	}
	rows, problems, err := w.statusRows(ctx, patient, lakes, wanted)
	if err == nil && a.Selection.Given() && len(rows) == 0 {
		err = nothingChosen("status")
	}
	if err != nil {
		return w.fail(err), nil
	}
	if err := e.Streams.Status(rows, e.Clock()); err != nil {
		return 0, err
	}
	e.Streams.Diagnostics(problems, w.excerpt)
	return exit.OfList(problems), nil
}

// statusRows collects the wanted streams, and the wanted silvers behind theirs. A source that cannot be reached
// is a problem beside the rows: what the lake knows is shown all the same.
func (w *workspace) statusRows(ctx context.Context, plugins planner.Plugins, lakes map[addr.Address]*planner.Lake, wanted func(addr.Address) bool) ([]view.StatusRow, diag.List, error) {
	inspected, problems, err := w.inspectAll(ctx, plugins, lakes, wanted)
	if err != nil {
		return nil, problems, err
	}
	var rows []view.StatusRow
	for i := range w.config.Sinks {
		lake := lakes[w.config.Sinks[i].Addr]
		if lake == nil {
			continue
		}
		problems = append(problems, w.notAccepted(lake)...)
		known, err := w.recorded(ctx, lake)
		if err != nil {
			return nil, problems, err
		}
		control, instants, lost, held := known.control, known.instants, known.lost, known.held
		missing := known.missing
		maps.DeleteFunc(missing, func(a addr.Address, _ error) bool { return !wanted(a) })
		problems = append(problems, w.missed(missing)...)
		problems = append(problems, lake.Sink.Origin.Locate(lake.Sink.Addr, diag.FromError(known.unreadable))...)
		stopped := map[addr.Address]string{}
		for a, err := range missing {
			if what := diag.FromError(err)[0]; planner.OfAnotherTable(err) {
				lost[a] = what.Summary
			} else {
				stopped[a] = what.Summary
			}
		}
		runs, left, err := w.history(ctx, lake)
		if err != nil {
			return nil, problems, err
		}
		problems = append(problems, left...)
		locks, err := lake.State.Locks(ctx)
		if err != nil {
			return nil, problems, err
		}
		for _, l := range locks {
			problems = append(problems, diag.FromError(l.Unreadable)...)
		}
		for j := range w.config.Streams {
			s := &w.config.Streams[j]
			if s.To != lake.Sink.Addr {
				continue
			}
			row, err := w.streamRow(ctx, lake, s, control[s.Target], inspected[s.Addr], locks, runs)
			if err != nil {
				return nil, problems, err
			}
			row.LastError, row.LastRun = lastRun(runs, s.Addr)
			row.Lose(lost[s.Addr])
			row.Stop(known.orStopped(stopped[s.Addr]))
			row.Hold(held[s.Addr])
			if wanted(s.Addr) {
				rows = append(rows, row)
			}
			for _, v := range w.config.Silvers {
				if v.From == s.Addr && wanted(v.Addr) {
					silver := silverRow(v, control[v.Target], instants[ledger.TablePosition{Table: s.Target, Position: control[v.Target].Position.Applied}])
					silver.LastError, silver.LastRun = lastRun(runs, v.Addr)
					silver.Lose(lost[v.Addr])
					silver.Stop(known.orStopped(stopped[v.Addr]))
					silver.Checks, silver.Foreign = w.unequal(runs, v.Addr), control[v.Target].Position.Foreign
					rows = append(rows, silver)
				}
			}
		}
	}
	return rows, problems, nil
}

// missed are the problems of a lake whose state or ledger is gone. Each cause is
// told of one table; the rows say it of the others.
func (w *workspace) missed(missing map[addr.Address]error) diag.List {
	var out diag.List
	tell := func(a addr.Address) {
		for _, d := range w.config.Locate(a, diag.FromError(missing[a])) {
			if !slices.ContainsFunc(out, func(o diag.Diagnostic) bool { return o.Code == d.Code }) {
				out = append(out, d)
			}
		}
	}
	for _, s := range w.config.Streams {
		tell(s.Addr)
	}
	for _, v := range w.config.Silvers {
		tell(v.Addr)
	}
	return out
}

func (w *workspace) targets(lake *planner.Lake) []string {
	var names []string
	for _, s := range w.config.Streams {
		if s.To == lake.Sink.Addr {
			names = append(names, s.Target)
		}
	}
	for _, v := range w.config.Silvers {
		if v.To == lake.Sink.Addr {
			names = append(names, v.Target)
		}
	}
	return names
}

// applied are the positions at which the silvers of a lake stand, in their
// bronze tables.
func (w *workspace) applied(lake *planner.Lake, control map[string]ledger.ControlRow) []ledger.TablePosition {
	var out []ledger.TablePosition
	for _, v := range w.config.Silvers {
		if at := control[v.Target].Position.Applied; v.To == lake.Sink.Addr && at != "" {
			out = append(out, ledger.TablePosition{Table: w.config.Stream(v.From).Target, Position: at})
		}
	}
	return out
}

// inspection is what a source says of one stream's table.
type inspection struct {
	known  bool
	newest plugin.Position
	info   plugin.TableInfo
	// astray is why the stream cannot go on with the source, "" when it can.
	astray string
}

// inspectAll asks each source about the tables of the streams that are wanted,
// or have a silver that is, and holds the
// answers against what the streams were started with and stand at.
func (w *workspace) inspectAll(ctx context.Context, plugins planner.Plugins, lakes map[addr.Address]*planner.Lake, wanted func(addr.Address) bool) (map[addr.Address]inspection, diag.List, error) {
	out := map[addr.Address]inspection{}
	var problems diag.List
	for i := range w.config.Sources {
		source := &w.config.Sources[i]
		// One commit that waits is enough to know that changes are needed next.
		req := plugin.InspectRequest{Since: map[string]plugin.Position{}, PendingLimit: 1}
		var streams []*model.Stream
		for j := range w.config.Streams {
			s := &w.config.Streams[j]
			t := w.config.Table(s.Table)
			needed := wanted(s.Addr) || slices.ContainsFunc(w.config.Silvers, func(v model.Silver) bool { return v.From == s.Addr && wanted(v.Addr) })
			if t.Source != source.Addr || lakes[s.To] == nil || !needed {
				continue
			}
			table := planner.SourceTable(t, s)
			log, err := planner.NewestLog(ctx, lakes[s.To].State.Stream(s.AppID))
			if err != nil {
				return nil, problems, err
			}
			if log.Newest >= 0 {
				req.Since[table.Address] = planner.CommittedEnd(log)
			}
			req.Tables = append(req.Tables, table)
			streams = append(streams, s)
		}
		if len(streams) == 0 {
			continue
		}
		session, err := plugins.Source(ctx, source.Addr)
		var answer plugin.InspectResponse
		if err == nil {
			answer, err = session.Inspect(ctx, req)
		}
		if err != nil {
			problems = append(problems, source.Origin.Locate(source.Addr, diag.FromError(err))...)
			continue
		}
		for j, info := range answer.Tables {
			s := streams[j]
			t := w.config.Table(s.Table)
			list := t.Origin.Locate(t.Addr, info.Diagnostics.Errors())
			if err := lakes[s.To].Identical(ctx, s, answer.Database(), info); err != nil {
				list = w.config.Locate(s.Addr, diag.FromError(err))
			}
			seen := inspection{known: true, newest: answer.Newest, info: info}
			if len(list) > 0 {
				seen.astray = list[0].Summary
			}
			out[s.Addr] = seen
			problems = append(problems, list...)
			problems = append(problems, t.Origin.Locate(t.Addr, info.Diagnostics.Warnings())...)
		}
	}
	return out, problems, nil
}

func (w *workspace) streamRow(ctx context.Context, lake *planner.Lake, s *model.Stream, control ledger.ControlRow, seen inspection, locks []state.LockState, runs []state.Run) (view.StatusRow, error) {
	row := view.StatusRow{Address: s.Addr.String(), Table: s.Target, Verdict: control.FinalizedUntil, Astray: seen.astray}
	log, err := planner.NewestLog(ctx, lake.State.Stream(s.AppID))
	if err != nil {
		return row, err
	}
	if log.Newest < 0 {
		row.Note = view.NotStarted
		if h := holderOf(lake, locks, s); h != nil { // of the first snapshot, which may take long
			row.Note = fmt.Sprintf("in the hands of run %s (process %d on %s), no position yet", h.Run, h.PID, h.Host)
		}
		return row, nil
	}
	at := planner.CommittedEnd(log)
	row.Position = at.Text
	commit, known := at.Commit()
	if known {
		row.Commit = &commit
	}
	row.Note = behindVerdict(log, control)
	if log.Committed < log.Newest {
		row.Note = unfinished(log.Newest, holderOf(lake, locks, s), runs, s.Addr)
	}
	// How far it is behind another history, or another database, nobody can say.
	if !seen.known || !known || seen.astray != "" {
		return row, nil
	}
	if newest, ok := seen.newest.Commit(); ok {
		lag := max(newest.Sub(commit), 0)
		row.Lag = &lag
	}
	if oldest, ok := seen.info.Oldest.Commit(); ok {
		headroom := commit.Sub(oldest)
		row.Headroom = &headroom
	}
	if oldest := seen.info.Oldest; !oldest.IsZero() && at.Text < oldest.Text && seen.info.Pending != 0 {
		row.Purge()
	}
	return row, nil
}

// unfinished says why a batch has no commit: it is in the hands of who holds the
// stream's lock, nil when nobody does, or was refused by the last run, or interrupted.
func unfinished(batch int64, holder *state.Holder, runs []state.Run, a addr.Address) string {
	if holder != nil {
		return fmt.Sprintf("batch %d is in the hands of run %s (process %d on %s)", batch, holder.Run, holder.PID, holder.Host)
	}
	if step, _ := lastStep(runs, a); step != nil && step.Status == "refused" {
		return fmt.Sprintf("batch %d was refused: it waits until the stream may go on", batch)
	}
	return fmt.Sprintf("batch %d was interrupted", batch)
}

// holderOf is who works on a stream now, nil when nobody does.
func holderOf(lake *planner.Lake, locks []state.LockState, s *model.Stream) *state.Holder {
	for _, l := range locks {
		if l.Name == s.AppID && lake.State.Holds(l.Holder) {
			return &l.Holder
		}
	}
	return nil
}

func silverRow(v model.Silver, control ledger.ControlRow, at plugin.Position) view.StatusRow {
	row := view.StatusRow{Address: v.Addr.String(), Table: v.Target, Verdict: control.FinalizedUntil, Position: control.Position.Applied, OpenSnapshot: control.Position.Open}
	if row.Position == "" {
		row.Note = view.NotBuilt
	}
	if commit, known := at.Commit(); known {
		row.Commit = &commit
	}
	return row
}

// lastStep is what became of the address when it last ran, and when; nil when it
// did not.
func lastStep(runs []state.Run, a addr.Address) (*state.RunStep, *time.Time) {
	for _, r := range runs { // newest first
		for i := range r.Steps {
			step := &r.Steps[i]
			if step.Address != a.String() || !ran(*step) {
				continue
			}
			finished := r.Finished
			if step.Ended != nil {
				finished = *step.Ended
			}
			return step, &finished
		}
	}
	return nil, nil
}

// lastRun is when the address last ran, and its error when that run failed.
func lastRun(runs []state.Run, a addr.Address) (lastError string, at *time.Time) {
	_, at = lastStep(runs, a)
	lastError, _ = lastFailure(runs, a)
	return lastError, at
}

// lastFailure is the error with which the address last ran; "" when that run
// was good.
func lastFailure(runs []state.Run, a addr.Address) (string, diag.Kind) {
	step, _ := lastStep(runs, a)
	if step == nil {
		return "", ""
	}
	for _, d := range step.Diagnostics {
		if strings.EqualFold(d.Severity, "error") {
			return d.Summary, d.Kind
		}
	}
	return "", ""
}

// ran reports whether a step did its work or failed at it. One that was skipped,
// refused, or kept out by another run's lock says nothing of the table. A stream
// that met changes without a column was refused by what it read, and says it.
func ran(s state.RunStep) bool {
	has := func(code string) bool {
		return slices.ContainsFunc(s.Diagnostics, func(d state.RunDiagnostic) bool { return d.Code == code })
	}
	switch s.Status {
	case "skipped":
		return false
	case "refused":
		return has(stream.CodeDiscontinued)
	}
	return !has("state.locked")
}
