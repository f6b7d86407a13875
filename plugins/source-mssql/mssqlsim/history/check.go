package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// decode reads one line. A field that nobody knows is refused: it would be a misspelt one that is left out.
func decode(line []byte) (e Event, err error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return e, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return e, errors.New("there is more than one event")
	}
	return e, e.check()
}

// check holds an event to what can be said of it alone.
func (e Event) check() error {
	switch e.Kind {
	case "instance", "idle", "ddl", "cleanup", "drop_instance":
	case "step":
		if e.Name == "" || e.Action == "" {
			return errors.New("a step needs a name and an action")
		}
	case "read":
		if e.Commits < 1 {
			return fmt.Errorf("a read of %d commits", e.Commits)
		}
	case "commit":
		for _, o := range e.Ops {
			if err := o.check(); err != nil {
				return fmt.Errorf("op %d of %s: %w", o.N, o.Table, err)
			}
		}
	default:
		return fmt.Errorf("the kind %q is not known", e.Kind)
	}
	return nil
}

func (o Op) check() error {
	var before, after bool
	switch o.Op {
	case "insert":
		after = true
	case "update":
		before, after = true, true
	case "delete":
		before = true
	default:
		return fmt.Errorf("the operation %q is not known", o.Op)
	}
	for _, side := range []struct {
		name    string
		row     map[string]any
		present bool
	}{{"before", o.Before, before}, {"after", o.After, after}} {
		switch has := side.row != nil; {
		case side.present && !has:
			return fmt.Errorf("there is no row %s the %s", side.name, o.Op)
		case has && !side.present:
			return fmt.Errorf("there is a row %s the %s", side.name, o.Op)
		}
	}
	return nil
}

// checkReads holds that the reads of a step come right behind it, and as many commits as they say behind each. It tells
// the place of the event that is wrong.
func checkReads(events []Event) (at int, err error) {
	step := ""
	for i := 0; i < len(events); i++ {
		switch e := events[i]; e.Kind {
		case "step":
			step = e.Name
		case "read":
			if e.Step != "" && e.Step != step || step == "" {
				return i, fmt.Errorf("a read belongs right behind its step: the step %q is not there", e.Step)
			}
			for n := 1; n <= e.Commits; n++ {
				if i+n >= len(events) || events[i+n].Kind == "step" || events[i+n].Kind == "read" {
					return i, fmt.Errorf("a read of %d commits, and %d follow", e.Commits, n-1)
				}
			}
			i += e.Commits
		default:
			step = ""
		}
	}
	return 0, nil
}

// capturedColumn is a column of a table that a capture instance has.
type capturedColumn struct{ table, column string }

// sameColumns holds that a row has columns of its table only, and of those that were ever captured all: what is NULL is
// written. Who recorded the history saw no others.
func (p *Player) sameColumns(table string, row map[string]any, cols []tsql.Column) error {
	for _, c := range cols {
		if _, ok := row[c.Name]; !ok && p.captured[capturedColumn{table, c.Name}] {
			return fmt.Errorf("the column %s is missing", c.Name)
		}
	}
	for name := range row {
		known := false
		for _, c := range cols {
			known = known || c.Name == name
		}
		if !known {
			return fmt.Errorf("there is no column %s", name)
		}
	}
	return nil
}
