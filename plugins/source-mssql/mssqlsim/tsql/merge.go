package tsql

import (
	"context"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// merge is one MERGE (Microsoft: MERGE (Transact-SQL)). The target is looked up once for each row of the source.
type merge struct {
	x       *executor
	b       *binder
	table   Writable
	name    Name
	target  *tableRef
	sources []*tableRef
	sc      *scope
	f       *frame
	whens   []mergeWhen
	out     *outputs
	changes []Change
	actions []string
	from    [][]sqltype.Row // source rows of each change, for OUTPUT
	touched map[string]bool // rows of the target that were updated or deleted
	matched map[string]bool // rows of the target that a row of the source met
}

// mergeWhen is one WHEN.
type mergeWhen struct {
	kind   string // Matched, NotMatched, NotMatchedBySource
	cond   pred   // nil is always
	sets   []assignment
	insert []expr // values of all columns; nil is no INSERT
	delete bool
}

func (x *executor) merge(s *ast.MergeStatement) error {
	spec := s.MergeSpecification
	if spec.TopRowFilter != nil {
		return sqltype.Unsupported("TOP of MERGE")
	}
	if err := x.unlimited("MERGE"); err != nil {
		return err
	}
	to, into, err := mergeOutput(x.ctx, x.sourceOf(s))
	if err != nil {
		return err
	}
	return x.scoped(true, func(b *binder) error {
		b.hints(s.OptimizerHints)
		b.with(s.WithCtesAndXmlNamespaces)
		m := &merge{x: x, b: b, touched: map[string]bool{}, matched: map[string]bool{}}
		if err := m.run(spec, to, into); err != nil {
			return err
		}
		if b.compiling {
			return nil
		}
		if m.out != nil {
			for i, c := range m.changes {
				if err := m.out.add(c, m.actions[i], m.from[i]); err != nil {
					return err
				}
			}
			if err := m.out.send(b); err != nil {
				return err
			}
		}
		x.affected(b, len(m.changes), KindMerge)
		return nil
	})
}

func (m *merge) run(spec *ast.MergeSpecification, to *ast.OutputClause, into *ast.OutputIntoClause) error {
	b := m.b
	b.rowsWanted = false
	m.table, m.name = b.target(spec.Target)
	alias := ident(spec.TableAlias)
	if alias == "" {
		alias = m.name.Object
	}
	m.sc = &scope{}
	m.target = m.sc.add(alias, m.name.Schema, m.table.Columns(), true)
	for i := range m.target.cols {
		m.target.use(i)
	}
	m.target.use(RowID)
	src := b.declare(spec.TableReference, m.sc, false)
	m.sources = src.refs
	for _, r := range src.refs {
		for i := range r.cols {
			r.use(i)
		}
	}
	source := b.join(src, m.sc, nil, 0)
	scan := &scanNode{run: b.run, rel: m.table, ref: m.target, write: true}
	cs := b.conjuncts(spec.SearchCondition, m.sc)
	scan.seek(cs, src.mask)
	var on []pred
	for _, c := range cs {
		on = append(on, c.p)
	}
	if len(spec.ActionClauses) == 0 {
		return incomplete()
	}
	if err := onceEach(spec.ActionClauses); err != nil {
		return err
	}
	bySource := false
	b.guardRead(m.table, spec.SearchCondition)
	for _, a := range spec.ActionClauses {
		w := m.when(a)
		bySource = bySource || w.kind == "NotMatchedBySource"
		m.whens = append(m.whens, w)
	}
	m.out = b.output(m.table.Columns(), to, into, []StatementKind{KindInsert, KindUpdate, KindDelete}, m.sources)
	if b.compiling {
		return nil
	}
	m.f = &frame{seg: make([]sqltype.Row, len(m.sc.tables))}
	if err := m.read(source, &filterNode{run: b.run, input: scan, preds: on}); err != nil {
		return err
	}
	if bySource {
		if err := m.unmatched(); err != nil {
			return err
		}
	}
	return m.table.Write(b.ctx, m.changes)
}

// read goes through the rows of the source.
func (m *merge) read(source, target node) error {
	if err := source.open(m.f); err != nil {
		return err
	}
	defer source.close()
	for {
		ok, err := source.next()
		if err != nil || !ok {
			return err
		}
		if err := m.row(target); err != nil {
			return err
		}
	}
}

// row does what one row of the source asks for.
func (m *merge) row(target node) error {
	if err := m.b.ctx.Err(); err != nil {
		return err
	}
	met := false
	if err := target.open(m.f); err != nil {
		return err
	}
	defer target.close()
	for {
		ok, err := target.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		met = true
		m.matched[m.id()] = true
		m.b.take(mapEntry)
		if err := m.apply("Matched"); err != nil {
			return err
		}
	}
	if met {
		return nil
	}
	m.f.seg[m.target.idx] = make(sqltype.Row, len(m.target.cols)+1)
	return m.apply("NotMatched")
}

func (m *merge) id() string {
	return rowIdentity(m.f.seg[m.target.idx], len(m.target.cols), m.table)
}

// unmatched goes through the rows of the target that no row of the source met.
func (m *merge) unmatched() error {
	for _, r := range m.sources {
		m.f.seg[r.idx] = make(sqltype.Row, len(r.cols))
	}
	all := &scanNode{run: m.b.run, rel: m.table, ref: m.target, write: true}
	if err := all.open(m.f); err != nil {
		return err
	}
	defer all.close()
	for {
		ok, err := all.next()
		if err != nil || !ok {
			return err
		}
		if m.matched[m.id()] {
			continue
		}
		if err := m.apply("NotMatchedBySource"); err != nil {
			return err
		}
	}
}

// apply carries out the first WHEN that holds for the current rows.
func (m *merge) apply(kind string) error {
	for _, w := range m.whens {
		if w.kind != kind || w.cond != nil && w.cond(m.f) != yes {
			if m.b.err != nil {
				return m.b.takeErr()
			}
			continue
		}
		return m.do(w)
	}
	return nil
}

func (m *merge) do(w mergeWhen) error {
	cols := m.target.cols
	c, action := Change{}, "INSERT"
	if w.insert != nil {
		c.New = make(sqltype.Row, len(cols))
		for i, e := range w.insert {
			v := e.eval(m.f)
			if m.b.err != nil {
				return m.b.takeErr()
			}
			v, err := m.b.assign(v, e.typ, cols[i], m.table, m.name)
			if err != nil {
				return err
			}
			c.New[i] = v
		}
	} else {
		id := m.id()
		if m.touched[id] {
			return sqltype.Errorf(8672, "The MERGE statement attempted to UPDATE or DELETE the same row more than once. This happens when a target row matches more than one source row. A MERGE statement cannot UPDATE/DELETE the same row of the target table multiple times. Refine the ON clause to ensure a target row matches at most one source row, or use the GROUP BY clause to group the source rows.")
		}
		m.touched[id] = true
		row := m.f.seg[m.target.idx]
		c.ID, c.Old, action = row[len(cols)], append(sqltype.Row(nil), row[:len(cols)]...), "DELETE"
		if !w.delete {
			action = "UPDATE"
			var err error
			if c.New, err = m.b.assigned(m.f, c.Old, w.sets, cols, m.table, m.name); err != nil {
				return err
			}
		}
	}
	m.b.take(c.Old.Size() + c.New.Size())
	m.changes, m.actions = append(m.changes, c), append(m.actions, action)
	if m.out == nil {
		return m.b.err
	}
	var from []sqltype.Row
	for _, r := range m.sources {
		row, err := m.b.keep(m.f.seg[r.idx][:len(r.cols)])
		if err != nil {
			return err
		}
		from = append(from, row)
	}
	m.from = append(m.from, from)
	return m.b.err
}

func (m *merge) when(a *ast.MergeActionClause) mergeWhen {
	b := m.b
	w := mergeWhen{kind: a.Condition}
	if w.kind == "NotMatchedByTarget" {
		w.kind = "NotMatched"
	}
	if a.SearchCondition != nil {
		w.cond = b.pred(a.SearchCondition, m.sc)
	}
	switch x := a.Action.(type) {
	case *ast.DeleteMergeAction:
		b.guard(m.table, "DELETE", nil)
		w.delete = true
	case *ast.UpdateMergeAction:
		b.guardUpdate(m.table, x.SetClauses, false)
		w.sets = b.assignments(x.SetClauses, m.sc, m.table, func(name string) int { return columnNamed(m.target.cols, name) })
	case *ast.InsertMergeAction:
		w.insert = m.insertValues(x)
	default:
		unsupported("%s of MERGE", nodeName(a.Action))
	}
	switch inserts := w.insert != nil; {
	case inserts && w.kind == "Matched":
		failf(10711, "An action of type 'INSERT' is not allowed in the 'WHEN MATCHED' clause of a MERGE statement.")
	case inserts && w.kind != "NotMatched":
		failf(10711, "An action of type 'INSERT' is not allowed in the 'WHEN NOT MATCHED BY SOURCE' clause of a MERGE statement.")
	case !inserts && w.kind == "NotMatched":
		failf(10710, "An action of type '%s' is not allowed in the 'WHEN NOT MATCHED' clause of a MERGE statement.", map[bool]string{true: "DELETE", false: "UPDATE"}[w.delete])
	}
	return w
}

// onceEach refuses an action that stands twice in clauses of one kind, and a clause behind one of its kind that takes all rows
// (Microsoft: MERGE (Transact-SQL), WHEN MATCHED THEN).
func onceEach(list []*ast.MergeActionClause) error {
	words := map[string]string{"Matched": "WHEN MATCHED", "NotMatchedBySource": "WHEN NOT MATCHED BY SOURCE"}
	seen, all := map[string]bool{}, map[string]bool{}
	for _, a := range list {
		kind := words[a.Condition]
		if kind == "" {
			kind = "WHEN NOT MATCHED"
		}
		action := map[string]string{"DeleteMergeAction": "DELETE", "UpdateMergeAction": "UPDATE", "InsertMergeAction": "INSERT"}[typeName(a.Action)]
		if seen[kind+action] {
			return sqltype.Errorf(10714, "An action of type '%s' cannot appear more than once in a '%s' clause of a MERGE statement.", action, kind)
		}
		if all[kind] {
			return sqltype.Errorf(5324, "In a MERGE statement, a '%s' clause with a search condition cannot appear after a '%s' clause with no search condition.", kind, kind)
		}
		seen[kind+action], all[kind] = true, a.SearchCondition == nil
	}
	return nil
}

// insertValues gives a value for each column of a row that WHEN NOT MATCHED inserts.
func (m *merge) insertValues(x *ast.InsertMergeAction) []expr {
	b := m.b
	into := b.insertColumns(m.table, m.name, x.Columns)
	if err := identityGiven(m.table, m.name, into); err != nil {
		fail(err)
	}
	b.guardInsert(m.table, into)
	out := make([]expr, len(m.target.cols))
	for i, d := range b.defaults(m.table) {
		out[i] = expr{typ: m.target.cols[i].Type, null: true, eval: func(*frame) sqltype.Value { return d() }}
	}
	v, ok := x.Source.(*ast.ValuesInsertSource)
	if !ok {
		unsupported("INSERT of MERGE from %s", nodeName(x.Source))
	}
	if v.IsDefaultValues {
		return out
	}
	if len(v.RowValues) != 1 {
		failf(10713, "A MERGE statement must insert one row.")
	}
	vals := v.RowValues[0].ColumnValues
	if err := columnCount(len(vals), into, m.target.cols, m.name, len(x.Columns) > 0, false); err != nil {
		fail(err)
	}
	for i, e := range vals {
		if _, ok := e.(*ast.DefaultLiteral); !ok {
			out[into[i]] = b.expr(e, m.sc)
		}
	}
	return out
}

// rowIdentity tells the rows of a table apart: by the key, or by what RowID gives.
func rowIdentity(row sqltype.Row, width int, w Writable) string {
	orders, unique := w.Orders()
	var key []byte
	if !unique || len(orders) == 0 {
		return string(row[width].AppendKey(key, sqltype.Of(sqltype.BigInt)))
	}
	for _, c := range orders[0] {
		key = row[c].AppendKey(key, w.Columns()[c].Type)
	}
	return string(key)
}

// mergeOutput reads the OUTPUT of a MERGE from its text: the parser (teesql v1.1.0) forgets one with INTO, without an
// error.
func mergeOutput(ctx context.Context, text string) (*ast.OutputClause, *ast.OutputIntoClause, error) {
	toks := tokens(text)
	depth, from, to := 0, -1, len(toks)
	for i, t := range toks {
		switch {
		case t.text == "(":
			depth++
		case t.text == ")":
			depth--
		case depth == 0 && from < 0 && strings.EqualFold(t.text, "output"):
			from = i
		case depth == 0 && from >= 0 && (strings.EqualFold(t.text, "option") || t.text == ";"):
			to = min(to, i)
		}
	}
	if from < 0 {
		return nil, nil, nil
	}
	var clause strings.Builder
	for _, t := range toks[from:to] {
		clause.WriteString(t.text)
	}
	sc, err := parse(ctx, "INSERT INTO t "+clause.String()+" DEFAULT VALUES")
	if err != nil {
		return nil, nil, err
	}
	if len(sc.Batches) == 1 && len(sc.Batches[0].Statements) == 1 {
		if s, ok := sc.Batches[0].Statements[0].(*ast.InsertStatement); ok {
			return s.InsertSpecification.OutputClause, s.InsertSpecification.OutputIntoClause, nil
		}
	}
	return nil, nil, sqltype.Errorf(102, "Incorrect syntax near 'OUTPUT'.")
}
