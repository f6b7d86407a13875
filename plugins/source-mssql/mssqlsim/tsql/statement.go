package tsql

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

func (x *executor) statement(st ast.Statement) (f flow, err error) {
	if f, err = x.carryOut(st); err != nil {
		if e := asError(err); e == nil || !x.own(e) && e != x.notBegun && e != x.ended {
			x.batch.rowCount = 0 // what does not begin changes it no more than it does anything else
		}
		err = x.located(err, st)
		if fromBelow(st, err) {
			x.below = asError(err)
		}
		return f, err
	}
	x.done(st)
	return f, nil
}

// located gives an error the place of the innermost statement that it comes from. Errors may be shared, so it is a copy.
func (x *executor) located(err error, st ast.Statement) error {
	e, ok := err.(*sqltype.Error)
	if !ok || e.Line > 0 {
		return err
	}
	if e.Number == 102 && e.Message == "" {
		text := x.sourceOf(st)
		words := places(text)
		e = near(text, words, len(words))
		if kind, unknown := unknownKind(words); unknown {
			e = sqltype.Errorf(343, "Unknown object type '%s' used in a CREATE, DROP, or ALTER statement.", kind)
		}
		e.Line = 0
	}
	out := *e
	x.locate(&out, st)
	if e == x.notBegun {
		x.notBegun = &out
	}
	return &out
}

// locate says where a message comes from.
func (x *executor) locate(e *sqltype.Error, st ast.Statement) {
	if f, ok := st.(interface{ Frag() *ast.Fragment }); ok {
		e.Line = int32(f.Frag().StartLine)
	}
	if x.batch.routine != nil {
		e.Schema, e.Procedure = cmp.Or(x.batch.routine.Name.Schema, "dbo"), x.batch.routine.Name.Object
	}
	for ; e.First != nil; e = e.First {
		first := *e.First
		first.Line, first.Schema, first.Procedure = e.Line, e.Schema, e.Procedure
		e.First = &first
	}
}

// done tells the end of a statement that has told nothing itself; @@ERROR is 0 behind it. Declarations have none, nor has
// control of flow but WHILE, see loop (Microsoft: [MS-TDS] DONE; @@ERROR (Transact-SQL)).
func (x *executor) done(st ast.Statement) {
	kind := KindOther
	x.batch.counted(st)
	switch st.(type) {
	case *ast.BeginEndBlockStatement, *ast.IfStatement, *ast.WhileStatement, *ast.BreakStatement, *ast.ContinueStatement, *ast.ReturnStatement, *ast.TryCatchStatement,
		*ast.DeclareVariableStatement, *ast.DeclareTableVariableStatement:
		return
	case *ast.RaiseErrorStatement, *ast.ExecuteStatement: // it is their error that counts
		return
	case *ast.BeginTransactionStatement:
		kind = KindBegin
	case *ast.CommitTransactionStatement:
		kind = KindCommit
	case *ast.RollbackTransactionStatement:
		kind = KindRollback
	}
	x.batch.lastError = 0
	switch s := st.(type) {
	case *ast.SelectStatement, *ast.InsertStatement, *ast.UpdateStatement, *ast.DeleteStatement, *ast.MergeStatement:
	case *ast.FetchCursorStatement:
		if len(s.IntoVariables) > 0 {
			x.out.Done(kind)
		}
	default:
		x.out.Done(kind)
	}
}

