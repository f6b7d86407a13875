package tsql

import (
	"context"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

func (x *executor) execute(s *ast.ExecuteStatement) error {
	if len(s.Options) > 0 {
		return sqltype.Unsupported("WITH of EXECUTE")
	}
	spec := s.ExecuteSpecification
	if l, ok := spec.ExecutableEntity.(*ast.ExecutableStringList); ok {
		return x.asPrincipal(spec.ExecuteContext, func() error { return x.executeText(l) })
	}
	x.out.BeginProcedure()
	status, err := x.procedure(s)
	x.out.EndProcedure(status, err != nil)
	return err
}

// procedure is EXECUTE of a procedure; it gives its return status.
func (x *executor) procedure(s *ast.ExecuteStatement) (int32, error) {
	spec := s.ExecuteSpecification
	var n Name
	if p, ok := spec.ExecutableEntity.(*ast.ExecutableProcedureReference); ok {
		var err error
		if n, err = x.procedureName(p); err != nil {
			return 0, err
		}
		if sqltype.EqualName(n.Object, "sp_executesql") {
			if err := x.executeSQL(p); err != nil {
				return 0, err
			}
			status := x.batch.lastError // 0, or another number where it went wrong (Microsoft: sp_executesql (Transact-SQL))
			return status, x.plain(func(b *binder) {
				if err := b.returned(spec, int64(status)); err != nil {
					fail(err)
				}
			})
		}
		if sqltype.EqualName(n.Object, "sp_describe_first_result_set") {
			return 0, x.scoped(false, func(b *binder) error {
				rows, err := x.describe(n, b.arguments(p.Parameters))
				if err != nil {
					return err
				}
				return sendRows(x.out, rows)
			})
		}
		if status, ok, err := x.executeRoutine(spec, p, n); ok || err != nil {
			return status, err
		}
	}
	var said *sqltype.Error
	err := x.scoped(true, func(b *binder) error {
		b.batch.lastError, said = 0, nil
		rows, err := x.call(b, spec)
		if said = raisedInside(err); err != nil {
			return err
		}
		if err := b.returned(spec, 0); err != nil {
			return err
		}
		return x.sendAnswer(rows)
	})
	if said == nil || asError(err) != said {
		return 0, err
	}
	return 1, x.goesOn(said, s)
}

// raisedInside gives an error that a procedure of the server raises itself before it returns 1, as those do that look at what they
// are asked for: nil for errors of the engine (Microsoft: sys.sp_cdc_enable_table, sp_help and their kin, Return code values;
// Database engine events and errors 14000 to 15999, 22000 to 22999).
func raisedInside(err error) *sqltype.Error {
	e := asError(err)
	switch {
	case e == nil || e.Class > 18 || e.Number == 15664 || e.Number == 15665: // of sp_set_session_context, which is the engine's own
		return nil
	case e.Number >= 14000 && e.Number < 16000, e.Number >= 22000 && e.Number < 23000:
		return e
	}
	return nil
}

// goesOn tells such an error as RAISERROR does: neither the batch ends nor, with XACT_ABORT, the transaction, but TRY does
// (Microsoft: RAISERROR (Transact-SQL); SET XACT_ABORT (Transact-SQL)).
func (x *executor) goesOn(said *sqltype.Error, s *ast.ExecuteStatement) error {
	e := *said
	x.locate(&e, s)
	if x.depth > 0 {
		return &e
	}
	x.batch.rowCount = 0
	x.told(&e)
	return x.plain(func(b *binder) {
		if err := b.returned(s.ExecuteSpecification, 1); err != nil {
			fail(err)
		}
	})
}

// returned gives the variable of EXECUTE the return status.
func (b *binder) returned(spec *ast.ExecuteSpecification, status int64) (err error) {
	if spec.Variable == nil {
		return nil
	}
	v := b.variable(spec.Variable.Name)
	v.val, err = sqltype.Convert(sqltype.FromInt(status), sqltype.Of(sqltype.Int), v.typ, 0)
	return err
}

// sendAnswer is sendRows of a procedure of the server, whose own statements SET ROWCOUNT limits on a server.
func (x *executor) sendAnswer(rows *Rows) error {
	limit := x.sess.Settings().RowCount
	if rows != nil && limit > 0 {
		for _, r := range append([]*Rows{rows}, rows.More...) {
			if int64(len(r.Data)) > limit {
				return x.unlimited("the rows of a procedure of the server")
			}
		}
	}
	return sendRows(x.out, rows)
}

func sendRows(out Output, rows *Rows) error {
	if rows == nil {
		return nil
	}
	for _, m := range rows.Messages {
		out.Info(m)
	}
	if rows.Cols == nil {
		return nil
	}
	if err := out.Columns(rows.Cols); err != nil {
		return err
	}
	for _, row := range rows.Data {
		if err := out.Row(row); err != nil {
			return err
		}
	}
	out.EndResult()
	for _, r := range rows.More {
		if err := sendRows(out, r); err != nil {
			return err
		}
	}
	return nil
}

// Call runs a procedure by name, as an RPC names it, and gives its return status. Unnamed arguments count by position.
func Call(ctx context.Context, sess Session, n Name, args []*Argument, out Output) (int32, error) {
	x := &executor{ctx: ctx, sess: sess, out: out, batch: &batch{}}
	var said *sqltype.Error
	err := x.scoped(true, func(b *binder) error {
		if sqltype.EqualName(n.Object, "sp_describe_first_result_set") {
			rows, err := x.describe(n, args)
			if err != nil {
				return err
			}
			return sendRows(out, rows)
		}
		p, err := sess.Procedure(n)
		if err != nil {
			return err
		}
		if p == nil {
			return noProcedure(n)
		}
		vals, err := bindArguments(p, n, args, b.locale())
		if err != nil {
			return err
		}
		rows, err := p.Call(ctx, vals)
		if said = raisedInside(err); err != nil {
			return err
		}
		return x.sendAnswer(rows)
	})
	if said == nil || asError(err) != said {
		return 0, err
	}
	out.Raise(said)
	return 1, nil
}

func noProcedure(n Name) error {
	e := sqltype.Errorf(2812, "Could not find stored procedure '%s'.", n)
	e.State = 62
	return e
}

// passed converts an argument to the type of its parameter, which has an error of its own where a text is not one.
func passed(locale *sqltype.Locale, a *Argument, typ sqltype.Type) (sqltype.Value, error) {
	v, err := locale.Convert(a.Value, a.Type, typ, 0)
	if e := asError(err); e != nil && e.Number == 245 {
		err = sqltype.Errorf(8114, "Error converting data type %s to %s.", a.Type.Kind, typ.Kind)
	}
	return v, err
}

func bindArguments(p *Procedure, n Name, args []*Argument, locale *sqltype.Locale) (map[string]sqltype.Value, error) {
	vals := map[string]sqltype.Value{}
	for i, a := range args {
		var param *Param
		if a.Name == "" {
			if i >= len(p.Params) {
				return nil, sqltype.Errorf(8144, "Procedure or function %s has too many arguments specified.", n)
			}
			param = &p.Params[i]
		} else {
			for j := range p.Params {
				if sqltype.EqualName(p.Params[j].Name, a.Name) {
					param = &p.Params[j]
				}
			}
			if param == nil {
				return nil, sqltype.Errorf(8145, "%s is not a parameter for procedure %s.", a.Name, n.Object)
			}
		}
		if _, ok := vals[param.Name]; ok {
			return nil, sqltype.Errorf(8143, "Parameter '%s' was supplied multiple times.", param.Name)
		}
		v, err := passed(locale, a, param.Type)
		if err != nil {
			return nil, err
		}
		vals[param.Name] = v
	}
	for _, param := range p.Params {
		if _, ok := vals[param.Name]; !ok && !param.Optional {
			return nil, sqltype.Errorf(201, "Procedure or function '%s' expects parameter '%s', which was not supplied.", n.Object, param.Name)
		}
	}
	return vals, nil
}

// procedureName gives the name of the procedure that EXECUTE calls, which a variable may hold (Microsoft: EXECUTE (Transact-SQL),
// @module_name_var).
func (x *executor) procedureName(e *ast.ExecutableProcedureReference) (n Name, err error) {
	if e.AdHocDataSource != nil {
		return n, sqltype.Unsupported("EXECUTE of a procedure of OPENDATASOURCE")
	}
	p := e.ProcedureReference
	if p.ProcedureVariable == nil {
		return objectName(p.ProcedureReference.Name), nil
	}
	return n, x.plain(func(b *binder) {
		v := b.variable(p.ProcedureVariable.Name)
		switch {
		case v.typ.Class() != sqltype.ClassString:
			unsupported("EXECUTE of the variable %s, which is no text", p.ProcedureVariable.Name)
		case v.val.IsNull() || v.val.Str() == "":
			unsupported("EXECUTE of the variable %s, which holds no name", p.ProcedureVariable.Name)
		}
		text := v.val.Str()
		if nameFromEnd(text, 1).IsNull() || !nameFromEnd(text, 4).IsNull() { // no name, or one of another server
			unsupported("EXECUTE of the name %s", text)
		}
		part := func(i int64) string { return nameFromEnd(text, i).Str() }
		n = Name{Database: part(3), Schema: part(2), Object: part(1)}
	})
}

// call runs EXEC of a procedure.
func (x *executor) call(b *binder, spec *ast.ExecuteSpecification) (*Rows, error) {
	if spec.LinkedServer != nil || spec.ExecuteContext != nil {
		unsupported("EXECUTE AT and AS")
	}
	e, ok := spec.ExecutableEntity.(*ast.ExecutableProcedureReference)
	if !ok {
		unsupported("EXECUTE of %s", nodeName(spec.ExecutableEntity))
	}
	n, err := x.procedureName(e)
	if err != nil {
		return nil, err
	}
	p, err := b.sess.Procedure(n)
	if err != nil {
		return nil, err
	}
	if p == nil {
		if r, err := b.sess.Routine(n); r != nil || err != nil {
			return nil, notInserted(n, err)
		}
		return nil, noProcedure(n)
	}
	vals, err := bindArguments(p, n, b.arguments(e.Parameters), b.locale())
	if err != nil {
		return nil, err
	}
	return p.Call(b.ctx, vals)
}

func (b *binder) arguments(ps []*ast.ExecuteParameter) (out []*Argument) {
	for _, p := range ps {
		a := &Argument{Type: sqltype.SysName}
		if p.Variable != nil {
			a.Name = p.Variable.Name
		}
		switch v := p.ParameterValue.(type) {
		case *ast.DefaultLiteral:
			continue
		case *ast.IdentifierLiteral: // a bare word is a text here
			a.Value = sqltype.FromString(v.Value)
		case *ast.ColumnReferenceExpression:
			a.Value = sqltype.FromString(columnText(v))
		default:
			e := b.expr(v, nil)
			a.Type, a.Value = e.typ, e.eval(&frame{})
			if b.err != nil {
				fail(b.takeErr())
			}
		}
		out = append(out, a)
	}
	return out
}

// nested runs text with variables of its own, that many levels deeper (Microsoft: @@NESTLEVEL (Transact-SQL)).
func (x *executor) nested(sql string, vars map[string]*variable, levels int) error {
	if x.nesting+levels > nestingLimit {
		return tooDeep()
	}
	x.nesting += levels
	defer func() { x.nesting -= levels }()
	outer := x.batch
	inner := *outer
	inner.vars, inner.tables = vars, map[string]*tableVar{}
	inner.cursors, inner.cursorVars, inner.depth = nil, nil, x.depth
	x.batch = &inner
	leave := x.scope()
	defer x.sess.Chain(nil)()
	defer func() {
		leave()
		inner.ends(x.sess.Settings())
		outer.rowCount, outer.lastError = inner.rowCount, inner.lastError
		x.batch = outer
	}()
	open := x.sess.TranCount()
	if _, err := x.text(sql); err != nil {
		return err
	}
	return x.balanced(open)
}

func (x *executor) executeText(l *ast.ExecutableStringList) error {
	var sql strings.Builder
	err := x.plain(func(b *binder) {
		if len(l.Parameters) > 0 {
			unsupported("parameters of EXECUTE of a text")
		}
		for _, s := range l.Strings {
			sql.WriteString(b.valueOf(s, sqltype.Str(sqltype.NVarChar, sqltype.Max)).Str())
		}
	})
	if err != nil {
		return err
	}
	return x.nested(sql.String(), map[string]*variable{}, 1)
}

// executeSQL is EXEC sp_executesql @statement, @params, values.
func (x *executor) executeSQL(e *ast.ExecutableProcedureReference) error {
	vars := map[string]*variable{}
	var names []string
	var sql string
	back := map[string]string{} // inner to outer output variables
	given := map[string]bool{}
	err := x.plain(func(b *binder) {
		args := b.arguments(e.Parameters)
		if len(args) == 0 {
			failf(201, "Procedure or function 'sp_executesql' expects parameter '@statement', which was not supplied.")
		}
		for i, name := range []string{"@statement", "@params"} {
			if i < len(args) && args[i].Type.Kind != sqltype.Null && !args[i].Type.Unicode() {
				failf(214, "Procedure expects parameter '%s' of type 'ntext/nchar/nvarchar'.", name)
			}
		}
		sql = args[0].Value.Str()
		if len(args) > 1 {
			names = b.declared(args[1].Value.Str(), vars)
		}
		for i, a := range args[min(2, len(args)):] {
			n := lower(a.Name)
			if n == "" && i < len(names) {
				n = names[i]
			}
			v := vars[n]
			switch {
			case v == nil && n == "":
				failf(8144, "Procedure or function sp_executesql has too many arguments specified.")
			case v == nil:
				failf(8145, "%s is not a parameter for procedure sp_executesql.", a.Name)
			}
			w, err := passed(b.locale(), a, v.typ)
			if err != nil {
				fail(err)
			}
			v.val = w
			given[n] = true
			p := e.Parameters[i+2]
			if o, ok := p.ParameterValue.(*ast.VariableReference); ok && p.IsOutput {
				back[n] = o.Name
			}
		}
		for _, n := range names {
			if !given[n] {
				failf(8178, "The parameterized query '(%s)%s' expects the parameter '%s', which was not supplied.", args[1].Value.Str(), sql, n)
			}
		}
	})
	if err != nil {
		return err
	}
	if err := x.nested(sql, vars, 2); err != nil {
		return err
	}
	return x.plain(func(b *binder) {
		for in, o := range back {
			v := b.variable(o)
			w, err := b.locale().Convert(vars[in].val, vars[in].typ, v.typ, 0)
			if err != nil {
				fail(err)
			}
			v.val = w
		}
	})
}

// declared reads a list of parameter declarations.
func (b *binder) declared(text string, vars map[string]*variable) (names []string) {
	var clean []string
	for _, t := range tokens(text) {
		if !strings.EqualFold(t.text, "output") && !strings.EqualFold(t.text, "out") {
			clean = append(clean, t.text)
		}
	}
	text = strings.TrimSpace(strings.Join(clean, ""))
	if text == "" {
		return nil
	}
	b.declarations = rewrite("DECLARE " + text)
	defer func() { b.declarations = "" }()
	sc, err := parse(b.ctx, b.declarations)
	if err != nil {
		fail(err)
	}
	d, ok := sc.Batches[0].Statements[0].(*ast.DeclareVariableStatement)
	if !ok {
		failf(102, "Incorrect syntax near '%s'.", text)
	}
	for _, v := range d.Declarations {
		n := lower(v.VariableName.Value)
		if v.Value != nil {
			unsupported("a default of the parameter %s of sp_executesql", v.VariableName.Value)
		}
		names = append(names, n)
		vars[n] = &variable{typ: b.declaredType(v.DataType, "parameter", v.VariableName.Value, len(names))}
	}
	return names
}
