package tsql

import (
	"cmp"
	"runtime"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// frame holds the current row of every table of one query; outer is the frame of the query around it.
type frame struct {
	seg   []sqltype.Row
	outer *frame
}

// tableRef is one table of a FROM clause.
type tableRef struct {
	idx    int // its segment in the frame
	alias  string
	schema string
	cols   []Column
	pruned bool // only columns in use are read
	pos    map[int]int
	want   []int
	// unbuilt are columns that it has in SQL Server and not here.
	unbuilt []string
	// exposed is the name that a FROM clause knows it by, if it is of one.
	exposed exposedName
}

// exposedName is a correlation name or the name of a table as it was written.
type exposedName struct {
	Name
	correlation bool
}

// expose gives a table of a FROM clause its name, which no other may have (Microsoft: FROM clause plus JOIN, APPLY, PIVOT
// (Transact-SQL), table_alias; Database engine events and errors 1000 to 1999). A function without an alias has none.
func (s *scope) expose(t *tableRef, ref ast.TableReference) {
	e := exposedName{Name{Object: t.alias}, true}
	switch r := ref.(type) {
	case *ast.NamedTableReference:
		if r.Alias == nil {
			e = exposedName{objectName(r.SchemaObject), false}
		}
	case *ast.VariableTableReference:
		e.correlation = r.Alias != nil
	case *ast.QueryDerivedTable, *ast.InlineDerivedTable:
	case *ast.SchemaObjectFunctionTableReference:
		if r.Alias == nil {
			return
		}
	default:
		return
	}
	for _, o := range s.tables {
		switch same := sqltype.EqualName(o.exposed.Object, e.Object); {
		case o == t || !same || o.exposed.Object == "":
		case o.exposed.correlation && e.correlation:
			failf(1011, "The correlation name '%s' is specified multiple times in a FROM clause.", e.Object)
		case o.exposed.correlation:
			failf(1012, "The correlation name '%s' has the same exposed name as table '%s'.", o.exposed.Object, e.Name)
		case e.correlation:
			failf(1012, "The correlation name '%s' has the same exposed name as table '%s'.", e.Object, o.exposed.Name)
		case sqltype.EqualName(orDbo(o.exposed.Schema), orDbo(e.Schema)) && sqltype.EqualName(o.exposed.Database, e.Database):
			failf(1013, "The objects \"%s\" and \"%s\" in the FROM clause have the same exposed names. Use correlation names to distinguish them.", o.exposed.Name, e.Name)
		}
	}
	t.exposed = e
}

func orDbo(schema string) string { return cmp.Or(schema, "dbo") }

// use gives the place of a column in the segment.
func (t *tableRef) use(ord int) int {
	if !t.pruned {
		return ord
	}
	p, ok := t.pos[ord]
	if !ok {
		if t.pos == nil {
			t.pos = map[int]int{}
		}
		p = len(t.want)
		t.pos[ord] = p
		t.want = append(t.want, ord)
	}
	return p
}

// expr gives a column without its eval. Text of a table has the collation of its column; that of a query in FROM may come
// from a constant, which has none of its own.
func (t *tableRef) expr(ord, depth int) expr {
	col := t.cols[ord]
	e := expr{typ: col.Type, null: col.Nullable, ref: t, ord: ord, depth: depth}
	switch {
	case col.Type.Class() != sqltype.ClassString:
	case !t.pruned && col.label != nil:
		e = e.labelled(*col.label)
	case t.pruned || col.Type.Collation != "":
		e.coll = implicit
	}
	return e
}

// scope is what names mean at one place of a query.
type scope struct {
	tables []*tableRef
	outer  *scope
	// touched collects the segments that expressions bound in this scope read.
	touched uint64
	// reads counts the columns of this scope that were bound, here and in subqueries.
	reads int
	// group is set where only groups and aggregates exist; base is then the scope of the rows.
	group *grouping
	// windows collects window functions met while binding the select list.
	windows *[]*windowCall
	// action is the table of $action in OUTPUT.
	action *tableRef
}

func (s *scope) add(alias, schema string, cols []Column, pruned bool) *tableRef {
	t := &tableRef{idx: len(s.tables), alias: alias, schema: schema, cols: cols, pruned: pruned}
	if t.idx >= 64 {
		panic(bindError{sqltype.Unsupported("a query with more than 64 tables")})
	}
	s.tables = append(s.tables, t)
	return t
}

// bindError carries an error out of the binder, which is recovered where a statement is compiled.
type bindError struct{ err error }

func fail(err error) { panic(bindError{err}) }

func failf(number int32, format string, args ...any) { fail(sqltype.Errorf(number, format, args...)) }

func unsupported(format string, args ...any) { fail(sqltype.Unsupported(format, args...)) }

// catch turns a bindError into an error. So it does with the use of a part of the tree that is not there: the parser
// (teesql v1.1.0) accepts statements that it has not read to their end, and leaves holes in them.
func catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case bindError:
		*err = r.err
	case runtime.Error:
		if !strings.Contains(r.Error(), "nil pointer") {
			panic(r)
		}
		*err = incomplete()
	default:
		panic(r)
	}
}

