package mssql

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/lsn"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

// Names of events.
const (
	eventSchemaChange = "schema_change"
	eventSwitched     = "capture_instance_switched"
	eventSkipped      = "data_skipped"
)

// maxDDLText is how much of a DDL command an event keeps, in characters.
const maxDDLText = 500

// PlanBatch cuts the commits of (Start, End] into ranges. Data loss, a rewound
// source and schema changes come out here, before a row is read.
func (s *session) PlanBatch(ctx context.Context, req plugin.PlanBatchRequest) (plugin.BatchPlan, error) {
	cfg, st, err := s.parse(req.Table)
	if err != nil {
		return plugin.BatchPlan{}, err
	}
	b := batch{session: s, cfg: cfg, state: st, req: req}
	if b.start, err = parsePosition(req.Start, "the batch's start"); err != nil {
		return plugin.BatchPlan{}, err
	}
	if b.end, err = parsePosition(req.End, "the batch's end"); err != nil {
		return plugin.BatchPlan{}, err
	}
	if b.end.Compare(b.start) <= 0 {
		// Nothing to read, whatever cleanup did: not even a query.
		var out plugin.BatchPlan
		st.mu.Lock()
		if st.shape != nil {
			out.Schema = st.shape.arrow(nil)
		}
		st.mu.Unlock()
		return out, nil
	}
	var out plugin.BatchPlan
	err = s.plan(ctx, "plan batch", func(c *conn) error {
		again := b // a retry plans anew
		out, err = again.plan(ctx, c)
		return err
	})
	return out, err
}

// batch is one planning.
type batch struct {
	*session
	cfg        tableConfig
	state      *tableState
	req        plugin.PlanBatchRequest
	start, end lsn.LSN

	clock     clock
	found     resolved
	instances []captured
	shape     shape
	events    []plugin.Event
}

func (b *batch) plan(ctx context.Context, c *conn) (plugin.BatchPlan, error) {
	var err error
	if b.found, err = b.discover(ctx, c, b.cfg, b.state); err != nil {
		return plugin.BatchPlan{}, err
	}
	if b.instances, err = b.columns(ctx, c, b.state, b.found, false); err != nil {
		return plugin.BatchPlan{}, err
	}
	if b.shape, err = b.session.shape(b.state, b.instances, b.cfg); err != nil {
		return plugin.BatchPlan{}, err
	}
	if b.clock, err = b.batchClock(ctx, c, b.state); err != nil {
		return plugin.BatchPlan{}, err
	}
	if err := b.checkTimeLine(ctx, c); err != nil {
		return plugin.BatchPlan{}, err
	}
	from, err := increment(ctx, c, b.start)
	if err != nil {
		return plugin.BatchPlan{}, err
	}
	parts, err := pieces(b.instances, from, b.end, func(l lsn.LSN) (lsn.LSN, error) { return decrement(ctx, c, l) })
	if err != nil {
		return plugin.BatchPlan{}, err
	}
	if parts, err = b.checkDDL(ctx, c, parts); err != nil {
		return plugin.BatchPlan{}, err
	}
	if err := b.switches(ctx, c, parts); err != nil {
		return plugin.BatchPlan{}, err
	}
	if parts, err = b.guard(ctx, c, parts); err != nil {
		return plugin.BatchPlan{}, err
	}
	if parts, err = b.freshColumns(ctx, c, parts); err != nil {
		return plugin.BatchPlan{}, err
	}
	for _, p := range parts {
		if err := b.checkFirstRead(p.captured); err != nil {
			return plugin.BatchPlan{}, err
		}
	}
	out := plugin.BatchPlan{Events: b.events, Schema: b.shape.arrow(nil)}
	if out.Discontinued, err = b.discontinued(ctx, c, parts); err != nil {
		return plugin.BatchPlan{}, err
	}
	var specs []rangeSpec
	for _, p := range parts {
		more, err := b.split(ctx, c, p)
		if err != nil {
			return plugin.BatchPlan{}, err
		}
		specs = append(specs, more...)
	}
	for i := range specs {
		specs[i].Last = i == len(specs)-1
		encoded, err := specs[i].encode()
		if err != nil {
			return plugin.BatchPlan{}, err
		}
		out.Ranges = append(out.Ranges, encoded)
	}
	for _, e := range b.events {
		b.log.Warn(e.Name, "table", b.cfg.label(), "lsn", e.Position.Text, "detail", e.Detail)
	}
	if len(out.Ranges) > 0 {
		out.Warnings = b.state.take(b.clocks.said())
	}
	return out, nil
}

func (st *tableState) isChecked(name string) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.checked[name]
}

func (st *tableState) check(name string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.checked[name] = true
}

// take hands out the warnings that wait for a batch, and those of the clock
// that this table has not handed out yet.
func (st *tableState) take(clock diag.List) diag.List {
	st.mu.Lock()
	defer st.mu.Unlock()
	out := st.pending
	st.pending = nil
	for _, w := range clock {
		if !slices.Contains(st.clockSaid, w.Summary) {
			st.clockSaid = append(st.clockSaid, w.Summary)
			out = append(out, w)
		}
	}
	return out
}