// carryOut does what a statement says.
func (x *executor) carryOut(st ast.Statement) (f flow, err error) {
	defer catch(&err)
	switch s := st.(type) {
	case *ast.SelectStatement:
		return goOn, x.query(s)
	case *ast.InsertStatement:
		return goOn, x.insert(s)
	case *ast.UpdateStatement:
		return goOn, x.update(s)
	case *ast.DeleteStatement:
		return goOn, x.delete(s)
	case *ast.MergeStatement:
		return goOn, x.merge(s)
	case *ast.ExecuteStatement:
		return goOn, x.execute(s)
	case *ast.DeclareVariableStatement:
		return goOn, x.initialize(s)
	case *ast.DeclareTableVariableStatement:
		return goOn, nil // it is there since the batch began
	case *ast.SetVariableStatement:
		if ok, err := x.setCursor(s); ok || err != nil {
			return goOn, err
		}
		return goOn, x.scoped(false, func(b *binder) error {
			if s.FunctionCallExists || s.SeparatorType != "" && s.SeparatorType != "NotSpecified" { // a method or a property
				return sqltype.Unsupported("this form of SET %s", s.Variable.Name)
			}
			v := b.variable(s.Variable.Name)
			e := b.given(b.compound(s.AssignmentKind, func() expr { return v.expr() }, b.expr(s.Expression, nil)), v.typ)
			if b.compiling {
				return nil
			}
			w := e.eval(&frame{})
			if b.err != nil {
				return b.err
			}
			v.val = w
			return nil
		})
	case *ast.BeginEndBlockStatement:
		return x.statements(s.StatementList.Statements)
	case *ast.IfStatement:
		return x.branch(s)
	case *ast.WhileStatement:
		return x.loop(s)
	case *ast.BreakStatement:
		return leaveLoop, nil
	case *ast.ContinueStatement:
		return nextLoop, nil
	case *ast.ReturnStatement:
		return x.leave(s)
	case *ast.TryCatchStatement:
		return x.try(s)
	case *ast.PrintStatement:
		return goOn, x.plain(func(b *binder) {
			v := b.printed(s)
			e := &sqltype.Error{State: 1, Message: v.Str()}
			x.locate(e, s)
			x.out.Info(e)
		})
	case *ast.RaiseErrorStatement:
		return goOn, x.raise(s)
	case *ast.ThrowStatement:
		return goOn, x.throw(s)
	case *ast.WaitForStatement:
		return goOn, x.wait(s)
	case *ast.ReconfigureStatement:
		return goOn, x.sess.Reconfigure()
	case *ast.UseStatement:
		name := s.DatabaseName.Value
		if err := x.sess.Use(name); err != nil {
			return goOn, err
		}
		x.out.Database(name)
		return goOn, nil
	}
	if f, ok, err := x.setting(st); ok {
		return f, err
	}
	if ok, err := x.transaction(st); ok {
		return goOn, err
	}
	if ok, err := x.define(st); ok {
		return goOn, err
	}
	if ok, err := x.maintain(st); ok {
		return goOn, err
	}
	if ok, err := x.defineRoutine(st); ok {
		return goOn, err
	}
	if ok, err := x.defineDatabase(st); ok {
		return goOn, err
	}
	if ok, err := x.backup(st); ok {
		return goOn, err
	}
	if ok, err := x.cursorStatement(st); ok {
		return goOn, err
	}
	if ok, err := x.secure(st); ok {
		return goOn, err
	}
	return goOn, sqltype.Unsupported("the statement %s", nodeName(st))
}

// printed is the text of PRINT.
func (b *binder) printed(s *ast.PrintStatement) sqltype.Value {
	if hasSubquery(s.Expression) {
		failf(1046, "Subqueries are not allowed in this context. Only scalar expressions are allowed.")
	}
	return b.valueOf(s.Expression, sqltype.Str(sqltype.NVarChar, 4000))
}

func (x *executor) holds(p ast.BooleanExpression) (ok bool, err error) {
	err = x.scoped(false, func(b *binder) error {
		b.rowsWanted = false
		if holds := b.pred(p, nil); !b.compiling {
			ok = holds(&frame{}) == yes
			// An error of arithmetic makes the whole condition FALSE where it is no error (Microsoft: SET ARITHABORT (Transact-SQL)).
			ok = ok && !b.warned.division && !b.warned.overflow
		}
		return nil
	})
	return ok, err
}

func (x *executor) branch(s *ast.IfStatement) (flow, error) {
	ok, err := x.holds(s.Predicate)
	if err != nil {
		return goOn, err
	}
	x.batch.lastError, x.batch.rowCount = 0, 0
	next := s.ElseStatement
	if ok {
		next = s.ThenStatement
	}
	if next == nil {
		return goOn, nil
	}
	return x.statements([]ast.Statement{next})
}

func (x *executor) loop(s *ast.WhileStatement) (flow, error) {
	for {
		if err := x.ctx.Err(); err != nil {
			return leaveBatch, err
		}
		ok, err := x.holds(s.Predicate)
		if err != nil {
			return goOn, err
		}
		// Each look at the condition has a DONE, as TestSprocWithCursorNoResult of Microsoft's Go driver counts them of a server;
		// that of IF is not known.
		x.out.Done(KindOther)
		x.batch.rowCount = 0
		if !ok {
			return goOn, nil
		}
		f, err := x.statements([]ast.Statement{s.Statement})
		if err != nil || f == leaveBatch {
			return f, err
		}
		if f == leaveLoop {
			x.batch.rowCount = 0
			return goOn, nil
		}
	}
}

func (x *executor) try(s *ast.TryCatchStatement) (flow, error) {
	x.depth++
	f, err := x.statements(s.TryStatements.Statements)
	x.depth--
	var e *sqltype.Error
	if err == nil || !errors.As(err, &e) || e.Class >= 20 || unresolved(e.Number) && e != x.below {
		return f, err
	}
	before := x.batch.caught
	x.batch.caught, x.batch.lastError = e, e.Number
	f, err = x.statements(s.CatchStatements.Statements)
	x.batch.caught = before
	return f, err
}

