package planner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/stream"
)

// Owner is the value of the owner property of the tables that a configuration
// writes: its name and the lineage of its state. Addresses are not part of it,
// so renaming a block moves nothing.
func (l *Lake) Owner(cfg *model.Config) string {
	lineage := l.State.Lineage()
	if lineage == "" {
		lineage = "new"
	}
	return cfg.Name + "/" + lineage
}

// ownerProperty tells which configuration writes a table.
const ownerProperty = ledger.PropertyOwner

// fromProperty stands on silver tables and names their bronze.
const fromProperty = "pipectl.from"

// ownProperties is the prefix of the properties that converge.
const ownProperties = "pipectl."

// Own returns the spec with the owner property.
func (l *Lake) Own(cfg *model.Config, spec plugin.TableSpec) plugin.TableSpec {
	properties := map[string]string{}
	for k, v := range spec.Properties {
		properties[k] = v
	}
	// A spec that was planned before there was a state carries no lineage yet.
	properties[ownerProperty] = l.Owner(cfg)
	spec.Properties = properties
	if !slices.Contains(spec.Converge, ownProperties) {
		spec.Converge = append([]string{ownProperties}, spec.Converge...)
	}
	return spec
}

// owner finds a table that cannot be written, or that another configuration
// writes; the answer says whose it was when this one may have it.
func (p *planning) owner(ctx context.Context, lake *Lake, have plugin.TableState, a addr.Address) (taking, error) {
	if !have.Exists {
		return taking{}, nil
	}
	if have.Writable != "" {
		detail := have.Writable + " Use a newer pipectl that can, take the change back with the program that made it, or give the block another target."
		return taking{}, diag.Errorf(diag.KindUnavailable, "table.not_writable", detail, "Table %s cannot be written", have.Table.Name).Err()
	}
	return p.ownership(ctx, lake, have, a)
}

// targets are the names of the tables that streams and silvers write in a sink.
func targets(cfg *model.Config, sink addr.Address) []string {
	var names []string
	for _, s := range cfg.Streams {
		if s.To == sink {
			names = append(names, s.Target)
		}
	}
	for _, v := range cfg.Silvers {
		if v.To == sink {
			names = append(names, v.Target)
		}
	}
	return names
}

// named finds another table of the lake that has the name of a block's table:
// facts and control could not tell the two apart.
func (p *planning) named(lake *Lake, ref plugin.TableRef) error {
	have := p.tables[lake.Sink.Addr][ref.Name]
	have.Table = ref
	return p.control[lake.Sink.Addr][ref.Name].Names(ref.Name, ledger.PlaceOf(have), lake.Ledger.Control().Name)
}

// ownership is owner without the question whether the table can be written.
func (p *planning) ownership(ctx context.Context, lake *Lake, have plugin.TableState, a addr.Address) (taking, error) {
	current := have.Properties[ownerProperty]
	switch {
	case !have.Exists || current == lake.Owner(p.Config):
		return taking{}, nil
	case current == "": // also when it was asked for: nobody is there to take it from
		take, err := p.unowned(ctx, lake, have, a)
		take.words += "; apply gives it this configuration's, and then no other writes it"
		return take, err
	case slices.ContainsFunc(p.TakeOver, func(t addr.Address) bool { return matches(t, a) }):
		return p.takenFrom(ctx, lake, have, current, a)
	}
	return taking{}, p.otherOwner(ctx, lake, have.Table.Name, current, a)
}

// takenFrom takes a table from another configuration. Its rows stay, but those of
// a silver of which control has no position: it is built from bronze.
func (p *planning) takenFrom(ctx context.Context, lake *Lake, have plugin.TableState, former string, a addr.Address) (taking, error) {
	take := taking{words: "take over from " + former, class: plan.ClassInPlace}
	v := p.Config.Silver(a)
	if v == nil || have.Rows == 0 {
		return take, nil
	}
	control, err := lake.Ledger.ControlRow(ctx, v.Target)
	if err != nil || control.Position.Applied != "" {
		return take, err
	}
	return p.replacing(take, have, a), nil
}

// replacing is a taking of a silver that is then built from its bronze.
func (p *planning) replacing(take taking, have plugin.TableState, a addr.Address) taking {
	take.words += fmt.Sprintf("; its %s are replaced by those of %s", rowsOf(have), p.Config.Stream(p.Config.Silver(a).From).Target)
	take.class = plan.ClassDestructive
	return take
}