// split cuts a piece into ranges by the rows of its change table.
func (b *batch) split(ctx context.Context, c *conn, p piece) ([]rangeSpec, error) {
	cuts := [][2]lsn.LSN{{p.from, p.to}}
	if b.cfg.read.partitions > 1 {
		q, err := tsql.Split(p.name, p.from.String(), p.to.String(), b.cfg.read.partitions)
		if err != nil {
			return nil, err
		}
		var tiles []tile
		err = c.each(ctx, q, func(r record) error {
			bound, _, err := r.lsn("bound")
			if err != nil {
				return err
			}
			next, _, err := r.lsn("next_from")
			tiles = append(tiles, tile{bound, next, r.integer("n_rows")})
			return err
		})
		if err != nil {
			return nil, b.denied(ctx, c, p.name, err)
		}
		cuts = ranges(p.from, p.to, tiles, b.minRangeRows)
	}
	base := rangeSpec{Format: rangeFormat, Instance: p.name, CommandID: b.shape.commandID, Zone: b.clock.zone, Offset: b.clock.offset, SkipLost: b.req.SkipLost}
	if b.req.Start.HasCommit {
		base.StartCommit = &b.req.Start.CommitMicros
	}
	for _, col := range b.shape.columns {
		rc := rangeColumn{Name: col.name, Type: col.typ.String()}
		if have, ok := p.find(col.name); ok && !have.computed {
			rc.Source = have.name
		}
		base.Columns = append(base.Columns, rc)
	}
	out := make([]rangeSpec, len(cuts))
	for i, cut := range cuts {
		out[i] = base
		out[i].From, out[i].To = cut[0].String(), cut[1].String()
	}
	return out, nil
}

// startAgain is what to do about a structure that changed while it was followed. A
// start alone may not help: what the tables of the lake can take is not known here.
const startAgain = "`pipectl plan` tells whether the tables can take it: where they cannot, it says what to do. Start again then: the structure is read anew, and the stream goes on exactly there."

// checkFirstRead looks, at the first read of an instance in this session,
// whether the rows' shape holds all that it captures.
func (b *batch) checkFirstRead(ci captured) error {
	if b.state.isChecked(ci.name) {
		return nil
	}
	unfit, unknown := b.shape.misfits(ci, b.cfg.rules)
	if len(unfit)+len(unknown) > 0 {
		var what []string
		if len(unknown) > 0 {
			what = append(what, "new columns: "+strings.Join(unknown, ", "))
		}
		if len(unfit) > 0 {
			what = append(what, "changed types: "+strings.Join(unfit, ", "))
		}
		d := diag.Errorf(diag.KindSchemaChanged, codeSchemaChanged, "It starts at "+ci.start.String()+" and has "+strings.Join(what, "; ")+". "+startAgain,
			"The capture instance %s does not fit the structure that this stream reads", ci.name)
		d.Data = map[string]string{"capture_instance": ci.name, "start_lsn": ci.start.String()}
		return d.Err()
	}
	b.state.check(ci.name)
	return nil
}

// guard compares each piece with its instance's low watermark. What is lost is
// an error, or with SkipLost an event and a later start.
func (b *batch) guard(ctx context.Context, c *conn, parts []piece) ([]piece, error) {
	var out []piece
	for _, p := range parts {
		m, err := needMinLSN(ctx, c, p.name)
		if err != nil {
			return nil, err
		}
		if m.Compare(p.from) <= 0 {
			out = append(out, p)
			continue
		}
		if !b.req.SkipLost {
			var gone []string
			if strings.EqualFold(p.name, b.found.instances[0].name) {
				gone = b.found.gone
			}
			return nil, lost(p.name, p.from, m, gone)
		}
		when, known, err := b.clock.time(ctx, c, m)
		if err != nil {
			return nil, err
		}
		event, err := skipped(m, when, known, p.from, true, "", b.req.Start)
		if err != nil {
			return nil, err
		}
		b.events = append(b.events, event)
		if p.from = m; p.from.Compare(p.to) <= 0 {
			out = append(out, p)
		}
	}
	return out, nil
}

// lost is the error of a range that begins below the watermark.
func lost(instance string, from, m lsn.LSN, gone []string) error {
	cause := "Cleanup has purged changes of " + instance + " up to " + m.String() + "."
	if len(gone) > 0 {
		cause += " They may also have been in " + strings.Join(gone, ", ") + ", which was disabled before this stream had read past the newer one's start; the two cannot be told apart."
	}
	d := diag.Errorf(diag.KindDataLoss, codeDataLoss, cause+" "+plugin.LoadAnew+" Doing that by itself (on_data_loss) is not built yet.",
		"Changes from %s on are needed next and no longer kept", from)
	d.Data = map[string]string{"capture_instance": instance, "from": from.String(), "min_lsn": m.String()}
	return d.Err()
}

// skipped is the event of a gap. Certain ones were not read at all; possible
// ones may have lost rows to a cleanup that ran meanwhile.
func skipped(m lsn.LSN, when int64, known bool, from lsn.LSN, certain bool, reason string, start plugin.Position) (plugin.Event, error) {
	detail, err := json.Marshal(struct {
		From    string `json:"from"`
		To      string `json:"to"`
		Certain bool   `json:"certain"`
		Reason  string `json:"reason,omitempty"`
	}{from.String(), m.String(), certain, reason})
	if err != nil {
		return plugin.Event{}, fmt.Errorf("encoding an event: %w", err)
	}
	e := plugin.Event{Name: eventSkipped, Position: plugin.Position{Text: m.String(), CommitMicros: when, HasCommit: known}, Detail: string(detail)}
	if start.HasCommit {
		e.LostFrom = &start.CommitMicros
	}
	if known {
		e.LostTo = &when
	}
	return e, nil
}
