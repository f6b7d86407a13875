package planner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/quantity"
)

// CodeNoOwner is the code of a table with rows and without an owner, of which
// nobody knows that they may be written to, or replaced.
const CodeNoOwner = "table.no_owner"

// taking is how a table comes to be this configuration's.
type taking struct {
	// words say from whom it is taken, and what becomes of its rows; "" when it is
	// not taken from anybody.
	words string
	// class is what that means for the rows.
	class plan.Class
}

// unowned decides about a table that names no owner. Without rows there is
// nobody to take it from, nor anything to spoil. With rows it is taken unasked
// only when it shows that they were written by the layout that pipectl shares
// with mssql-cdc-pyspark, and of a silver only when control knows how far they
// have come: without a position silver is built from bronze, and its rows are
// gone. One that names its bronze is what a run of an older release left when it
// ended before its position: its rows are replaced, as the plan says, where bronze
// has all of them, which it has from a snapshot on.
// Everything else is another program's, which nobody has asked.
func (p *planning) unowned(ctx context.Context, lake *Lake, have plugin.TableState, a addr.Address) (taking, error) {
	take := taking{words: "take over: the table has no owner", class: plan.ClassInPlace}
	if ledger.IsLedger(have) {
		return taking{}, p.isLedger(have, a)
	}
	if have.Rows == 0 {
		return take, nil
	}
	asked := slices.ContainsFunc(p.TakeOver, func(t addr.Address) bool { return matches(t, a) })
	v := p.Config.Silver(a)
	if v == nil {
		if !laidOut(have) && !(asked && isChangeLog(have, a)) {
			return taking{}, p.noOwner(have, a)
		}
		take.words += fmt.Sprintf("; its %s stay", rowsOf(have))
		return take, nil
	}
	control, err := lake.Ledger.ControlRow(ctx, v.Target)
	if err != nil {
		return taking{}, err
	}
	known, s := control.Position.Applied != "", p.Config.Stream(v.From)
	// Only pipectl names the bronze, in the commit that makes the table.
	named := have.Properties[fromProperty] == s.Target
	switch {
	case known && !laidOut(have):
		return taking{}, p.replaced(have, a)
	case known:
		take.words += fmt.Sprintf("; its %s stay, and it goes on from its position in control", rowsOf(have))
		return take, nil
	case named && s.Bootstrap == model.BootstrapFull:
		take.words += "; a run made it and did not end"
	case !asked && named:
		return taking{}, p.noPosition(have, a, s)
	case !asked:
		return taking{}, p.noOwner(have, a)
	}
	return p.replacing(take, have, a), nil
}

// laidOut reports whether a table was made in the layout of pipectl: by the
// package that it shares the layout with, or by pipectl itself before somebody
// took the owner away.
func laidOut(have plugin.TableState) bool {
	if _, ok := have.Properties[ledger.PropertySchemaVersion]; ok {
		return true
	}
	for name := range have.Properties {
		if strings.HasPrefix(name, ownProperties) {
			return true
		}
	}
	return false
}

// isChangeLog reports whether a stream could go on in the table: beside rows
// without these columns its own would mean nothing. Other tables are not asked.
func isChangeLog(have plugin.TableState, a addr.Address) bool {
	if a.Kind != addr.Stream {
		return true
	}
	for _, name := range []string{plugin.ColumnOperation, plugin.ColumnStartLSN, plugin.ColumnSeqval} {
		if !slices.ContainsFunc(have.Schema.Fields(), func(f arrow.Field) bool { return strings.EqualFold(f.Name, name) }) {
			return false
		}
	}
	return true
}

// rowsOf counts the rows of a table for people.
func rowsOf(have plugin.TableState) string {
	if have.Rows < 0 { // written without statistics
		return "rows"
	}
	return quantity.Of(have.Rows, "row", "rows")
}

// isLedger refuses the facts or control of a lake, which all its configurations
// share and none can take over.
func (p *planning) isLedger(have plugin.TableState, a addr.Address) error {
	d := diag.Errorf(diag.KindStale, "table.is_ledger", "All configurations of the lake keep their positions and verdicts there, and nothing of it has been changed. Give the block a table of its own.",
		"Table %s is the facts or the control of this lake", have.Table.Name).At("target")
	if a.Kind == addr.Check {
		d = d.At(argumentOf(p.Config.Check(a).Body, have.Table.Name)...)
	}
	return d.Err()
}

// noOwner refuses a table of another program, with the ways that there are.
func (p *planning) noOwner(have plugin.TableState, a addr.Address) error {
	const made = "Another program made it, and nothing of it has been changed. "
	command := "pipectl apply -take-over " + diag.Shell(a.String()) + " " + diag.Shell(p.Config.Path)
	d := diag.Errorf(diag.KindStale, CodeNoOwner, made, "Table %s holds %s that pipectl did not write: it has no owner", have.Table.Name, rowsOf(have)).At("target")
	switch a.Kind {
	case addr.Stream:
		d.Detail += "Give the stream another target."
		if isChangeLog(have, a) {
			d.Detail += " If it is a change log in which the stream is to go on, beside the rows that it holds, run: " + command
		}
	case addr.Silver:
		d.Detail += fmt.Sprintf("Give the silver another target. If its rows may be lost, and replaced by those of %s, run: %s", p.Config.Stream(p.Config.Silver(a).From).Target, command)
	default:
		d.Detail += "Give the check a table of its own. If findings are to go into this one, beside the rows that it holds, run: " + command
		d = d.At(argumentOf(p.Config.Check(a).Body, have.Table.Name)...)
	}
	return d.Err()
}

// noPosition refuses a silver that names its bronze, when that need not have all of
// its rows: they may be older than what control knows no more.
func (p *planning) noPosition(have plugin.TableState, a addr.Address, s *model.Stream) error {
	command := "pipectl apply -take-over " + diag.Shell(a.String()) + " " + diag.Shell(p.Config.Path)
	return diag.Errorf(diag.KindStale, CodeNoOwner,
		fmt.Sprintf("It was made from %s, which has no snapshot (bootstrap = %q) and may lack some of its rows. Give the silver another target. If its rows may be lost, and replaced by those of %s, run: %s", s.Target, s.Bootstrap, s.Target, command),
		"Table %s holds %s, and has neither an owner nor a position in control", have.Table.Name, rowsOf(have)).At("target").Err()
}

// replaced refuses another program's table in the place of a silver that has had
// changes: the next ones would go into rows that they are not about.
func (p *planning) replaced(have plugin.TableState, a addr.Address) error {
	return diag.Errorf(diag.KindStale, CodeNoOwner,
		"Another program made it in the place of the silver that changes were applied to. Restore that one. To build it anew from bronze, give the silver another target.",
		"Table %s holds %s that pipectl did not write: it has no owner", have.Table.Name, rowsOf(have)).At("target").Err()
}
