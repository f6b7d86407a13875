package tsql

import (
	"reflect"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// changed finds the table that UPDATE or DELETE changes: with a FROM the name may be an alias there (Microsoft: UPDATE
// (Transact-SQL), DELETE (Transact-SQL)). The name it gives is that of the table.
func (b *binder) changed(target ast.TableReference, from *ast.FromClause, out *ast.OutputClause, into *ast.OutputIntoClause) (Writable, Name) {
	named, ok := target.(*ast.NamedTableReference)
	if ok && named.SchemaObject != nil && b.ctes[lower(ident(named.SchemaObject.BaseIdentifier))] != nil && named.SchemaObject.SchemaIdentifier == nil {
		unsupported("a change of the common table expression %s", ident(named.SchemaObject.BaseIdentifier))
	}
	if from == nil {
		return b.target(target)
	}
	if !ok {
		unsupported("FROM with a change of %s", nodeName(target))
	}
	for _, clause := range []any{out, into} {
		walkTree(reflect.ValueOf(clause), func(node any) bool {
			c, ok := node.(*ast.ColumnReferenceExpression)
			if ok && c.MultiPartIdentifier != nil {
				if first := c.MultiPartIdentifier.Identifiers[0].Value; !sqltype.EqualName(first, "inserted") && !sqltype.EqualName(first, "deleted") {
					unsupported("OUTPUT of columns of FROM")
				}
			}
			return !ok
		})
	}
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
	return b.target(found[0])
}

// joinedRows plans the scan of an UPDATE or DELETE with FROM.
func (b *binder) joinedRows(name Name, from *ast.FromClause, where *ast.WhereClause, top *ast.TopRowFilter) (*scope, *tableRef, node) {
	b.rowsWanted = false
	sc := &scope{}
	src := b.declareAll(from, sc)
	if b.changingScan == nil {
		unsupported("a change of %s in this FROM", name)
	}
	b.changingScan.write = true
	target := b.changingScan.ref
	for i := range target.cols {
		target.use(i)
	}
	target.use(RowID)
	var cs []*conjunct
	if where != nil {
		cs = b.conjuncts(where.SearchCondition, sc)
	}
	n := b.join(src, sc, cs, 0)
	return sc, target, b.limited(b.rest(n, cs), top)
}
