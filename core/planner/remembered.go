package planner

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/state"
	"github.com/pipectl/pipectl/core/stream"
)

const (
	leftOutProperty      = stream.LeftOutProperty
	discontinuedProperty = "pipectl.discontinued"
	silverKeyProperty    = "pipectl.key"
)

// The properties are what a table itself knows of how it was filled, so
// that neither a lost state nor a renamed block makes the planner forget it:
// leftOutProperty stands on bronze and lists the columns that its rows, or some
// of them, were read without; discontinuedProperty stands beside it and says of those among them that the
// source stopped to give where it did, as {"note": "position"}: a stream that has not
// come there yet has read no row without; silverKeyProperty stands on silver and lists
// the key that its rows were told apart by. The other two are lists of names in JSON.

// listOf writes it, in order and each name once.
func listOf(names []string) string {
	sorted := slices.Clone(names)
	slices.Sort(sorted)
	text, err := json.Marshal(slices.Compact(sorted))
	if err != nil || len(sorted) == 0 {
		return "[]"
	}
	return string(text)
}

// remembered are the words for what a table remembers, for people.
var remembered = map[string]string{leftOutProperty: "left out: ", discontinuedProperty: "ends at the source: ", silverKeyProperty: "key: "}

// remembers says what such a property of a spec holds, where a line of the
// sink's is about one; "" when another line does.
func remembers(spec plugin.TableSpec, line string) (string, bool) {
	for property, words := range remembered {
		if strings.Contains(line, property) {
			written := plugin.TableState{Properties: spec.Properties}
			names, _ := stream.PropertyNames(written, property)
			if property == discontinuedProperty {
				names = slices.Sorted(maps.Keys(endsOf(written)))
			}
			switch {
			case len(names) == 0 && property == discontinuedProperty:
				return "", true // what is left out says it
			case len(names) == 0:
				return words + "nothing", true
			}
			return words + diag.Columns(names), true
		}
	}
	return "", false
}

// ends are the columns that the source stopped to give, each with the position
// from which on changes lack it.
type ends map[string]string

func endsOf(have plugin.TableState) ends {
	var e ends
	if json.Unmarshal([]byte(have.Properties[discontinuedProperty]), &e) != nil {
		return nil
	}
	return e
}

// of is the position at which a column ends, "" when none is known.
func (e ends) of(column string) string {
	for name, from := range e {
		if strings.EqualFold(name, column) {
			return from
		}
	}
	return ""
}

// ahead reports whether the end of a column lies behind all that was read.
func (e ends) ahead(column, reached string) bool {
	from := e.of(column)
	return from != "" && reached != "" && reached < from
}

// reach is how far the rows in bronze come.
type reach struct {
	// rows is the position that they come to, "" when nobody can tell.
	rows string
	// inHand is the position that a run at work brings them to: its batch may have
	// been read when the source gave less than now. It is rows when no run is at work.
	inHand string
	holder *state.Holder
}

// reached looks how far the rows in bronze come, where an end of a column is held
// against it. A batch without its commit counts only where bronze has it: one that
// was refused is stored as well, and none of it is there.
func (p *planning) reached(ctx context.Context, lake *Lake, s *model.Stream) (reach, error) {
	known := p.logs[s.Addr]
	if known.Newest < 0 || p.generations[s.Addr] != 0 || len(endsOf(p.tables[s.To][s.Target])) == 0 {
		return reach{}, nil // a log that was begun anew does not tell
	}
	// The holder first: who released the lock since has left its commit.
	holder, err := p.holder(ctx, lake, s)
	if err != nil {
		return reach{}, err
	}
	// A run may have stored a batch since the first look, before the source was asked.
	log, err := NewestLog(ctx, lake.State.Stream(s.AppID))
	if err != nil {
		return reach{}, err
	}
	end := reach{rows: log.Offset.End.Text, inHand: log.Offset.End.Text}
	if log.Committed == log.Newest {
		return end, nil
	}
	sinkID := ledger.SinkID(s.AppID, 0)
	states, err := lake.Tables.GetTables(ctx, plugin.GetTablesRequest{Tables: []plugin.TableRef{{Name: s.Target, Path: s.Path}}, AppIDs: []string{sinkID}})
	if err != nil {
		return reach{}, fmt.Errorf("looking at table %s: %w", s.Target, err)
	}
	txn := stream.Txn(states[0], sinkID)
	if txn >= log.Newest || txn < 0 && states[0].TxnsExpire {
		return end, nil
	}
	start := reach{rows: log.Offset.Start.Text, inHand: log.Offset.Start.Text, holder: holder}
	if holder != nil {
		start.inHand = log.Offset.End.Text
	}
	return start, nil
}

// leaveOut is bronze's spec with the columns that its rows are read without:
// those that a rule drops, those that the table has and the source lacks, and those
// that the source discontinued.
func leaveOut(spec plugin.TableSpec, have plugin.TableState, table *model.Table, info plugin.TableInfo, reached reach) plugin.TableSpec {
	var names []string
	for _, r := range table.Columns {
		if r.Drop {
			names = append(names, r.Name)
		}
	}
	before, _ := stream.PropertyNames(have, leftOutProperty)
	old, now := endsOf(have), ends{}
	for _, name := range info.Discontinued {
		if containsFold(names, name) {
			continue
		}
		names = append(names, name)
		from := old.of(name)
		// An end that was not read over may have moved. A column that is left out for
		// another reason has none: rows lack it.
		if old.ahead(name, reached.inHand) || from == "" && (have.Rows == 0 || !containsFold(before, name)) {
			from = info.DiscontinuedFrom.Text
		}
		if from != "" {
			now[name] = from
		}
	}
	if have.Exists {
		for _, f := range capturedOfBronze(have.Schema) {
			if _, read := fieldFold(info.Schema, f.Name); !read && !containsFold(names, f.Name) {
				names = append(names, f.Name)
			}
		}
	}
	if _, known := stream.PropertyNames(have, leftOutProperty); len(names) > 0 || known {
		spec = withProperty(spec, leftOutProperty, listOf(names))
	}
	if text, err := json.Marshal(now); err == nil && (len(now) > 0 || old != nil) {
		spec = withProperty(spec, discontinuedProperty, string(text))
	}
	return spec
}

// stillLeftOut are the columns that a table without rows says were left out, and
// that are read now. Only apply makes it forget them: a run that filled it before
// would leave rows that have a column beside the word that they lack it, and the
// column would be refused from then on.
func stillLeftOut(have plugin.TableState, source *arrow.Schema, discontinued []string) []string {
	if !have.Exists || have.Rows != 0 {
		return nil
	}
	leftOut, _ := stream.PropertyNames(have, leftOutProperty)
	return slices.DeleteFunc(leftOut, func(name string) bool {
		_, read := fieldFold(source, name)
		return !read || containsFold(discontinued, name)
	})
}

func withProperty(spec plugin.TableSpec, name, value string) plugin.TableSpec {
	properties := map[string]string{name: value}
	for k, v := range spec.Properties {
		properties[k] = v
	}
	spec.Properties = properties
	return spec
}