// otherOwner says that the table of an address is another configuration's, and
// how this one comes to have it.
func (p *planning) otherOwner(ctx context.Context, lake *Lake, table, current string, a addr.Address) error {
	taken := p.handOver(ctx, lake, current, a)
	theirs := "Two writers of one table spoil it. If the other no longer writes it, " + taken
	ours := "If this is the configuration that has written it, its state was lost or moved: restore it. Where that cannot be, the table can be loaded anew. " +
		plugin.LoadAnew + " If it is another one that no longer writes it, " + taken
	var argument diag.Path
	if c := p.Config.Check(a); c != nil { // no position depends on its table
		theirs = "A report has one configuration. Give the check a table of its own. If the other no longer writes it, " + taken
		ours, argument = theirs, argumentOf(c.Body, table)
	}
	name, _, _ := strings.Cut(current, "/")
	if name != p.Config.Name {
		return diag.Errorf(diag.KindStale, "table.other_owner", theirs,
			"Table %s is written by the configuration %q, and this one is %q", table, name, p.Config.Name).At(argument...).Err()
	}
	return diag.Errorf(diag.KindStale, "table.other_owner", ours,
		"Table %s is written by a configuration %q with another state (%s; here it is %s)", table, name, current, lake.Owner(p.Config)).At(argument...).Err()
}

// handOver says what makes the tables of a former owner this configuration's:
// all of them in one command, since each that is left out is refused again, and
// before it the state of the streams whose positions are not here. The state of
// a stream that has gone on since must not be copied again: it would go back.
func (p *planning) handOver(ctx context.Context, lake *Lake, former string, asked addr.Address) string {
	var streams, silvers []addr.Address
	foreign := func(target string) bool {
		have := p.tables[lake.Sink.Addr][target]
		return have.Exists && have.Properties[ownerProperty] == former
	}
	var missing []string
	miss := func(s *model.Stream) {
		folder := strings.TrimSuffix(lake.State.Stream(s.AppID).Folder(), "/")
		if !slices.Contains(missing, folder) && !p.reachesBronze(ctx, lake, s) {
			missing = append(missing, folder)
		}
	}
	for i := range p.Config.Streams {
		if s := &p.Config.Streams[i]; s.To == lake.Sink.Addr && foreign(s.Target) {
			streams = append(streams, s.Addr)
			miss(s)
		}
	}
	for i := range p.Config.Silvers {
		if v := &p.Config.Silvers[i]; v.To == lake.Sink.Addr && foreign(v.Target) {
			silvers = append(silvers, v.Addr)
			miss(p.Config.Stream(v.From))
		}
	}
	var declaredStreams, declaredSilvers, declaredChecks []addr.Address
	for _, s := range p.Config.Streams {
		declaredStreams = append(declaredStreams, s.Addr)
	}
	for _, v := range p.Config.Silvers {
		declaredSilvers = append(declaredSilvers, v.Addr)
	}
	for _, c := range p.Config.Checks {
		declaredChecks = append(declaredChecks, c.Addr)
	}
	named := slices.Concat(blocks(streams, declaredStreams), blocks(silvers, declaredSilvers), blocks(p.reportsOf(ctx, lake, former), declaredChecks))
	if !slices.ContainsFunc(named, func(n addr.Address) bool { return matches(n, asked) }) {
		named = append(named, asked)
	}
	var words []string
	for _, n := range named {
		words = append(words, n.String())
	}
	command := "pipectl apply -take-over " + diag.Shell(strings.Join(words, ",")) + " " + diag.Shell(p.Config.Path)
	known, err := lake.State.Streams(ctx)
	switch {
	case len(streams)+len(silvers) == 0:
		return "run: " + command
	case len(missing) == 0:
		return "copy nothing, since this state knows the positions of its streams, and run: " + command
	case err == nil && len(known) == 0:
		return "take its state along (copy its folder to " + lake.State.Place() + ", in place of what is there), then run: " + command
	}
	// This state knows streams that a copy of the whole would put back.
	const shown = 5
	if more := len(missing) - shown; more > 0 {
		missing = append(missing[:shown], fmt.Sprintf("and %d more that are missing or older here", more))
	}
	folders := "folders "
	if len(missing) == 1 {
		folders = "folder "
	}
	return "take along from its state only the " + folders + strings.Join(missing, ", ") +
		" (copy to the same place in " + lake.State.Place() + "), then run: " + command
}

// reachesBronze reports whether this state knows the stream as far as its table
// goes, so that nothing of another state is needed to go on.
func (p *planning) reachesBronze(ctx context.Context, lake *Lake, s *model.Stream) bool {
	own := lake.State.Stream(s.AppID)
	generation, err := own.Generation(ctx)
	if err != nil {
		return false
	}
	log, err := own.Checkpoint(generation.Number).Load(ctx)
	bronze := p.tables[s.To][s.Target]
	if err != nil || log.Newest < 0 && bronze.Rows != 0 { // rows of a snapshot have no batch
		return false
	}
	return log.Newest >= stream.Txn(bronze, ledger.SinkID(s.AppID, generation.Number))
}

// blocks names the chosen instances by their block where it has several and all
// of them are chosen.
func blocks(chosen, declared []addr.Address) []addr.Address {
	var out []addr.Address
	for _, a := range chosen {
		name, count, all := a, 0, true
		for _, d := range declared {
			if d.Block() == a.Block() {
				count++
				all = all && slices.Contains(chosen, d)
			}
		}
		if count > 1 && all {
			name = a.Block()
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
