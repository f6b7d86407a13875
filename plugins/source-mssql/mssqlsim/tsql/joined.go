package tsql

import (
	"reflect"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// changed finds the table that UPDATE or DELETE changes: with a FROM the name may be an alias there (Microsoft: UPDATE
// (Transact-SQL), DELETE (Transact-SQL)). The name it gives is that of the table. Without a table it is what the FROM that it
// gives reads.
func (b *binder) changed(target ast.TableReference, from *ast.FromClause, out *ast.OutputClause, into *ast.OutputIntoClause) (Writable, Name, *ast.FromClause) {
	named, ok := target.(*ast.NamedTableReference)
	if ok && from == nil && b.expression(objectName(named.SchemaObject)) != nil {
		b.changing = named
		return nil, objectName(named.SchemaObject), &ast.FromClause{TableReferences: []ast.TableReference{named}}
	}
	if from == nil {
		w, n := b.target(target)
		return w, n, nil
	}
	if !ok {
		unsupported("FROM with a change of %s", nodeName(target))
	}
	onlyChanged(out, into)
	n := objectName(named.SchemaObject)
	var found []*ast.NamedTableReference
	for _, ref := range from.TableReferences {
		walkTree(reflect.ValueOf(ref), func(node any) bool {
			switch x := node.(type) {
			case *ast.QueryDerivedTable:
				return false
			case *ast.NamedTableReference:
				o := objectName(x.SchemaObject)
				if n.Schema == "" && sqltype.EqualName(ident(x.Alias), n.Object) || x.Alias == nil && sqltype.EqualName(o.Object, n.Object) && (n.Schema == "" || o.Schema == "" || sqltype.EqualName(o.Schema, n.Schema)) {
					found = append(found, x)
				}
			}
			return true
		})
	}
	if len(found) == 0 {
		if rel, err := b.sess.Relation(n); rel == nil && err == nil {
			failf(208, "Invalid object name '%s'.", n)
		}
	}
	if len(found) != 1 {
		unsupported("a change of %s, which its FROM does not name once", n)
	}
	b.changing = found[0]
	if b.expression(objectName(found[0].SchemaObject)) != nil {
		return nil, n, from
	}
	w, n := b.target(found[0])
	return w, n, from
}

// joinedRows plans the scan of an UPDATE or DELETE with FROM.
func (b *binder) joinedRows(name Name, from *ast.FromClause, where *ast.WhereClause, top *ast.TopRowFilter) (*scope, *changeTarget, node) {
	b.rowsWanted = false
	sc := &scope{}
	src := b.declareAll(from, sc)
	if b.changes == nil {
		unsupported("a change of %s in this FROM", name)
	}
	var cs []*conjunct
	if where != nil {
		cs = b.conjuncts(where.SearchCondition, sc)
	}
	n := b.join(src, sc, cs, 0)
	return sc, b.changes, b.limited(b.rest(n, cs), top)
}
