package tsql

import (
	"errors"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// selectInto makes a table of the rows of a query: its columns have their names, types and whether they may be NULL, and
// one of a single table stays an identity column (Microsoft: SELECT - INTO Clause (Transact-SQL)).
func (x *executor) selectInto(s *ast.SelectStatement) error {
	return x.scoped(true, func(b *binder) error {
		b.hints(s.OptimizerHints)
		b.with(s.WithCtesAndXmlNamespaces)
		name := objectName(s.Into)
		if on := ident(s.On); on != "" {
			filegroup(on)
		}
		p := b.query(s.QueryExpression, nil)
		cols := p.columns()
		namedAll(cols)
		identity := b.keptIdentity(p)
		def := TableDef{Name: name}
		for i, c := range cols {
			if c.Name == "" {
				return sqltype.Errorf(1038, "An object or column name is missing or empty. For SELECT INTO statements, verify each column has a name. For other statements, look for empty alias names. Aliases defined as \"\" or [] are not allowed. Change the alias to a valid name.")
			}
			for _, d := range def.Columns {
				if sqltype.EqualName(d.Name, c.Name) {
					return sqltype.Errorf(2705, "Column names in each table must be unique. Column name '%s' in table '%s' is specified more than once.", c.Name, name.Object)
				}
			}
			switch c.Type.Kind {
			case sqltype.RowVersion:
				return sqltype.Unsupported("SELECT INTO of a rowversion")
			case sqltype.Null:
				c.Type = sqltype.Of(sqltype.Int)
			}
			c.Computed, c.Identity, c.Base = false, i == identity, Name{}
			c.label = nil
			d := ColumnDef{Column: c}
			if c.Identity {
				d.Nullable, d.Seed, d.Step = false, 1, 1
			}
			def.Columns = append(def.Columns, d)
		}
		if b.compiling {
			return nil
		}
		var changes []Change
		if err := p.open(nil); err != nil {
			return err
		}
		defer p.close()
		for b.enough(len(changes)) == nil {
			row, err := p.next()
			if err != nil {
				return err
			}
			if row == nil {
				break
			}
			if row, err = b.keep(row); err != nil {
				return err
			}
			changes = append(changes, Change{New: row})
		}
		if err := x.sess.CreateTable(def); err != nil {
			return err
		}
		if err := x.fill(b, name, identity >= 0, changes); err != nil {
			return err
		}
		x.affected(b, len(changes), KindSelect)
		return nil
	})
}

// keptIdentity gives the column that stays an identity column, -1 without one.
func (b *binder) keptIdentity(p plan) int {
	sel, ok := p.(*selectPlan)
	at := -1
	if !ok || len(sel.segs.tables) != 1 || sel.segs.group != nil {
		return at
	}
	for i, c := range sel.cols {
		if !c.Identity {
			continue
		}
		if at >= 0 { // written twice
			return -1
		}
		at = i
	}
	return at
}

// fill writes the rows of a table that was just made.
func (x *executor) fill(b *binder, name Name, identity bool, changes []Change) (err error) {
	rel, err := x.sess.Relation(name)
	if err != nil {
		return err
	}
	w, ok := rel.(Writable)
	if !ok {
		return sqltype.Errorf(208, "Invalid object name '%s'.", name)
	}
	if identity {
		if err := x.sess.IdentityInsert(name, true); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, x.sess.IdentityInsert(name, false)) }()
		if rel, err = x.sess.Relation(name); err != nil {
			return err
		}
		w = rel.(Writable)
	}
	if len(changes) == 0 {
		return nil
	}
	return w.Write(b.ctx, changes)
}
