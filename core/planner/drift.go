package planner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/state"
	"github.com/pipectl/pipectl/core/stream"
)

// Codes of the changes of columns and keys.
const (
	codeColumnAdded   = "stream.column_added"
	codeColumnReturns = "stream.column_returns"
	codeColumnRetyped = "stream.column_retyped"
	codeColumnWidened = "stream.column_widened"
	codeColumnLeftOut = "stream.column_left_out"
	codeColumnGone    = "stream.column_gone"
	codeDiscontinued  = stream.CodeDiscontinued
	codeContinued     = "stream.column_continued"
	codeSilverKey     = "silver.key_changed"
)

// What to do about them.
const (
	returnsOtherwise = "Silver would hold NULL there, and nothing would tell. Leave the column out as before. " + plugin.LoadAnew
	inHandOtherwise  = "Plan again when that batch is through: then it is known whether rows lack the column."
	retypedOtherwise = " Another way is to leave the type as the table has it."
	addedDetail      = "That is what the source has, too, unless it filled the column for rows that it had (by a default, or before capture knew it): there silver differs, and a check names the rows. " + plugin.LoadAnew
	endsDetail       = "Rows that are read from then on have NULL there, and so has silver once they change; a check finds them. Have the source give it before the stream goes on, or leave it out with exclude. `pipectl apply` accepts it as it is."
	goneDetail       = "It stays in the table: rows that are read from now on have NULL there, and so has silver once they change. `pipectl apply` takes note of it."
)

func containsFold(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}

func fieldFold(schema *arrow.Schema, name string) (arrow.Field, bool) {
	for _, f := range schema.Fields() {
		if strings.EqualFold(f.Name, name) {
			return f, true
		}
	}
	return arrow.Field{}, false
}

// capturedOfBronze are the columns of a bronze table that come from the source.
func capturedOfBronze(schema *arrow.Schema) []arrow.Field {
	var out []arrow.Field
	for _, f := range captured(schema) {
		if f.Name != plugin.ColumnBatchID && f.Name != plugin.ColumnSnapshot && f.Name != plugin.ColumnChunk {
			out = append(out, f)
		}
	}
	return out
}

// columnChanges compares the columns that the source and the declaration give
// with those that bronze has, and with what is known of its rows: reached is how
// far they come. Of a table without rows only the types matter.
func columnChanges(have plugin.TableState, table *model.Table, info plugin.TableInfo, reached reach) []plan.Change {
	if !have.Exists {
		return nil
	}
	source, discontinued := info.Schema, info.Discontinued
	leftOut, _ := stream.PropertyNames(have, leftOutProperty)
	ends := endsOf(have)
	empty := have.Rows == 0
	var out []plan.Change
	add := func(code string, class plan.Class, column string, refused bool, format string, args ...any) {
		out = append(out, plan.Change{Code: code, Class: class, Table: have.Table.Name, Column: column, Text: fmt.Sprintf(format, args...), Refused: refused})
	}
	for _, f := range captured(source) {
		old, there := fieldFold(have.Schema, f.Name)
		switch {
		case empty && (!there || arrow.TypeEqual(old.Type, f.Type)):
		case !empty && there && containsFold(discontinued, f.Name):
			if !containsFold(leftOut, f.Name) {
				add(codeDiscontinued, plan.ClassDestructive, f.Name, false, "the table at the source has it, and its changes lack it; it stays with the values that it has, and is NULL in rows that change")
			}
		case !empty && there && containsFold(leftOut, f.Name) && ends.ahead(f.Name, reached.rows) && arrow.TypeEqual(old.Type, f.Type):
			if !ends.ahead(f.Name, reached.inHand) {
				add(codeContinued, plan.ClassInPlace, f.Name, true, "the source gives it again; no row lacks it yet, and changes that a run has in hand may")
				break
			}
			add(codeContinued, plan.ClassInPlace, f.Name, false, "the source gives it again, and no change that lacks it was read; no row lacks it")
		case !empty && containsFold(leftOut, f.Name):
			add(codeColumnReturns, plan.ClassResnapshot, f.Name, true, "left out before, so rows that are there lack it")
		case !there:
			add(codeColumnAdded, plan.ClassInPlace, f.Name, false, "new; rows that are there have NULL until they change")
		case !arrow.TypeEqual(old.Type, f.Type):
			add(codeColumnRetyped, plan.ClassResnapshot, f.Name, true, "%s in the table, %s in the rows", old.Type, f.Type)
		}
	}
	for _, f := range capturedOfBronze(have.Schema) {
		if _, read := fieldFold(source, f.Name); read || empty || containsFold(leftOut, f.Name) {
			continue
		}
		if slices.ContainsFunc(table.Columns, func(r model.ColumnRule) bool { return r.Drop && strings.EqualFold(r.Name, f.Name) }) {
			add(codeColumnLeftOut, plan.ClassDestructive, f.Name, false, "left out from now on; it stays with the values that it has, is NULL in rows that change, and cannot be taken back in this table")
		} else {
			add(codeColumnGone, plan.ClassDestructive, f.Name, false, "the source no longer has it; it stays with the values that it has, and is NULL in rows that change")
		}
	}
	return out
}

