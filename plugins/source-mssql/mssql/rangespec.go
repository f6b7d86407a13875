package mssql

import (
	"encoding/json"
	"fmt"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/lsn"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

// rangeFormat is the version of rangeSpec; another one is refused.
const rangeFormat = 1

// rangeSpec is everything that reading a range needs, so that a reader keeps
// no state and asks the server for nothing but rows.
type rangeSpec struct {
	Format   int           `json:"format"`
	Instance string        `json:"instance"`
	From     string        `json:"from"`
	To       string        `json:"to"`
	Columns  []rangeColumn `json:"columns"`
	// CommandID reads __$command_id.
	CommandID bool `json:"command_id"`
	// Zone and Offset are the planner's clock; a reader never detects it.
	Zone   string `json:"zone,omitempty"`
	Offset int    `json:"offset,omitempty"`
	// Last marks the last range of a batch, which measures more.
	Last bool `json:"last,omitempty"`
	// Start is the batch's start: a loss found later begins there.
	StartCommit *int64 `json:"start_commit,omitempty"`
	SkipLost    bool   `json:"skip_lost,omitempty"`
}

// rangeColumn is one column of the output.
type rangeColumn struct {
	Name string `json:"name"`
	Type string `json:"type"`
	// Source is its spelling in this instance, "" when it has none and reads
	// NULL.
	Source string `json:"source,omitempty"`
}

func (r rangeSpec) encode() (plugin.Range, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encoding a range: %w", err)
	}
	return data, nil
}

// decodeRange reads a range and validates again what stands in statements.
func decodeRange(data plugin.Range) (r rangeSpec, from, to lsn.LSN, err error) {
	fail := func(err error) (rangeSpec, lsn.LSN, lsn.LSN, error) {
		return rangeSpec{}, lsn.LSN{}, lsn.LSN{}, fmt.Errorf("a range that cannot be read: %w", err)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return fail(err)
	}
	if r.Format != rangeFormat {
		return fail(fmt.Errorf("its format is %d, this plugin knows %d", r.Format, rangeFormat))
	}
	if err := tsql.CheckCaptureInstance(r.Instance); err != nil {
		return fail(err)
	}
	if r.Zone != "" {
		if err := tsql.CheckZone(r.Zone); err != nil {
			return fail(err)
		}
	}
	if from, err = lsn.Parse(r.From); err != nil {
		return fail(err)
	}
	if to, err = lsn.Parse(r.To); err != nil {
		return fail(err)
	}
	if to.Less(from) {
		return fail(fmt.Errorf("it runs from %s down to %s", from, to))
	}
	return r, from, to, nil
}

// shape is the structure of the range's rows.
func (r rangeSpec) shape() (shape, error) {
	s := shape{commandID: r.CommandID}
	for _, c := range r.Columns {
		t, err := parseOutType(c.Type)
		if err != nil {
			return shape{}, fmt.Errorf("column %s of a range: %w", c.Name, err)
		}
		s.columns = append(s.columns, outColumn{name: c.Name, typ: t})
	}
	return s, nil
}
