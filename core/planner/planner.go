package planner

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/state"
)

// Request is what to plan.
type Request struct {
	Config  *model.Config
	Plugins Plugins
	// Used lists the plugins in use with the digests of their files.
	Used []plan.Plugin
	// Targets and Exclude choose steps; without Targets all are planned.
	// A target's steps alone are planned, not what they follow.
	Targets, Exclude []addr.Address
	// TakeOver names addresses whose tables may be taken from another owner.
	TakeOver []addr.Address
	// Now is the wall clock; nil = time.Now.
	Now func() time.Time
	// PendingLimit bounds the count of pending commits; 0 = 10,000.
	PendingLimit int64
	// Lakes are open lakes by sink; the planner opens those that are absent.
	Lakes map[addr.Address]*Lake
}

const defaultPendingLimit = 10_000

// planning is one plan in the making.
type planning struct {
	Request
	out   *plan.Plan
	lakes map[addr.Address]*Lake
	// broken holds, by sink or source, why it cannot be used.
	broken map[addr.Address]diag.List
	// accepted holds what apply accepted, by sink, then address.
	accepted    map[addr.Address]map[string]state.Accepted
	tables      map[addr.Address]map[string]plugin.TableState // by sink, then name
	sources     map[addr.Address]plugin.InspectResponse
	info        map[addr.Address]plugin.TableInfo                // by stream
	logs        map[addr.Address]state.Log                       // by stream
	generations map[addr.Address]int                             // by stream
	recorded    map[addr.Address]map[string][]ledger.SnapshotRow // by sink, then bronze
	specs       map[addr.Address]plugin.TableSpec                // bronze's, by stream
	control     map[addr.Address]map[string]ledger.ControlRow    // by sink
	// reports holds the owners of the tables of checks, by sink, then check, once
	// they were asked for.
	reports map[addr.Address]map[addr.Address][]string
	// unreadable holds the tables that could not be looked at.
	unreadable map[tableIn]error
}

// tries is how often a plan is begun when a plugin dies while it is made: the
// next call has a new process, and a plan only reads.
const tries = 3

// Make plans. What is wrong with one step stands in the step and spoils no
// other; the error is for what spoils the whole plan (cancellation, a bug).
func Make(ctx context.Context, req Request) (*plan.Plan, error) {
	for try := 1; ; try++ {
		out, err := makeOnce(ctx, req)
		died := err
		if err == nil {
			died = out.Errors().Err()
		}
		if try == tries || ctx.Err() != nil || !diag.HasCode(died, plugin.CodeCrashed) {
			return out, err
		}
	}
}

func makeOnce(ctx context.Context, req Request) (*plan.Plan, error) {
	if req.Now == nil {
		req.Now = time.Now
	}
	if req.PendingLimit == 0 {
		req.PendingLimit = defaultPendingLimit
	}
	cfg := req.Config
	p := &planning{
		Request:     req,
		out:         &plan.Plan{Config: cfg.Path, Name: cfg.Name, Environment: cfg.Environment, Plugins: req.Used},
		lakes:       map[addr.Address]*Lake{},
		broken:      map[addr.Address]diag.List{},
		accepted:    map[addr.Address]map[string]state.Accepted{},
		tables:      map[addr.Address]map[string]plugin.TableState{},
		sources:     map[addr.Address]plugin.InspectResponse{},
		info:        map[addr.Address]plugin.TableInfo{},
		logs:        map[addr.Address]state.Log{},
		generations: map[addr.Address]int{},
		recorded:    map[addr.Address]map[string][]ledger.SnapshotRow{},
		specs:       map[addr.Address]plugin.TableSpec{},
		control:     map[addr.Address]map[string]ledger.ControlRow{},
		reports:     map[addr.Address]map[addr.Address][]string{},
		unreadable:  map[tableIn]error{},
	}
	for _, part := range []func(context.Context) error{
		p.openLakes, p.inspectSources, p.planLedgers, p.planStreams, p.planSilvers, p.planChecks, p.probeNewStates,
	} {
		if err := part(ctx); err != nil {
			return nil, err
		}
	}
	p.leaveOutIdle()
	p.findRemoved()
	return p.out, ctx.Err()
}

// wanted reports whether the address was chosen.
func (p *planning) wanted(a addr.Address) bool {
	if slices.ContainsFunc(p.Exclude, func(e addr.Address) bool { return matches(e, a) }) {
		return false
	}
	return len(p.Targets) == 0 || slices.ContainsFunc(p.Targets, func(t addr.Address) bool { return matches(t, a) })
}

// matches reports whether a chosen address means a: itself, or the block whose
// instance it is.
func matches(chosen, a addr.Address) bool { return chosen == a || !chosen.Keyed && chosen == a.Block() }

// usedSinks are the sinks of chosen steps, in the order of the configuration.
func (p *planning) usedSinks() []*model.Sink {
	used := map[addr.Address]bool{}
	for _, s := range p.Config.Streams {
		used[s.To] = true
	}
	var out []*model.Sink
	for i := range p.Config.Sinks {
		if used[p.Config.Sinks[i].Addr] {
			out = append(out, &p.Config.Sinks[i])
		}
	}
	return out
}