// drift notes the changes of the stream's columns in its step, and refuses
// those that are known to be wrong for the rows that are there. A type is left to
// the sink, which alone knows what it can widen.
func (p *planning) drift(ctx context.Context, lake *Lake, s *model.Stream, table *model.Table, info plugin.TableInfo, reached reach, step *plan.Step) error {
	step.Changes = columnChanges(p.tables[s.To][s.Target], table, info, reached)
	var list diag.List
	var inHands bool
	var again []string
	for i := range step.Changes {
		c := &step.Changes[i]
		switch c.Code {
		case codeColumnReturns:
			list = append(list, diag.Errorf(diag.KindSchemaChanged, c.Code, returnsOtherwise,
				"Table %s holds rows that were read without the column %q (%s)", s.Target, c.Column, c.Class).At("target"))
		case codeDiscontinued:
			// Nobody changed the configuration, and the older changes still have the
			// column: a person decides before the stream goes on.
			if step.Accepted {
				step.Accepted, step.NotAccepted = false, fmt.Sprintf("the source has the column %s, and its changes lack it", diag.Column(c.Column))
			}
			step.Diagnostics = append(step.Diagnostics, s.Origin.Locate(s.Addr, diag.List{diag.Warningf(c.Code, endsDetail,
				"The source no longer gives the column %q of %s, though it has it (%s)", c.Column, s.Target, c.Class)})...)
		case codeContinued:
			if c.Refused {
				list = append(list, diag.Errorf(diag.KindStale, c.Code, inHandOtherwise,
					"Run %s (process %d on %s) reads changes into %s that may lack the column %q", reached.holder.Run, reached.holder.PID, reached.holder.Host, s.Target, c.Column))
				continue
			}
			again = append(again, c.Column)
		case codeColumnGone:
			step.Diagnostics = append(step.Diagnostics, s.Origin.Locate(s.Addr, diag.List{diag.Warningf(c.Code, goneDetail,
				"The source no longer has the column %q of %s (%s)", c.Column, s.Target, c.Class)})...)
		case codeColumnAdded:
			if !inHands {
				holder, err := p.holder(ctx, lake, s)
				if err != nil {
					return err
				}
				inHands = holder != nil
			}
			if inHands {
				c.Class = plan.ClassRestart
			}
			step.Diagnostics = append(step.Diagnostics, s.Origin.Locate(s.Addr, diag.List{diag.Warningf(c.Code, addedDetail,
				"Rows that %s holds have NULL in the new column %q until they change (%s)", s.Target, c.Column, c.Class)})...)
		}
	}
	if again != nil && step.Accepted {
		// A run before apply would not ask, should the source stop to give them once more.
		step.Accepted, step.NotAccepted = false, fmt.Sprintf("the source gives %s again, and %s is to take note of it first", diag.Columns(again), s.Target)
	}
	return list.Err()
}

