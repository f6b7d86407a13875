package tsql

import (
	"context"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// Routine is a stored procedure that a user made. What its statements mean is looked up when they run, as in SQL Server
// (Microsoft: CREATE PROCEDURE (Transact-SQL), Deferred Name Resolution).
type Routine struct {
	Name Name
	// ID, Created and Changed are what the catalog shows; they are set when it is kept. Times are ticks.
	ID               int32
	Created, Changed int64
	// Text is the batch that made it, as it was written.
	Text string
	// AnsiNulls, QuotedIdentifier and Recompile are how it was made.
	AnsiNulls, QuotedIdentifier, Recompile bool

	params []routineParam
	body   []ast.Statement
	source string // of the batch that made it
}

type routineParam struct {
	name    string // with its @
	typ     sqltype.Type
	value   ast.ScalarExpression // the default; nil without
	outputs bool
}

// Parameter is a parameter of a Routine.
type Parameter struct {
	Name   string // with its @
	Type   sqltype.Type
	Output bool
}

// Parameters lists the parameters in their order.
func (r *Routine) Parameters() (out []Parameter) {
	for _, p := range r.params {
		out = append(out, Parameter{p.name, p.typ, p.outputs})
	}
	return out
}

// RoutineSession is what a session knows of procedures that users made.
type RoutineSession interface {
	// Routine finds a procedure; nil without an error is one that does not exist. One that the login may not execute is
	// error 229.
	Routine(n Name) (*Routine, error)
	// CreateRoutine keeps a procedure: error 2714 when there is an object of that name, and with alter alone 208 when there
	// is none.
	CreateRoutine(r *Routine, create, alter bool) error
	DropRoutine(n Name, ifExists bool) error
	// Chain makes a procedure the one whose statements run, nil for those of a text, until back is called: what its owner
	// also owns may be used without permissions.
	Chain(r *Routine) (back func())
}

// nestingLimit is how deep procedures may call each other (Microsoft: Nest Stored Procedures).
const nestingLimit = 32

func tooDeep() error {
	return sqltype.Errorf(217, "Maximum stored procedure, function, trigger, or view nesting level exceeded (limit %d).", nestingLimit)
}

// defineRoutine carries out statements that make and remove procedures.
func (x *executor) defineRoutine(st ast.Statement) (bool, error) {
	switch s := st.(type) {
	case *ast.CreateProcedureStatement:
		return true, x.createRoutine(s, true, false)
	case *ast.CreateOrAlterProcedureStatement:
		return true, x.createRoutine((*ast.CreateProcedureStatement)(s), true, true)
	case *ast.AlterProcedureStatement:
		return true, x.createRoutine(&ast.CreateProcedureStatement{ProcedureReference: s.ProcedureReference, Parameters: s.Parameters, StatementList: s.StatementList,
			IsForReplication: s.IsForReplication, Options: s.Options}, false, true)
	case *ast.DropProcedureStatement:
		for _, o := range s.Objects {
			if err := x.sess.DropRoutine(objectName(o), s.IsIfExists); err != nil {
				return true, err
			}
		}
		return true, nil
	}
	return false, nil
}

func (x *executor) createRoutine(s *ast.CreateProcedureStatement, create, alter bool) error {
	if s.IsForReplication || s.MethodSpecifier != nil || s.ProcedureReference.Number != nil || s.StatementList == nil {
		return sqltype.Unsupported("this form of CREATE PROCEDURE")
	}
	for _, o := range s.Options {
		if p, ok := o.(*ast.ProcedureOption); !ok || !strings.EqualFold(p.OptionKind, "recompile") {
			return sqltype.Unsupported("WITH of CREATE PROCEDURE")
		}
	}
	options := x.sess.Settings().Options
	r := &Routine{Name: objectName(s.ProcedureReference.Name), body: s.StatementList.Statements, source: x.batch.source, Text: x.batch.text, Recompile: len(s.Options) > 0,
		AnsiNulls: options&optionBits["ANSINULLS"] != 0, QuotedIdentifier: options&optionBits["QUOTEDIDENTIFIER"] != 0}
	if err := x.plain(func(b *binder) {
		x.strictShape("CREATE PROCEDURE")
		for _, p := range s.Parameters {
			if p.IsVarying || p.Modifier != "" && p.Modifier != "None" && p.Modifier != "Output" {
				unsupported("the parameter %s: neither tables nor cursors are passed to procedures", p.VariableName.Value)
			}
			if p.Nullable != nil && !p.Nullable.Nullable { // of natively compiled procedures alone (Microsoft: CREATE PROCEDURE (Transact-SQL))
				unsupported("NOT NULL of the parameter %s", p.VariableName.Value)
			}
			r.params = append(r.params, routineParam{name: p.VariableName.Value, typ: b.declaredType(p.DataType, "parameter", p.VariableName.Value, len(r.params)+1), value: p.Value, outputs: p.Modifier == "Output"})
		}
	}); err != nil {
		return err
	}
	if err := x.compiles(r); err != nil {
		return err
	}
	return x.sess.CreateRoutine(r, create, alter)
}

// compiles looks the body of a procedure through that is being made.
func (x *executor) compiles(r *Routine) error {
	outer := x.batch
	defer func() { x.batch = outer }()
	x.batch = &batch{vars: map[string]*variable{}, tables: map[string]*tableVar{}, source: r.source, routine: r}
	for _, p := range r.params {
		x.batch.vars[lower(p.name)] = &variable{typ: p.typ}
	}
	return x.declareAll(r.body, true, true)
}

// firstOfBatch holds that a statement that makes a procedure or a schema is the first of its batch; what follows a procedure
// is its body (Microsoft: SQL Server Utilities Statements - GO; CREATE SCHEMA (Transact-SQL)).
func firstOfBatch(list []ast.Statement) error {
	for i, st := range list {
		switch st.(type) {
		case *ast.CreateProcedureStatement, *ast.CreateOrAlterProcedureStatement, *ast.AlterProcedureStatement:
			if i > 0 {
				return sqltype.Errorf(111, "'CREATE/ALTER PROCEDURE' must be the first statement in a query batch.")
			}
		case *ast.CreateSchemaStatement:
			if i > 0 {
				return sqltype.Errorf(111, "'CREATE SCHEMA' must be the first statement in a query batch.")
			}
		case *ast.CreateFunctionStatement, *ast.CreateOrAlterFunctionStatement, *ast.AlterFunctionStatement,
			*ast.CreateViewStatement, *ast.CreateOrAlterViewStatement, *ast.AlterViewStatement,
			*ast.CreateTriggerStatement, *ast.CreateOrAlterTriggerStatement, *ast.AlterTriggerStatement:
			return sqltype.Unsupported("the statement %s", nodeName(st)) // before its parts, and what is behind it, are told as wrong
		}
	}
	return nil
}

// callRoutine runs a procedure and gives its return status. Arguments for output hold their value when it returns, in the
// type of the parameter.
func (x *executor) callRoutine(r *Routine, args []*Argument) (int32, error) {
	if x.nesting >= nestingLimit {
		return 0, tooDeep()
	}
	vars, passed, err := x.bindRoutine(r, args)
	if err != nil {
		return 0, err
	}
	outer, open := x.batch, x.sess.TranCount()
	inner := &batch{vars: vars, tables: map[string]*tableVar{}, implicit: outer.implicit, caught: outer.caught, source: r.source, routine: r, depth: x.depth, rowCount: outer.rowCount}
	leave, unchain := x.scope(), x.sess.Chain(r)
	x.batch = inner
	x.sess.Settings().Options |= ansiNulls | quotedIdent // as it was made (Microsoft: SET Statements (Transact-SQL))
	x.nesting++
	if err = x.declareAll(r.body, false, false); err != nil {
		x.notBegun = asError(err)
	} else {
		_, err = x.statements(r.body)
	}
	x.nesting--
	unchain()
	leave()
	inner.ends(x.sess.Settings())
	x.batch = outer
	outer.rowCount, outer.lastError = inner.rowCount, inner.lastError
	if err != nil {
		return 0, err
	}
	for p, a := range passed {
		if a.Output {
			a.Type, a.Value = r.params[p].typ, vars[lower(r.params[p].name)].val
		}
	}
	if err := x.balanced(open); err != nil {
		return 0, err
	}
	return inner.status, nil
}

// balanced tells when what was executed left other transactions open than there were before.
func (x *executor) balanced(open int) error {
	now := x.sess.TranCount()
	if now == open {
		return nil
	}
	e := sqltype.Errorf(266, "Transaction count after EXECUTE indicates a mismatching number of BEGIN and COMMIT statements. Previous count = %d, current count = %d.", open, now)
	if x.depth > 0 {
		return e
	}
	x.out.Raise(e)
	return nil
}

// bindRoutine gives the variables of the parameters, and which argument each parameter got.
func (x *executor) bindRoutine(r *Routine, args []*Argument) (vars map[string]*variable, given map[int]*Argument, err error) {
	vars, given = map[string]*variable{}, map[int]*Argument{}
	for i, a := range args {
		at := i
		if a.Name != "" {
			for at = range r.params {
				if sqltype.EqualName(r.params[at].name, a.Name) {
					break
				}
			}
			if len(r.params) == 0 || !sqltype.EqualName(r.params[at].name, a.Name) {
				return nil, nil, sqltype.Errorf(8145, "%s is not a parameter for procedure %s.", a.Name, r.Name.Object)
			}
		}
		if at >= len(r.params) {
			return nil, nil, sqltype.Errorf(8144, "Procedure or function %s has too many arguments specified.", r.Name.Object)
		}
		if given[at] != nil {
			return nil, nil, sqltype.Errorf(8143, "Parameter '%s' was supplied multiple times.", r.params[at].name)
		}
		if a.Output && !r.params[at].outputs {
			return nil, nil, sqltype.Errorf(8162, "The formal parameter \"%s\" was not declared as an OUTPUT parameter, but the actual parameter passed in requested output.", r.params[at].name)
		}
		given[at] = a
	}
	err = x.plain(func(b *binder) {
		for i, p := range r.params {
			v := &variable{typ: p.typ}
			switch a := given[i]; {
			case a != nil && !a.Default:
				w, err := passed(b.locale(), a, p.typ)
				if err != nil {
					fail(err)
				}
				v.val = w
			case p.value != nil:
				v.val = b.valueOf(p.value, p.typ)
			default:
				failf(201, "Procedure or function '%s' expects parameter '%s', which was not supplied.", r.Name.Object, p.name)
			}
			vars[lower(p.name)] = v
		}
	})
	return vars, given, err
}

// CallRoutine runs a procedure that a user made, as an RPC names it, and gives its return status; ok is false when there is
// none of that name, or a system procedure. Unnamed arguments count by position.
func CallRoutine(ctx context.Context, sess Session, n Name, args []*Argument, out Output) (status int32, ok bool, err error) {
	if p, err := sess.Procedure(n); p != nil || err != nil {
		return 0, false, nil
	}
	r, err := sess.Routine(n)
	if r == nil || err != nil {
		return 0, err != nil, err
	}
	x := &executor{ctx: ctx, sess: sess, out: out, batch: &batch{}}
	status, err = x.callRoutine(r, args)
	return status, true, x.endOfBatch(err)
}

// executeRoutine is EXEC of a procedure; ok is false when it is none that a user made.
func (x *executor) executeRoutine(spec *ast.ExecuteSpecification, e *ast.ExecutableProcedureReference, n Name) (status int32, ok bool, err error) {
	if p, err := x.sess.Procedure(n); p != nil || err != nil {
		return 0, false, nil
	}
	r, err := x.sess.Routine(n)
	if r == nil || err != nil {
		return 0, err != nil, err
	}
	if spec.LinkedServer != nil || spec.ExecuteContext != nil {
		return 0, true, sqltype.Unsupported("EXECUTE AT and AS")
	}
	var args []*Argument
	targets := map[*Argument]string{}
	if err := x.plain(func(b *binder) {
		for _, p := range e.Parameters {
			a := &Argument{Default: true}
			if _, isDefault := p.ParameterValue.(*ast.DefaultLiteral); !isDefault {
				a = b.arguments([]*ast.ExecuteParameter{p})[0]
			} else if p.Variable != nil {
				a.Name = p.Variable.Name
			}
			if a.Output = p.IsOutput; a.Output {
				v, isVariable := p.ParameterValue.(*ast.VariableReference)
				if !isVariable {
					failf(179, "Cannot use the OUTPUT option when passing a constant to a stored procedure.")
				}
				targets[a] = v.Name
			}
			args = append(args, a)
		}
	}); err != nil {
		return 0, true, err
	}
	status, err = x.callRoutine(r, args)
	if err != nil {
		return 0, true, err
	}
	return status, true, x.plain(func(b *binder) {
		for a, name := range targets {
			b.set(name, a.Value, a.Type)
		}
		if spec.Variable != nil {
			b.set(spec.Variable.Name, sqltype.FromInt(int64(status)), sqltype.Of(sqltype.Int))
		}
	})
}

// notInserted is the error of INSERT ... EXEC of a procedure that a user made.
func notInserted(n Name, err error) error {
	if err != nil {
		return err
	}
	return sqltype.Unsupported("INSERT of what the procedure %s gives", n)
}

// set gives a variable a value.
func (b *binder) set(name string, value sqltype.Value, typ sqltype.Type) {
	v := b.variable(name)
	w, err := b.locale().Convert(value, typ, v.typ, 0)
	if err != nil {
		fail(err)
	}
	v.val = w
}

// leave is RETURN: the end of a batch or of a procedure, which may say how it went.
func (x *executor) leave(s *ast.ReturnStatement) (flow, error) {
	if s.Expression == nil {
		return leaveBatch, nil
	}
	if x.batch.routine == nil {
		return leaveBatch, sqltype.Errorf(178, "A RETURN statement with a return value cannot be used in this context.")
	}
	return leaveBatch, x.scoped(false, func(b *binder) error {
		x.batch.status = int32(b.valueOf(s.Expression, sqltype.Of(sqltype.Int)).Int())
		return nil
	})
}

// scope begins the scope of a procedure or of a text that is executed, which leave ends with what was set in it (Microsoft: SET
// Statements (Transact-SQL), Considerations when you use the SET statements).
func (x *executor) scope() (leave func()) {
	out, again, restore := x.out, x.sess.Scope(), x.sess.Settings().keep()
	setting := &settingOutput{Output: out}
	x.out = setting
	return func() {
		restore()
		setting.restore()
		x.out = out
		if db := again(); db != "" {
			out.DatabaseAgain(db)
		}
	}
}

// settingOutput is the output of a scope: SET NOCOUNT and SET IMPLICIT_TRANSACTIONS in it hold until it ends.
type settingOutput struct {
	Output
	before, implicit *bool
}

// NoCount keeps what held before the first change.
func (o *settingOutput) NoCount(on bool) bool {
	before := o.Output.NoCount(on)
	if o.before == nil {
		o.before = &before
	}
	return before
}

// Implicit keeps what held before the first change.
func (o *settingOutput) Implicit(on bool) (before bool) {
	before = o.Output.Implicit(on)
	if o.implicit == nil {
		o.implicit = &before
	}
	return before
}

func (o *settingOutput) restore() {
	if o.before != nil {
		o.Output.NoCount(*o.before)
	}
	if o.implicit != nil {
		o.Output.Implicit(*o.implicit)
	}
}
