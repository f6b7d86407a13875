package planner

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plugin"
)

// checkTable finds out whether a check may append to a table that its plugin
// asks for, such as a report: nothing else may write there, and a table that
// stands there must be one of its sort. Only the plan can tell, because only
// the plugin knows that one of its arguments names a table.
func (p *planning) checkTable(ctx context.Context, lake *Lake, c *model.Check, spec plugin.TableSpec) error {
	own := p.Config.TableWriter(c.Addr, c.Origin, lake.Sink.Addr, spec.Table.Name, spec.Table.Path)
	own.Path = argumentOf(c.Body, spec.Table.Name)
	writers := p.Config.Writers()
	for _, t := range p.out.Tables {
		if t.Owner.Kind == addr.Check && t.Owner != c.Addr {
			writers = append(writers, p.Config.TableWriter(t.Owner, p.Config.Check(t.Owner).Origin, t.Sink, t.Ref.Name, t.Ref.Path))
		}
	}
	for _, w := range writers {
		if d, bad := p.meet(own, w); bad {
			return d.At(own.Path...).Err()
		}
	}
	have, err := lake.Tables.GetTables(ctx, plugin.GetTablesRequest{Tables: []plugin.TableRef{spec.Table}})
	if err != nil {
		return fmt.Errorf("looking at table %s: %w", spec.Table.Name, err)
	}
	if d, bad := checkSort(have[0], spec); bad {
		return d.At(own.Path...).Err()
	}
	p.tables[lake.Sink.Addr][spec.Table.Name] = have[0]
	return nil
}

// reportsOf are the checks of a lake whose tables an owner has. Only their
// plugins know which those are, so they are asked, once, and only where
// something is to be handed over. One that cannot answer is left out: its own
// step says why, and the next plan names its table.
func (p *planning) reportsOf(ctx context.Context, lake *Lake, owner string) []addr.Address {
	if p.Plugins == nil { // as where only tables are looked at
		return nil
	}
	if p.reports[lake.Sink.Addr] == nil {
		found := map[addr.Address][]string{}
		for i := range p.Config.Checks {
			c := &p.Config.Checks[i]
			if p.Config.Silver(c.Silver).To != lake.Sink.Addr {
				continue
			}
			answer, err := p.askCheck(ctx, lake, c)
			if err != nil {
				continue
			}
			var refs []plugin.TableRef
			for _, spec := range answer.Tables {
				refs = append(refs, spec.Table)
			}
			if len(refs) == 0 {
				continue
			}
			states, err := lake.Tables.GetTables(ctx, plugin.GetTablesRequest{Tables: refs})
			if err != nil {
				continue
			}
			for _, have := range states {
				found[c.Addr] = append(found[c.Addr], have.Properties[ownerProperty])
			}
		}
		p.reports[lake.Sink.Addr] = found
	}
	var out []addr.Address
	for _, c := range p.Config.Checks {
		if slices.Contains(p.reports[lake.Sink.Addr][c.Addr], owner) {
			out = append(out, c.Addr)
		}
	}
	return out
}

// argumentOf is the argument that names the table, as far as it can be told.
func argumentOf(body cty.Value, table string) diag.Path {
	if body == cty.NilVal || body.IsNull() || !body.Type().IsObjectType() {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(body.Type().AttributeTypes())) {
		if v := body.GetAttr(name); v.Type() == cty.String && !v.IsNull() && v.AsString() == table {
			return diag.Path{name}
		}
	}
	return nil
}

// meet refuses a check's table that is another writer's, or lies in or around
// one. A writer that has not begun yet is refused as well: it may be the one to
// change.
func (p *planning) meet(own, w model.Writer) (d diag.Diagnostic, bad bool) {
	// Checks may share a table.
	report := w.Addr.Kind == addr.Check
	switch own.Meets(w) {
	case model.Apart:
		return d, false
	case model.Same:
		if report {
			return d, false
		}
		d = diag.Errorf(diag.KindConfiguration, "check.table_taken", "A table has one writer. Give the check a table of its own.",
			"The report of %s would go into %s: %q", own.Addr, w.Words, own.Target)
	case model.Inside:
		d = diag.Errorf(diag.KindConfiguration, "check.table_nested", "Upkeep of the outer table, such as VACUUM, removes files in its folder that are not its own. Give the check another table.",
			"The table of %s would lie inside that of %s: %q in %q", own.Addr, w.Words, own.Folder, w.Folder)
		if w.State {
			d.Detail = "That folder holds positions and locks, and is no place for a table. Give the check another table."
		}
	case model.Around:
		d = diag.Errorf(diag.KindConfiguration, "check.table_nested", "Upkeep of the outer table, such as VACUUM, removes files in its folder that are not its own. Give the check another table.",
			"The table of %s would lie inside that of %s: %q in %q", w.Words, own.Addr, w.Folder, own.Folder)
	}
	if step := p.out.Step(w.Addr); step != nil && !step.Accepted && !report {
		p.fail(step, d.At(w.Path...).Err())
	}
	return d, true
}

// checkSort finds a table that was made for something else: it lacks columns
// of the spec, and has others. One that only lacks some is older than this
// program, one that only has more is newer.
func checkSort(have plugin.TableState, spec plugin.TableSpec) (d diag.Diagnostic, bad bool) {
	if !have.Exists {
		return d, false
	}
	var strange []string
	for _, f := range have.Schema.Fields() {
		if !slices.ContainsFunc(spec.Schema.Fields(), func(s arrow.Field) bool { return strings.EqualFold(s.Name, f.Name) }) {
			strange = append(strange, f.Name)
		}
	}
	lacks := slices.ContainsFunc(spec.Schema.Fields(), func(s arrow.Field) bool {
		return !slices.ContainsFunc(have.Schema.Fields(), func(f arrow.Field) bool { return strings.EqualFold(s.Name, f.Name) })
	})
	if strange == nil || !lacks {
		return d, false
	}
	return diag.Errorf(diag.KindSchemaChanged, "check.table_other", "A check adds columns and rows to its table. Give it one of its own, under a name that nothing has.",
		"Table %s is no report of a check: it has the columns %s", spec.Table.Name, strings.Join(strange, ", ")), true
}