// classify gives the table just planned the class of the worst of its changes.
func (p *planning) classify(changes []plan.Change) {
	t := &p.out.Tables[len(p.out.Tables)-1]
	if class := plan.Worst(changes, t.Ref.Name); class != "" && t.Action == plugin.TableAlter {
		t.Class = class
	}
}

// holder is who works on the stream now, nil when nobody does.
func (p *planning) holder(ctx context.Context, lake *Lake, s *model.Stream) (*state.Holder, error) {
	locks, err := lake.State.Locks(ctx)
	if err != nil {
		return nil, err
	}
	for _, l := range locks {
		if l.Name == s.AppID && lake.State.Holds(l.Holder) {
			return &l.Holder, nil
		}
	}
	return nil, nil
}

// retyped says of types that differ what the sink said of them: err is its
// refusal, nil when it takes them. What the sink says of a table that is to be
// taken over stays as it is: nothing changed there. A table without rows gets the
// type from apply: a run would meet the old one.
func retyped(step *plan.Step, have plugin.TableState, target string, err error) error {
	var names []string
	if err == nil && have.Rows == 0 {
		step.Changes = slices.DeleteFunc(step.Changes, func(c plan.Change) bool {
			if c.Code == codeColumnRetyped {
				names = append(names, c.Column)
			}
			return c.Code == codeColumnRetyped
		})
		if len(names) > 0 && step.Accepted {
			step.Accepted, step.NotAccepted = false, fmt.Sprintf("%s has no rows, and is to get another type of %s first", target, diag.Columns(names))
		}
		return nil
	}
	for i := range step.Changes {
		c := &step.Changes[i]
		if c.Code != codeColumnRetyped {
			continue
		}
		if err == nil {
			c.Code, c.Class, c.Refused = codeColumnWidened, plan.ClassInPlace, false
			continue
		}
		names = append(names, fmt.Sprintf("%q (%s)", c.Column, c.Text))
	}
	if len(names) == 0 || have.Properties[ownerProperty] == "" || !diag.Is(err, diag.KindSchemaChanged) {
		return err
	}
	what := "column"
	if len(names) > 1 {
		what = "columns"
	}
	list := diag.FromError(err)
	detail := plugin.LoadAnew + " Those tables are then built with the new type." + retypedOtherwise
	if list[0].Detail != "" {
		detail = list[0].Detail + retypedOtherwise
	}
	return diag.Errorf(diag.KindSchemaChanged, codeColumnRetyped, detail,
		"Table %s cannot take the type of the %s %s (%s)", target, what, strings.Join(names, ", "), plan.ClassResnapshot).At("columns").Err()
}

// silverKey compares the key of a silver with the one that its rows were told
// apart by, and returns the spec that remembers it. Rows that another key told
// apart cannot be brought to a new one: some would be there twice, or lack.
func silverKey(v *model.Silver, have plugin.TableState, spec plugin.TableSpec, key []string, step *plan.Step) (plugin.TableSpec, error) {
	old, known := stream.PropertyNames(have, silverKeyProperty)
	same := len(old) == len(key) && !slices.ContainsFunc(key, func(k string) bool { return !containsFold(old, k) })
	if known && same {
		return withProperty(spec, silverKeyProperty, have.Properties[silverKeyProperty]), nil
	}
	if known && have.Rows != 0 {
		step.Changes = append(step.Changes, plan.Change{
			Code: codeSilverKey, Class: plan.ClassResnapshot, Table: v.Target, Refused: true,
			Text: fmt.Sprintf("was %s, is %s", diag.Columns(old), diag.Columns(key)),
		})
		return spec, diag.Errorf(diag.KindSchemaChanged, codeSilverKey,
			"Its rows cannot be brought to another key. Give the silver another target: it is then built anew from bronze, and the source is not read. Or declare the old key: key = "+listOf(old)+".",
			"The rows of %s were told apart by %s, and the key is now %s (%s)", v.Target, diag.Columns(old), diag.Columns(key), plan.ClassResnapshot).At("target").Err()
	}
	return withProperty(spec, silverKeyProperty, listOf(key)), nil
}