func (x *executor) raise(s *ast.RaiseErrorStatement) error {
	e := &sqltype.Error{Number: 50000}
	x.locate(e, s)
	if err := x.plain(func(b *binder) {
		e.Class = uint8(min(max(b.valueOf(s.SecondParameter, sqltype.Of(sqltype.Int)).Int(), 0), 25))
		state := b.valueOf(s.ThirdParameter, sqltype.Of(sqltype.Int)).Int()
		if state < 0 {
			state = 1
		}
		e.State = uint8(state)
		if b.expr(s.FirstParameter, nil).typ.Class() == sqltype.ClassInt {
			b.numbered(b.valueOf(s.FirstParameter, sqltype.Of(sqltype.BigInt)).Int(), e)
		}
		e.Message = b.raised(b.valueOf(s.FirstParameter, sqltype.Str(sqltype.NVarChar, 2047)).Str(), s.OptionalParameters)
	}); err != nil {
		return err
	}
	if e.Class > 18 && !strings.Contains(strings.ToLower(s.RaiseErrorOptions), "log") {
		return sqltype.Errorf(2754, "Error severity levels greater than 18 can only be specified by members of the sysadmin role, using the WITH LOG option.")
	}
	switch {
	case e.Class <= 10:
		x.batch.lastError = 0
		x.out.Info(e)
		x.out.Done(KindOther)
	case x.depth > 0 || e.Class >= 20: // which no CATCH sees, and which ends the connection
		return e
	default:
		x.batch.rowCount = 0
		x.told(e)
	}
	return nil
}

func nothingCaught() error {
	return sqltype.Errorf(10704, "To rethrow an error, a THROW statement must be used inside a CATCH block. Insert the THROW statement inside a CATCH block, or add error parameters to the THROW statement.")
}

func (x *executor) throw(s *ast.ThrowStatement) error {
	if s.ErrorNumber == nil {
		if x.batch.caught == nil {
			return nothingCaught()
		}
		return x.batch.caught
	}
	e := &sqltype.Error{Class: 16}
	if err := x.plain(func(b *binder) {
		e.Number = int32(b.valueOf(s.ErrorNumber, sqltype.Of(sqltype.Int)).Int())
		e.Message = b.valueOf(s.Message, sqltype.Str(sqltype.NVarChar, 2048)).Str()
		e.State = uint8(b.valueOf(s.State, sqltype.Of(sqltype.Int)).Int())
		if e.Number < 50000 {
			failf(35100, "Error number %d in the THROW statement is outside the valid range. Specify an error number in the valid range of 50000 to 2147483647.", e.Number)
		}
	}); err != nil {
		return err
	}
	return e
}

func (x *executor) wait(s *ast.WaitForStatement) error {
	p := s.Parameter
	if p == nil || !strings.EqualFold(s.WaitForOption, "delay") {
		return sqltype.Unsupported("WAITFOR %s", s.WaitForOption)
	}
	var d time.Duration
	if err := x.plain(func(b *binder) {
		v, err := func() (v sqltype.Value, err error) {
			defer catch(&err)
			return b.valueOf(p, sqltype.Scaled(sqltype.Time, 7)), nil
		}()
		if l, ok := p.(*ast.StringLiteral); ok && err != nil {
			failf(148, "Incorrect time syntax in time string '%s' used with WAITFOR.", l.Value)
		}
		if err != nil {
			fail(err)
		}
		d = time.Duration(v.Ticks()%sqltype.TicksPerDay) * 100
	}); err != nil {
		return err
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-x.ctx.Done():
		return x.ctx.Err()
	case <-t.C:
		return nil
	}
}

var isolations = map[string]Isolation{"ReadUncommitted": ReadUncommitted, "ReadCommitted": ReadCommitted, "RepeatableRead": RepeatableRead, "Serializable": Serializable, "Snapshot": Snapshot}

func nameOf(n *ast.IdentifierOrValueExpression) string {
	if n == nil {
		return ""
	}
	if n.Identifier != nil {
		return n.Identifier.Value
	}
	return n.Value
}

func (x *executor) transaction(st ast.Statement) (bool, error) {
	switch s := st.(type) {
	case *ast.BeginTransactionStatement:
		if s.Distributed {
			return true, sqltype.Unsupported("BEGIN DISTRIBUTED TRANSACTION")
		}
		if err := x.implicitly(); err != nil {
			return true, err
		}
		if err := x.sess.Begin(); err != nil {
			return true, err
		}
		if x.sess.TranCount() == 1 {
			x.sess.NameTransaction(nameOf(s.Name))
		}
		return true, nil
	case *ast.CommitTransactionStatement:
		if err := x.writable(); err != nil {
			return true, err
		}
		return true, x.sess.Commit()
	case *ast.RollbackTransactionStatement:
		if s.Name == nil {
			x.sess.Settings().Doomed = false
		}
		return true, x.sess.Rollback(nameOf(s.Name))
	case *ast.SaveTransactionStatement:
		if err := x.writable(); err != nil {
			return true, err
		}
		return true, x.sess.Save(nameOf(s.Name))
	}
	return false, nil
}
