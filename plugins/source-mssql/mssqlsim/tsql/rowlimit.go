package tsql

import (
	"errors"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// errEnough ends a statement that has affected as many rows as SET ROWCOUNT lets it.
var errEnough = errors.New("as many rows as SET ROWCOUNT says")

// enough gives errEnough when a statement has come to the number of rows of SET ROWCOUNT (Microsoft: SET ROWCOUNT
// (Transact-SQL)).
func (r *run) enough(rows int) error {
	if n := r.sess.Settings().RowCount; n > 0 && int64(rows) >= n {
		return errEnough
	}
	return nil
}

// unlimited refuses what SET ROWCOUNT may or may not limit while it does.
func (x *executor) unlimited(what string) error {
	if n := x.sess.Settings().RowCount; n > 0 {
		return sqltype.Unsupported("%s while ROWCOUNT is %d", what, n)
	}
	return nil
}

// textLimit gives what cuts the rows of a SELECT to SET TEXTSIZE, nil when it cuts none (Microsoft: SET TEXTSIZE
// (Transact-SQL)).
func (x *executor) textLimit(cols []Column) func(sqltype.Row) sqltype.Row {
	size := x.sess.Settings().TextSize
	var long []int
	for i, c := range cols {
		switch k := c.Type.Kind; {
		case k == sqltype.XML:
		case c.Type.Len == sqltype.Max && (c.Type.Class() == sqltype.ClassString || c.Type.Class() == sqltype.ClassBinary), k == sqltype.Text, k == sqltype.NText, k == sqltype.Image:
			long = append(long, i)
		}
	}
	if size <= 0 || size == 1<<31-1 || long == nil {
		return nil
	}
	var out sqltype.Row
	return func(row sqltype.Row) sqltype.Row {
		out = append(out[:0], row...)
		for _, i := range long {
			if !out[i].IsNull() {
				out[i] = sqltype.Beginning(out[i], int(size), cols[i].Type)
			}
		}
		return out
	}
}