// incomplete is the error of a statement that the parser read only a part of. Its text is that of the place where the
// statement ends, see located.
func incomplete() *sqltype.Error { return sqltype.Errorf(102, "") }

func ident(i *ast.Identifier) string {
	if i == nil {
		return ""
	}
	return i.Value
}

// required gives a name that a statement cannot do without.
func required(i *ast.Identifier) string {
	if i == nil || i.Value == "" {
		fail(incomplete())
	}
	return i.Value
}

// objectName gives the name of an object. The parser leaves holes where it misread a statement.
func objectName(o *ast.SchemaObjectName) Name {
	if o == nil || o.BaseIdentifier == nil {
		fail(incomplete())
	}
	if o.ServerIdentifier != nil {
		unsupported("linked server names such as %s", o.ServerIdentifier.Value)
	}
	return Name{ident(o.DatabaseIdentifier), ident(o.SchemaIdentifier), ident(o.BaseIdentifier)}
}

// called tells whether the prefix of a column may mean a table; parts that are empty were not written.
func (t *tableRef) called(alias, schema string) bool {
	return (alias == "" || sqltype.EqualName(t.alias, alias)) && (schema == "" || sqltype.EqualName(t.schema, schema))
}

// prefixed gives the parts of a column's name.
func prefixed(c *ast.ColumnReferenceExpression) (name, alias, schema string) {
	ids := c.MultiPartIdentifier.Identifiers
	name = ids[len(ids)-1].Value
	if len(ids) > 1 {
		alias = ids[len(ids)-2].Value
	}
	if len(ids) > 2 {
		schema = ids[len(ids)-3].Value
	}
	return name, alias, schema
}

// find looks a column up in one scope.
func (s *scope) find(c *ast.ColumnReferenceExpression) (t *tableRef, ord int) {
	name, alias, schema := prefixed(c)
	for _, x := range s.tables {
		if !x.called(alias, schema) {
			continue
		}
		for _, u := range x.unbuilt {
			if sqltype.EqualName(u, name) {
				x.refuse(u)
			}
		}
		for i := range x.cols {
			if sqltype.EqualName(x.cols[i].Name, name) {
				if t != nil {
					failf(209, "Ambiguous column name '%s'.", name)
				}
				t, ord = x, i
			}
		}
	}
	return t, ord
}

// refuse is the error of a column that is not built.
func (t *tableRef) refuse(column string) {
	unsupported("the column %s of %s, which SQL Server has and the simulator has not", column, t.alias)
}

func columnText(c *ast.ColumnReferenceExpression) string {
	if c == nil || c.MultiPartIdentifier == nil {
		fail(incomplete())
	}
	var n []string
	for _, i := range c.MultiPartIdentifier.Identifiers {
		n = append(n, i.Value)
	}
	return strings.Join(n, ".")
}

// column binds a column of this or an outer query.
func (b *binder) column(c *ast.ColumnReferenceExpression, sc *scope) expr {
	if sc != nil && sc.action != nil && c.ColumnType == "PseudoColumnAction" {
		seg := sc.action.idx
		return expr{typ: sc.action.cols[0].Type, null: true, eval: func(f *frame) sqltype.Value { return f.seg[seg][0] }}
	}
	if c.MultiPartIdentifier == nil {
		unsupported("the column reference %s", kindWords(c.ColumnType))
	}
	depth := 0
	for s := sc; s != nil; s, depth = s.outer, depth+1 {
		if s.group != nil {
			if e, ok := s.group.column(b, c); ok {
				s.reads++
				return e.at(depth)
			}
		}
		t, ord := s.find(c)
		if t == nil {
			continue
		}
		s.touched |= 1 << t.idx
		s.reads++
		seg, pos := t.idx, t.use(ord)
		e := t.expr(ord, depth)
		switch depth {
		case 0:
			e.eval = func(f *frame) sqltype.Value { return f.seg[seg][pos] }
		case 1:
			e.eval = func(f *frame) sqltype.Value { return f.outer.seg[seg][pos] }
		default:
			e.eval = func(f *frame) sqltype.Value {
				for range depth {
					f = f.outer
				}
				return f.seg[seg][pos]
			}
		}
		return e
	}
	if p, ok := b.columnProperty(c, sc); ok {
		return p
	}
	noColumn(c, sc)
	return expr{}
}

// noColumn refuses a column that is not there: with a prefix that means no table it is another error (Microsoft:
// MSSQLSERVER_207, MSSQLSERVER_4104).
func noColumn(c *ast.ColumnReferenceExpression, sc *scope) {
	name, alias, schema := prefixed(c)
	for s := sc; s != nil; s = s.outer {
		for _, t := range s.tables {
			if alias == "" || t.called(alias, schema) {
				failf(207, "Invalid column name '%s'.", name)
			}
		}
	}
	if alias != "" {
		failf(4104, "The multi-part identifier \"%s\" could not be bound.", columnText(c))
	}
	failf(207, "Invalid column name '%s'.", name)
}