// probeState finds out that a step's first write, of its lock, would fail.
func (p *planning) probeState(ctx context.Context, lake *Lake) error {
	if !p.writes(lake.Sink.Addr) {
		return nil
	}
	return placeEnvironment(p.Config, lake.Sink, lake.State.Probe(ctx))
}

// inNewLake reports whether the state is to be made, and in the lake.
func (p *planning) inNewLake(lake *Lake) bool {
	return lake.State.Lineage() == "" && p.Config.StatePath == ""
}

// probeNewStates does the same for states that are to be made in their lakes.
// Where a lake as a whole cannot be written, its tables have said so already.
func (p *planning) probeNewStates(ctx context.Context) error {
	for _, sink := range p.usedSinks() {
		lake := p.lakes[sink.Addr]
		if lake == nil || !p.inNewLake(lake) || len(p.out.Errors()) > 0 {
			continue
		}
		if err := p.probeState(ctx, lake); ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			p.breaks(sink.Addr, sink.Origin, err)
		}
	}
	return nil
}

// writes reports whether a chosen step writes into tables of the sink. Checks read,
// for which a lake that can only be read is enough.
func (p *planning) writes(sink addr.Address) bool {
	return slices.ContainsFunc(p.Config.Streams, func(s model.Stream) bool { return s.To == sink && p.wanted(s.Addr) }) ||
		slices.ContainsFunc(p.Config.Silvers, func(v model.Silver) bool { return v.To == sink && p.wanted(v.Addr) })
}

func (p *planning) openLakes(ctx context.Context) error {
	for _, sink := range p.usedSinks() {
		lake, err := p.Lakes[sink.Addr], error(nil)
		if lake == nil {
			lake, err = OpenLake(ctx, p.Config, sink, p.Plugins, LakeOptions{Clock: p.Now})
		}
		if err == nil {
			p.accepted[sink.Addr], err = lake.State.Declared(ctx)
		}
		if err == nil {
			p.tables[sink.Addr], err = p.tablesOf(ctx, lake)
		}
		if err == nil && !p.inNewLake(lake) {
			err = p.probeState(ctx, lake)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			p.breaks(sink.Addr, sink.Origin, err)
			continue
		}
		p.lakes[sink.Addr] = lake
		p.out.Places = append(p.out.Places, lake.planned(p.Config))
	}
	return nil
}

// breaks records that a source or sink cannot be used; every step of it says
// so, and the plan as a whole once.
func (p *planning) breaks(a addr.Address, origin model.Origin, err error) {
	list := origin.Locate(a, diag.FromError(err))
	p.broken[a] = list
	p.out.Diagnostics = append(p.out.Diagnostics, list...)
}

// tablesOf looks at all tables of a sink in one call.
func (p *planning) tablesOf(ctx context.Context, lake *Lake) (map[string]plugin.TableState, error) {
	var req plugin.GetTablesRequest
	for _, s := range p.Config.Streams {
		if s.To == lake.Sink.Addr {
			req.Tables = append(req.Tables, plugin.TableRef{Name: s.Target, Path: s.Path})
			req.AppIDs = append(req.AppIDs, s.AppID, ledger.FactsApp(s.AppID))
		}
	}
	for _, s := range p.Config.Silvers {
		if s.To == lake.Sink.Addr {
			req.Tables = append(req.Tables, plugin.TableRef{Name: s.Target, Path: s.Path})
		}
	}
	req.Tables = append(req.Tables, lake.Ledger.Facts(), lake.Ledger.Control())
	states, err := lake.Tables.GetTables(ctx, req)
	if err != nil {
		states, err = p.tablesOneByOne(ctx, lake, req)
	}
	if err != nil {
		return nil, err
	}
	byName := map[string]plugin.TableState{}
	for _, s := range states {
		byName[s.Table.Name] = s
	}
	return byName, nil
}

// tablesOneByOne finds the tables that cannot be looked at, such as one that
// another program changed: they spoil their own steps only. Without its ledger
// a lake cannot be used at all.
func (p *planning) tablesOneByOne(ctx context.Context, lake *Lake, all plugin.GetTablesRequest) ([]plugin.TableState, error) {
	var states []plugin.TableState
	for _, ref := range all.Tables {
		found, err := lake.Tables.GetTables(ctx, plugin.GetTablesRequest{Tables: []plugin.TableRef{ref}, AppIDs: all.AppIDs})
		switch {
		case err == nil:
			states = append(states, found...)
		case ctx.Err() != nil, ref == lake.Ledger.Facts(), ref == lake.Ledger.Control():
			return nil, lake.Ledger.Unsupported(ref, err)
		default:
			p.unreadable[tableIn{lake.Sink.Addr, ref.Name}] = err
		}
	}
	return states, nil
}

// tableIn names a table of a sink.
type tableIn struct {
	sink addr.Address
	name string
}

