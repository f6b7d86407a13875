package tsql

import (
	"reflect"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// bind looks up what a statement names while its batch is compiled. One that has an error does not let the batch begin, and
// one that names a table that is not there is compiled when it is reached (Microsoft: Batches; CREATE PROCEDURE
// (Transact-SQL), Deferred Name Resolution). The first statement that does anything is bound when it runs, as nothing was
// done before it: most requests are one statement, which would be bound twice otherwise.
func (c *compiler) bind(st ast.Statement) error {
	switch {
	case !c.binding:
		return nil
	case c.level == 0 && !c.begun:
		c.first = st
		return nil
	}
	err := c.x.bound(st)
	if first := c.first; err != nil && first != nil {
		c.first = nil
		if e := c.x.bound(first); e != nil {
			return c.x.located(e, first)
		}
	}
	return err
}

// bound gives the error of a statement that compilation finds.
func (x *executor) bound(st ast.Statement) error {
	var part any = st
	x.compiling = true
	err := func() (err error) {
		defer catch(&err)
		switch s := st.(type) {
		case *ast.IfStatement:
			part = s.Predicate
			_, err = x.holds(s.Predicate)
		case *ast.WhileStatement:
			part = s.Predicate
			_, err = x.holds(s.Predicate)
		case *ast.PrintStatement:
			err = x.plain(func(b *binder) { b.printed(s) })
		case *ast.ReturnStatement:
			if s.Expression != nil {
				err = x.plain(func(b *binder) { b.valueOf(s.Expression, sqltype.Of(sqltype.Int)) })
			}
		case *ast.SelectStatement, *ast.InsertStatement, *ast.UpdateStatement, *ast.DeleteStatement, *ast.MergeStatement, *ast.SetVariableStatement,
			*ast.DeclareVariableStatement, *ast.DeclareCursorStatement:
			_, err = x.carryOut(st)
		}
		return err
	}()
	x.compiling = false
	if e := asError(err); e == nil || !compiled(e.Number) || x.deferred(part) {
		return nil
	}
	return err
}

// compiled tells the errors that a batch has before it begins, where they come from looking up what it names and from the
// types of that. Others, also what the simulator refuses, are those of a statement when it runs.
func compiled(number int32) bool {
	switch number {
	case 102, 156, 170, // syntax that is seen late
		107, 207, 209, 263, 1011, 1012, 1013, 1038, 4104, 239, 8155, 8156, 8158, 8159, // names
		137, 1087, 195, 174, 189, 155, 243, 258, 313, 448, 1023, 4108, 4112, 4113, 4116, 8144, 10752, 10753, 10756, 10759, 10760, 4193, 4194, 5308, 5309, // functions
		108, 116, 127, 130, 141, 144, 145, 147, 157, 164, 169, 205, 252, 408, 421, 1008, 1031, 1015, 1060, 10741, 240, 324, 1033, 1046, 1062, 8120, 8121, 8127, // clauses
		109, 110, 120, 121, 213, 264, 271, 272, 273, 1047, 1065, 8101, 8102, 10709, 10710, 10711, 10713, 10714, // changes
		206, 257, 305, 306, 402, 403, 446, 447, 451, 456, 457, 459, 468, 529, 1007, 4127, 4145, 4151, 4191, 5335, 8116, 8117, 8133: // types
		return true
	}
	return false
}

// unresolved tells whether an error is one of compiling a statement. A TRY does not see one of its own level: with a table
// that is there SQL Server does not begin the batch, without it does not go on (Microsoft: TRY...CATCH (Transact-SQL), Errors
// unaffected by a TRY...CATCH construct). The functions of change data capture have 313 when they run, and TOP of a variable
// 127 and 1031.
func unresolved(number int32) bool {
	switch number {
	case 313, 127, 1031:
		return false
	}
	return number == 208 || compiled(number)
}

// deferred tells whether a part of a statement names a table or a function of tables that is not there, or that may not be
// looked at.
func (x *executor) deferred(part any) bool {
	known := map[string]bool{} // names that the statement gives
	var named []*ast.NamedTableReference
	missing := false
	walkTree(reflect.ValueOf(part), func(node any) bool {
		switch n := node.(type) {
		case *ast.CommonTableExpression:
			known[lower(ident(n.ExpressionName))] = true
		case *ast.NamedTableReference:
			known[lower(ident(n.Alias))] = n.Alias != nil
			named = append(named, n)
		case *ast.SchemaObjectFunctionTableReference:
			fn, err := x.sess.TableFunction(objectName(n.SchemaObject))
			missing = missing || fn == nil || err != nil
		}
		return true
	})
	for _, n := range named {
		if o := n.SchemaObject; o == nil || o.BaseIdentifier == nil || o.SchemaIdentifier == nil && known[lower(ident(o.BaseIdentifier))] {
			continue
		}
		rel, err := x.sess.Relation(objectName(n.SchemaObject))
		missing = missing || rel == nil || err != nil
	}
	return missing
}

// within is a session in whose batch USE stands before a statement: it names what is in that database (Microsoft: USE
// (Transact-SQL): executed at both compile and execution time).
type within struct {
	Session
	database string
}

func (w within) place(n Name) Name {
	if n.Database == "" && n.Object != "" && n.Object[0] != '#' {
		n.Database = w.database
	}
	return n
}

// Relation finds a table or view of that database.
func (w within) Relation(n Name) (Relation, error) { return w.Session.Relation(w.place(n)) }

// TableFunction finds a function of that database.
func (w within) TableFunction(n Name) (*TableFunction, error) {
	return w.Session.TableFunction(w.place(n))
}

// Function finds a function of that database.
func (w within) Function(n Name) (*Function, error) { return w.Session.Function(w.place(n)) }

// use is USE while a batch is compiled.
func (c *compiler) use(s *ast.UseStatement) error {
	if !c.binding {
		return nil
	}
	sess := c.x.sess
	if w, ok := sess.(within); ok {
		sess = w.Session
	}
	name := required(s.DatabaseName)
	if _, err := sess.Relation(Name{Database: name, Schema: "sys", Object: "objects"}); err != nil {
		switch e := asError(err); {
		case e != nil && e.Number == 1222: // somebody is changing its shape
			c.binding = false
			return nil
		case e != nil && e.Number == 40515: // in Azure SQL Database, where USE itself is an error
			return nil
		}
		return err
	}
	c.x.sess = within{sess, name}
	return nil
}
