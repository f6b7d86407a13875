package cdc

import (
	"fmt"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// textReplSize is the one server option that can be changed, and that is obeyed (Microsoft: Configure the max text repl
// size (server configuration option)).
const (
	textReplSize    = "max text repl size (B)"
	textReplDefault = 65536
)

// valueOf gives the configured value of an option and the one in use.
func (s *Server) valueOf(option string, value int64) (configured, inUse int64) {
	if option == textReplSize {
		return s.textRepl.Load(), s.textReplUsed.Load()
	}
	return value, value
}

// configureParams are those of sp_configure.
var configureParams = []tsql.Param{may("@configname", sqltype.Str(sqltype.VarChar, 35)), may("@configvalue", integer)}

// configure is Microsoft: sp_configure (Transact-SQL): it lists options, or gives one a value that RECONFIGURE installs.
func configure(s *Session, _ *Database, a args) (*tsql.Rows, error) {
	name := a.str("@configname")
	var found []string
	for _, c := range configurations {
		if name == "" && !c.advanced || name != "" && strings.Contains(lower(c.name), lower(name)) {
			found = append(found, c.name)
		}
	}
	if name != "" && len(found) != 1 {
		return nil, sqltype.Errorf(15123, "The configuration option '%s' does not exist, or it may be an advanced option.", name)
	}
	if a.given("@configvalue") {
		return s.setOption(found[0], a["@configvalue"].Int())
	}
	r := &tsql.Rows{Cols: []tsql.Column{col("name", sqltype.Str(sqltype.NVarChar, 35)), ncol("minimum", integer), ncol("maximum", integer), ncol("config_value", integer), ncol("run_value", integer)}}
	for _, c := range configurations {
		if named(found, c.name) {
			set, used := s.srv.valueOf(c.name, c.value)
			r.Data = append(r.Data, sqltype.Row{text(c.name), num(c.minimum), num(c.maximum), num(set), num(used)})
		}
	}
	return r, nil
}

func (s *Session) setOption(name string, value int64) (*tsql.Rows, error) {
	if !s.serverCan("ALTER SETTINGS") {
		return nil, sqltype.Errorf(15247, "User does not have permission to perform this action.")
	}
	for _, c := range configurations {
		if c.name == name && (value < c.minimum || value > c.maximum) {
			return nil, sqltype.Errorf(15129, "'%d' is not a valid value for configuration option '%s'.", value, name)
		}
	}
	if name != textReplSize {
		return nil, sqltype.Unsupported("another value of the option %s", name)
	}
	was := s.srv.textRepl.Swap(value)
	return informed(&sqltype.Error{Number: 15457, State: 1, Message: fmt.Sprintf("Configuration option '%s' changed from %d to %d. Run the RECONFIGURE statement to install.", name, was, value)}), nil
}

// Reconfigure is RECONFIGURE.
func (s *Session) Reconfigure() error {
	if !s.serverCan("ALTER SETTINGS") {
		return sqltype.Errorf(5812, "You do not have permission to run the RECONFIGURE statement.")
	}
	s.srv.textReplUsed.Store(s.srv.textRepl.Load())
	return nil
}

// replicable refuses changes that put larger values into captured columns than the server's option allows. Whoever fills
// tables by the model's own interface is not asked.
func (s *Session) replicable(t *Table, changes []tsql.Change) error {
	limit := s.srv.textReplUsed.Load()
	if limit < 0 {
		return nil
	}
	t.db.mu.RLock()
	var large []int // places in the row
	for i, c := range t.columns {
		for _, in := range t.inst {
			if c.Type.LOB() && in.column(c.id) != nil {
				large = append(large, i)
				break
			}
		}
	}
	columns := t.columns
	t.db.mu.RUnlock()
	for _, i := range large {
		for _, c := range changes {
			if c.New == nil || c.New[i].IsNull() || c.Old != nil && c.Old[i].Same(c.New[i]) {
				continue
			}
			n := int64(sqltype.Length(c.New[i], columns[i].Type))
			if columns[i].Type.Unicode() {
				n *= 2
			}
			if n > limit {
				return sqltype.Errorf(7139, "Length of LOB data (%d) to be replicated exceeds configured maximum %d. Use the stored procedure sp_configure to increase the configured maximum value for max text repl size option, which defaults to 65536. A configured value of -1 indicates no limit, other that the limit imposed by the data type.", n, limit)
			}
		}
	}
	return nil
}