// inspectSources asks each source once about all its tables, sources side by
// side.
func (p *planning) inspectSources(ctx context.Context) error {
	logs, err := p.loadLogs(ctx)
	if err != nil {
		return err
	}
	requests := map[addr.Address]plugin.InspectRequest{}
	for i, found := range logs {
		s := &p.Config.Streams[i]
		if !found.asked {
			continue
		}
		if found.err != nil {
			p.broken[s.Addr] = s.Origin.Locate(s.Addr, diag.FromError(found.err))
			continue
		}
		p.logs[s.Addr], p.generations[s.Addr] = found.log, found.generation
		table := p.Config.Table(s.Table)
		req := requests[table.Source]
		req.PendingLimit = p.PendingLimit
		if req.Since == nil {
			req.Since = map[string]plugin.Position{}
		}
		source := SourceTable(table, s)
		req.Tables = append(req.Tables, source)
		if found.log.Newest >= 0 {
			req.Since[source.Address] = CommittedEnd(found.log)
		}
		if found.identity.Table != "" {
			if req.Identities == nil {
				req.Identities = map[string]string{}
			}
			req.Identities[source.Address] = found.identity.Table
		}
		requests[table.Source] = req
	}
	return p.inspect(ctx, requests)
}

// sideBySide is how many blocks are asked about at once: their state lies behind a
// plugin and perhaps a network, and most of the time is waiting.
const sideBySide = 8

// loadedLog is how far a stream has come; asked is false for one that no chosen
// step needs.
type loadedLog struct {
	asked      bool
	log        state.Log
	generation int
	identity   state.Identity // zero before it has a position
	err        error
}

// loadLogs reads the checkpoints of the streams that chosen steps need, in the
// order of the configuration.
func (p *planning) loadLogs(ctx context.Context) ([]loadedLog, error) {
	logs := make([]loadedLog, len(p.Config.Streams))
	var group errgroup.Group
	group.SetLimit(sideBySide)
	for i := range p.Config.Streams {
		s, found := &p.Config.Streams[i], &logs[i]
		lake := p.lakes[s.To]
		if lake == nil || !p.reads(s) {
			continue
		}
		found.asked = true
		group.Go(func() error {
			own := lake.State.Stream(s.AppID)
			generation, err := own.Generation(ctx)
			if err == nil {
				found.generation = generation.Number
				found.log, err = own.Checkpoint(generation.Number).Load(ctx)
			}
			if err == nil && found.log.Newest >= 0 {
				found.identity, _, err = own.Identity(ctx)
			}
			found.err = err
			return nil // belongs to the stream
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return logs, ctx.Err()
}

// reads reports whether a chosen step needs the stream's source table.
func (p *planning) reads(s *model.Stream) bool {
	if p.wanted(s.Addr) {
		return true
	}
	for _, v := range p.Config.Silvers {
		if v.From != s.Addr {
			continue
		}
		if p.wanted(v.Addr) || slices.ContainsFunc(p.Config.Checks, func(c model.Check) bool { return c.Silver == v.Addr && p.wanted(c.Addr) }) {
			return true
		}
	}
	return false
}

func (p *planning) inspect(ctx context.Context, requests map[addr.Address]plugin.InspectRequest) error {
	type answer struct {
		source   *model.Source
		response plugin.InspectResponse
		err      error
	}
	answers := make([]answer, 0, len(requests))
	for i := range p.Config.Sources {
		if _, ok := requests[p.Config.Sources[i].Addr]; ok {
			answers = append(answers, answer{source: &p.Config.Sources[i]})
		}
	}
	var group errgroup.Group
	for i := range answers {
		group.Go(func() error {
			a := &answers[i]
			session, err := p.Plugins.Source(ctx, a.source.Addr)
			if err == nil {
				a.response, err = session.Inspect(ctx, requests[a.source.Addr])
			}
			a.err = err
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, a := range answers {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if a.err != nil {
			p.breaks(a.source.Addr, a.source.Origin, a.err)
			continue
		}
		p.sources[a.source.Addr] = a.response
	}
	p.assign()
	return nil
}

// assign hands each stream the answer about its table.
func (p *planning) assign() {
	for i := range p.Config.Streams {
		s := &p.Config.Streams[i]
		table := p.Config.Table(s.Table)
		for _, info := range p.sources[table.Source].Tables {
			if info.Address == SourceTable(table, s).Address {
				p.info[s.Addr] = info
			}
		}
	}
}

// findRemoved lists addresses that were accepted and are declared no more.
func (p *planning) findRemoved() {
	for sink, accepted := range p.accepted {
		for text, a := range accepted {
			address, err := addr.Parse(text)
			if err != nil {
				continue // a kind that this release does not know
			}
			if _, declared := p.Config.OriginOf(address); !declared {
				p.out.Removed = append(p.out.Removed, plan.Removed{Address: address, Target: a.Target, Sink: sink})
			}
		}
	}
	slices.SortFunc(p.out.Removed, func(a, b plan.Removed) int { return addr.Compare(a.Address, b.Address) })
	// With one state for several sinks each sink lists the same addresses.
	p.out.Removed = slices.CompactFunc(p.out.Removed, func(a, b plan.Removed) bool { return a.Address == b.Address })
}
