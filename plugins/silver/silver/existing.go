package silver

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
	"github.com/pipectl/pipectl/plugins/silver/silver/latest"
)

// maxKeysAsked is how many keys a scan of the target names; more are looked for in
// all its files.
const maxKeysAsked = 1000

// moves is how keys that passed from row to row are ranked. In a table that is
// built anew no key was there before.
func (a *application) moves() *latest.Moves {
	moves := &latest.Moves{}
	for _, f := range a.shape.captured {
		moves.Image = append(moves.Image, f.Name)
	}
	if !a.decision.rebuild && a.base.rows != 0 {
		moves.Exists = a.exists
	}
	return moves
}

// exists reads which keys the target had at the version that the merge begins
// from: no other commit may change its rows until then.
func (a *application) exists(ctx context.Context, keys arrow.RecordBatch) ([]bool, error) {
	members, err := latest.NewMembers(keys)
	if err != nil {
		return nil, err
	}
	frames, err := a.host.Tables.Scan(ctx, plugin.ScanRequest{Table: a.req.Target, Version: a.base.version, Columns: a.req.Key, Filter: keyFilter(keys)})
	if err != nil {
		return nil, fmt.Errorf("reading the keys of %s: %w", a.req.Target.Name, err)
	}
	reader, err := rows.NewReader(frames, a.current.alloc)
	if err != nil {
		return nil, fmt.Errorf("reading the keys of %s: %w", a.req.Target.Name, err)
	}
	if _, err := reader.ForEach(members.Look); err != nil {
		return nil, fmt.Errorf("reading the keys of %s: %w", a.req.Target.Name, err)
	}
	return members.Found, nil
}

// keyFilter narrows a scan to the first column of keys, where that is an integer
// or a text; a scan may return more.
func keyFilter(keys arrow.RecordBatch) plugin.Filter {
	term := plugin.Term{Column: keys.ColumnName(0), Op: plugin.OpIn}
	c := keys.Column(0)
	if c.Len() > maxKeysAsked || c.NullN() > 0 {
		return plugin.Filter{}
	}
	for i := range c.Len() {
		switch c := c.(type) {
		case *array.Int16:
			term.Literals = append(term.Literals, integer(int64(c.Value(i))))
		case *array.Int32:
			term.Literals = append(term.Literals, integer(int64(c.Value(i))))
		case *array.Int64:
			term.Literals = append(term.Literals, integer(c.Value(i)))
		case *array.String:
			term.Literals = append(term.Literals, text(c.Value(i)))
		default:
			return plugin.Filter{}
		}
	}
	return plugin.Filter{Any: []plugin.Clause{{All: []plugin.Term{term}}}}
}
