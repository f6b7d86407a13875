package tsql

import (
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// heldCursor is a cursor of T-SQL: a query whose rows are fetched one by one (Microsoft: DECLARE CURSOR (Transact-SQL)).
type heldCursor struct {
	name   string // in messages
	kind   cursorKind
	scroll bool
	query  cursorQuery
	open   bool
	rows   []sqltype.Row
	held   int64 // bytes of rows, see memory
	at     int   // of the row fetched last; -1 is before the first
	gone   bool  // that row is not there any more: the next one is at the place after at
	stamp  uint64
}

// cursorKind says what a cursor sees of changes behind its back.
type cursorKind uint8

const (
	dynamicCursor cursorKind = iota
	keysetCursor
	staticCursor
	fastCursor
	// scrollCursor was declared with SCROLL alone, of which documentation does not say what it sees
	scrollCursor
)

// cursors are those of a session: the ones without LOCAL, and what the functions of cursors tell.
type cursors struct {
	global map[string]*heldCursor
	status int64 // @@FETCH_STATUS
	last   *heldCursor
}

// cursorVar is a variable of type cursor; nil where it has none.
type cursorVar struct{ cursor *heldCursor }

// cursorStatement carries out the statements about cursors.
func (x *executor) cursorStatement(st ast.Statement) (bool, error) {
	var err error
	switch s := st.(type) {
	case *ast.DeclareCursorStatement:
		err = x.declareCursor(s)
	case *ast.OpenCursorStatement:
		err = x.openCursor(s)
	case *ast.FetchCursorStatement:
		err = x.fetchCursor(s)
	case *ast.CloseCursorStatement:
		err = x.closeCursor(s)
	case *ast.DeallocateCursorStatement:
		err = x.deallocateCursor(s)
	default:
		return false, nil
	}
	return true, err
}

func (x *executor) declareCursor(s *ast.DeclareCursorStatement) error {
	return x.scoped(false, func(b *binder) error {
		name := required(s.Name)
		local, c := x.newCursor(b, name, s.CursorDefinition)
		if b.compiling {
			return nil
		}
		held := x.sess.Settings().cursors.all()
		if local {
			held = x.batch.localCursors()
		}
		if held[lower(name)] != nil {
			return sqltype.Errorf(16915, "A cursor with the name '%s' already exists.", name)
		}
		held[lower(name)] = c
		x.batch.rowCount = 0
		return nil
	})
}

// all gives the cursors of the session.
func (c *cursors) all() map[string]*heldCursor {
	if c.global == nil {
		c.global = map[string]*heldCursor{}
	}
	return c.global
}

// localCursors gives the cursors of the batch or procedure, which end with it.
func (b *batch) localCursors() map[string]*heldCursor {
	if b.cursors == nil {
		b.cursors = map[string]*heldCursor{}
	}
	return b.cursors
}

// newCursor makes a cursor of its definition. Values of variables are those of now.
func (x *executor) newCursor(b *binder, name string, d *ast.CursorDefinition) (local bool, c *heldCursor) {
	var given []string
	has := func(kind string) bool {
		for _, g := range given {
			if strings.EqualFold(g, kind) {
				return true
			}
		}
		return false
	}
	for _, o := range d.Options {
		switch o.OptionKind {
		case "Local", "Global", "ForwardOnly", "Scroll", "Static", "Insensitive", "Keyset", "Dynamic", "FastForward", "ReadOnly", "Optimistic":
		default: // SCROLL_LOCKS asks for locks that a fetch keeps, TYPE_WARNING for a message of conversions
			unsupported("the option %s of a cursor", optionWord(o.OptionKind))
		}
		given = append(given, o.OptionKind)
	}
	for _, pair := range [][2]string{{"Local", "Global"}, {"ForwardOnly", "Scroll"}, {"Static", "Keyset"}, {"Static", "Dynamic"}, {"Static", "FastForward"}, {"Keyset", "Dynamic"},
		{"Keyset", "FastForward"}, {"Dynamic", "FastForward"}, {"FastForward", "Scroll"}, {"FastForward", "Optimistic"}, {"ReadOnly", "Optimistic"}} {
		if has(pair[0]) && has(pair[1]) {
			failf(1048, "Conflicting cursor options %s and %s.", cursorWord(pair[0]), cursorWord(pair[1]))
		}
	}
	c = &heldCursor{name: name, scroll: has("Scroll")}
	typed := true
	switch {
	case has("Static"), has("Insensitive"):
		c.kind = staticCursor
	case has("Keyset"):
		c.kind = keysetCursor
	case has("Dynamic"):
		c.kind = dynamicCursor
	case has("FastForward"):
		c.kind = fastCursor
	case has("Scroll"):
		c.kind = scrollCursor
	default:
		typed = false
	}
	if typed && c.kind != fastCursor && !has("ForwardOnly") && !has("Insensitive") {
		c.scroll = true
	}
	c.query = x.cursorQuery(b, d.Select)
	if c.query.copied {
		c.kind = staticCursor
	}
	return has("Local"), c
}

// cursorWord writes an option as statements do.
func cursorWord(option string) string {
	switch option {
	case "ForwardOnly":
		return "FORWARD_ONLY"
	case "FastForward":
		return "FAST_FORWARD"
	case "ReadOnly":
		return "READ_ONLY"
	}
	return strings.ToUpper(option)
}

// cursor finds the cursor of a statement: that of a variable, one of the batch, or one of the session.
func (x *executor) cursor(id *ast.CursorId) *heldCursor {
	name := nameOf(id.Name)
	if strings.HasPrefix(name, "@") {
		v := x.cursorVariable(name)
		if v.cursor == nil {
			failf(16950, "The variable '%s' does not currently have a cursor allocated to it.", name)
		}
		return v.cursor
	}
	if c := x.batch.cursors[lower(name)]; c != nil && !id.IsGlobal {
		return c
	}
	c := x.sess.Settings().cursors.global[lower(name)]
	if c == nil {
		failf(16916, "A cursor with the name '%s' does not exist.", name)
	}
	return c
}

func (x *executor) cursorVariable(name string) *cursorVar {
	v := x.batch.cursorVars[lower(name)]
	if v == nil {
		failf(137, "Must declare the scalar variable \"%s\".", name)
	}
	return v
}

// declareCursorVariable is DECLARE @name CURSOR; ok is false for a variable of another type.
func (x *executor) declareCursorVariable(d *ast.DeclareVariableElement) (ok bool) {
	if d.DataType == nil || d.DataType.SqlDataTypeOption != "Cursor" {
		return false
	}
	if x.batch.cursorVars == nil {
		x.batch.cursorVars = map[string]*cursorVar{}
	}
	x.batch.cursorVars[lower(d.VariableName.Value)] = &cursorVar{}
	return true
}

// setCursor is SET @name = CURSOR ..., = @other and = name; ok is false for a variable of another type.
func (x *executor) setCursor(s *ast.SetVariableStatement) (ok bool, err error) {
	if s.CursorDefinition == nil && x.batch.cursorVars[lower(s.Variable.Name)] == nil {
		return false, nil
	}
	return true, x.scoped(false, func(b *binder) error {
		v := x.cursorVariable(s.Variable.Name)
		if b.compiling {
			if s.Expression == nil {
				x.newCursor(b, s.Variable.Name, s.CursorDefinition)
			}
			return nil
		}
		switch e := s.Expression.(type) {
		case nil:
			_, v.cursor = x.newCursor(b, s.Variable.Name, s.CursorDefinition)
		case *ast.VariableReference:
			v.cursor = x.cursorVariable(e.Name).cursor
		case *ast.ColumnReferenceExpression:
			v.cursor = x.cursor(&ast.CursorId{Name: &ast.IdentifierOrValueExpression{Value: columnText(e)}})
		default:
			unsupported("this form of SET %s", s.Variable.Name)
		}
		return nil
	})
}

func (x *executor) openCursor(s *ast.OpenCursorStatement) error {
	if err := x.unlimited("OPEN of a cursor"); err != nil {
		return err
	}
	return x.plain(func(b *binder) {
		c := x.cursor(s.Cursor)
		if c.open {
			failf(16905, "The cursor is already open.")
		}
		if x.sess.Settings().Options&optionBits["CURSORCLOSEONCOMMIT"] != 0 {
			unsupported("a cursor while CURSOR_CLOSE_ON_COMMIT is ON")
		}
		stamp := x.sess.Stamp()
		rows, err := x.rowsOf(&c.query)
		if err != nil {
			fail(err)
		}
		c.holds(x.sess.Settings(), rows)
		c.at, c.gone, c.open, c.stamp = -1, false, true, stamp
		x.sess.Settings().cursors.last = c
		x.batch.rowCount = int64(len(rows))
	})
}

func (x *executor) closeCursor(s *ast.CloseCursorStatement) error {
	return x.plain(func(*binder) {
		c := x.cursor(s.Cursor)
		if !c.open {
			failf(16917, "Cursor is not open.")
		}
		c.open = false
		c.holds(x.sess.Settings(), nil)
		x.batch.rowCount = 0
	})
}

// deallocateCursor takes a name or a variable from a cursor. A cursor that has another still can be fetched by it.
func (x *executor) deallocateCursor(s *ast.DeallocateCursorStatement) error {
	return x.plain(func(*binder) {
		c := x.cursor(s.Cursor)
		name := lower(nameOf(s.Cursor.Name))
		held := x.sess.Settings().cursors.global
		switch {
		case strings.HasPrefix(name, "@"):
			x.cursorVariable(name).cursor = nil
		case x.batch.cursors[name] == c:
			delete(x.batch.cursors, name)
		default:
			delete(held, name)
		}
		if !x.named(c) {
			c.open = false
			c.holds(x.sess.Settings(), nil)
		}
		x.batch.rowCount = 0
	})
}

// named tells whether anything still means the cursor.
func (x *executor) named(c *heldCursor) bool {
	for _, m := range []map[string]*heldCursor{x.sess.Settings().cursors.global, x.batch.cursors} {
		for _, o := range m {
			if o == c {
				return true
			}
		}
	}
	for _, v := range x.batch.cursorVars {
		if v.cursor == c {
			return true
		}
	}
	return false
}

// cursorStatus is CURSOR_STATUS (Microsoft: CURSOR_STATUS (Transact-SQL)).
func (b *binder) cursorStatus(args []expr) expr {
	if len(args) != 2 {
		failf(174, "The cursor_status function requires 2 argument(s).")
	}
	vals := make([]string, 2)
	for i, a := range args {
		if !a.konst {
			unsupported("CURSOR_STATUS of a column")
		}
		vals[i] = b.cast(a, sqltype.SysName, 0).eval(&frame{}).Str()
	}
	var c *heldCursor
	status := int64(-3)
	switch lower(vals[0]) {
	case "global":
		c = b.sess.Settings().cursors.global[lower(vals[1])]
	case "local":
		c = b.batch.cursors[lower(vals[1])]
	case "variable":
		if v := b.batch.cursorVars[lower(vals[1])]; v != nil {
			c, status = v.cursor, -2
		}
	}
	if c != nil {
		switch {
		case !c.open:
			status = -1
		case len(c.rows) > 0 || c.kind == dynamicCursor:
			status = 1
		case c.kind == fastCursor || c.kind == scrollCursor: // dynamic ones have 1 here
			unsupported("CURSOR_STATUS of an empty cursor of this kind")
		default:
			status = 0
		}
	}
	return constant(sqltype.Of(sqltype.SmallInt), sqltype.FromInt(status))
}

// cursorRowCount is @@CURSOR_ROWS (Microsoft: @@CURSOR_ROWS (Transact-SQL)).
func (b *binder) cursorRowCount() expr {
	n := int64(0)
	if c := b.sess.Settings().cursors.last; c != nil && c.open {
		switch c.kind {
		case staticCursor, keysetCursor:
			n = int64(len(c.rows))
		case dynamicCursor:
			n = -1
		default:
			unsupported("@@CURSOR_ROWS of a cursor of this kind")
		}
	}
	return constant(sqltype.Of(sqltype.Int), sqltype.FromInt(n))
}
