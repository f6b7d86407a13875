package tsql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
	"github.com/sqlc-dev/teesql/parser"
)

// Request is a batch or the statement of a prepared call.
type Request struct {
	SQL  string
	Args []*Argument
	// Scoped tells that SQL is a scope of its own, as the text of sp_executesql is.
	Scoped bool
}

// Argument is a parameter of a request. Output ones hold their final value when Exec returns.
type Argument struct {
	Name    string
	Type    sqltype.Type
	Value   sqltype.Value
	Output  bool
	Default bool // in place of a value
}

// StatementKind tells a client what a row count counts.
type StatementKind uint8

// The kinds of statements with a row count, and those that clients tell from others without one.
const (
	KindSelect StatementKind = iota
	KindInsert
	KindUpdate
	KindDelete
	KindMerge
	KindBegin // of a transaction
	KindCommit
	KindRollback
	KindOther
)

// Output receives what a batch produces, in order. An error of Columns or Row ends the batch.
type Output interface {
	Columns(cols []Column) error
	Row(row sqltype.Row) error
	// EndResult ends the rows of the last Columns. Without it they ended with the error that follows.
	EndResult()
	// Affected counts the rows a statement changed. It ends the rows of the last Columns too, those of OUTPUT.
	Affected(n int64, kind StatementKind)
	// Done ends a statement that has neither rows nor a count.
	Done(kind StatementKind)
	// BeginProcedure and EndProcedure stand around what a procedure gives that a statement calls. One that failed has no
	// return status.
	BeginProcedure()
	EndProcedure(status int32, failed bool)
	Info(e *sqltype.Error)
	// Warn is Info of a statement that has not ended yet.
	Warn(e *sqltype.Error)
	// Raise reports an error that does not end the batch.
	Raise(e *sqltype.Error)
	NoCount(on bool) (before bool)
	Database(name string)
	// DatabaseAgain is Database of what was executed in another database and has ended.
	DatabaseAgain(name string)
	// Language tells that the language of the session has changed.
	Language(name, before string)
	Implicit(on bool) (before bool)
}

// batch is the state that statements of one batch share.
type batch struct {
	vars       map[string]*variable
	tables     map[string]*tableVar
	cursors    map[string]*heldCursor // with LOCAL
	cursorVars map[string]*cursorVar
	rowCount   int64
	lastError  int32
	caught     *sqltype.Error
	depth      int // of TRY around it
	implicit   bool
	source     string   // as the parser read it
	text       string   // as it was written
	routine    *Routine // whose body it is
	status     int32    // what RETURN gave, or the last error
}

type variable struct {
	typ sqltype.Type
	val sqltype.Value
}

// expr is the variable's value now.
func (v *variable) expr() expr {
	return expr{typ: v.typ, null: true, konst: true, eval: func(*frame) sqltype.Value { return v.val }}
}

// run is one statement in progress. An error of evaluation is kept in err until the loop over rows sees it.
type run struct {
	ctx   context.Context
	sess  Session
	out   Output
	batch *batch
	err   error
	zones map[string]*time.Location
	// recursion is how often a recursive common table expression may call itself; 0 is without limit.
	recursion int64
	ticks     uint
	memory    *memory // of the session
	held      int64   // bytes of it
	// compiling: nothing is evaluated, values are NULL.
	compiling bool
	warned    warnings
}

// tick looks from time to time whether the request is cancelled. Whatever reads rows calls it for each, since what it
// reads may be joined and filtered for long before a row comes out.
func (r *run) tick() error {
	if r.ticks++; r.ticks%1024 != 0 {
		return nil
	}
	return r.ctx.Err()
}

func (r *run) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// locale is how the session reads and writes dates.
func (r *run) locale() *sqltype.Locale { return &r.sess.Settings().Locale }

func (r *run) takeErr() error {
	err := r.err
	r.err = nil
	return err
}

func (b *binder) variable(name string) *variable {
	v := b.batch.vars[strings.ToLower(name)]
	if v == nil {
		failf(137, "Must declare the scalar variable \"%s\".", name)
	}
	return v
}

// Exec runs a request. Implicit tells that SET IMPLICIT_TRANSACTIONS is on for the session.
func Exec(ctx context.Context, sess Session, req Request, implicit bool, out Output) error {
	x := &executor{ctx: ctx, sess: sess, out: out, batch: &batch{vars: map[string]*variable{}, tables: map[string]*tableVar{}, implicit: implicit}}
	if req.Scoped {
		defer x.scope()()
	}
	for _, a := range req.Args {
		x.batch.vars[strings.ToLower(a.Name)] = &variable{typ: a.Type, val: a.Value}
	}
	_, err := x.text(req.SQL)
	err = x.endOfBatch(err)
	x.batch.ends(sess.Settings())
	for _, a := range req.Args {
		a.Value = x.batch.vars[strings.ToLower(a.Name)].val
	}
	return err
}

// executor runs the statements of a batch.
type executor struct {
	ctx     context.Context
	sess    Session
	out     Output
	batch   *batch
	depth   int
	nesting int // of procedures that users made
	// below is the last error that a statement has from what it called; notBegun is one for which a text or a procedure did
	// not begin, ended one that ended it, and fatal one that ends the batch.
	below, notBegun, ended, fatal *sqltype.Error
	// compiling: statements are bound and nothing of them is carried out.
	compiling bool
}

// flow is where to go on after a statement.
type flow uint8

const (
	goOn flow = iota
	leaveLoop
	nextLoop
	leaveBatch
)

func (x *executor) text(sql string) (flow, error) {
	if strings.TrimSpace(sql) == "" {
		return goOn, nil
	}
	sc, err := x.script(sql)
	if err != nil {
		x.notBegun = asError(err)
		return goOn, err
	}
	for _, b := range sc.Batches {
		if err := x.begin(b.Statements); err != nil {
			x.notBegun = asError(err)
			return goOn, err
		}
		if f, err := x.statements(b.Statements); f == leaveBatch || err != nil {
			return f, err
		}
	}
	return goOn, nil
}

// script reads a text.
func (x *executor) script(sql string) (*ast.Script, error) {
	if err := shallow(sql); err != nil {
		return nil, err
	}
	x.batch.source, x.batch.text = x.rewritten(sql), sql
	sc, err := parse(x.ctx, x.batch.source)
	if what := unbuiltModule(sql); err != nil && what != "" {
		return nil, sqltype.Unsupported("the statement %s", what)
	}
	if m := rowsets.FindStringSubmatch(sql); err != nil && m != nil {
		return nil, sqltype.Unsupported("the table reference %s", strings.ToUpper(m[1]))
	}
	if m := quantified.FindStringSubmatch(sql); err != nil && m != nil {
		return nil, sqltype.Unsupported("a comparison with %s (SELECT ...), which its parser does not read", strings.ToUpper(m[1]))
	}
	return sc, err
}

// begin compiles the statements of a batch.
func (x *executor) begin(list []ast.Statement) error {
	if err := firstOfBatch(list); err != nil {
		return err
	}
	return x.compile(list, x.batch.source)
}

// rewritten gives a text as the parser reads it.
func (x *executor) rewritten(sql string) string {
	return readOnly(callsBeforeFetch(wholeNumbers(dollars(typedTimestamp(calledByVariable(quoteLogin(quoteMaster(nameKeys(rewriteMerge(endBeforeMerge(plainDevice(endThrow(callParentheses(parenthesizeVariables(rewrite(continued(flatComments(sql))))))))))))))))))
}

// read is the parser's. That it goes wrong itself (teesql v1.1.0) is an error of the text like others.
func read(ctx context.Context, sql string) (sc *ast.Script, err error) {
	defer func() {
		if r := recover(); r != nil {
			sc, err = nil, fmt.Errorf("reading the statement: %v", r)
		}
	}()
	return parser.Parse(ctx, strings.NewReader(sql))
}

// parse reads a batch after rewrite.
func parse(ctx context.Context, sql string) (*ast.Script, error) {
	if err := unclosed(sql); err != nil {
		return nil, err
	}
	if err := blocksEnd(sql); err != nil {
		return nil, err
	}
	if err := nothingBehind(sql); err != nil {
		return nil, err
	}
	if err := misplacedCollation(sql); err != nil {
		return nil, err
	}
	if err := endless(sql); err != nil {
		return nil, err
	}
	sc, err := read(ctx, sql)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, notRead(ctx, sql, err)
	}
	associate(sc, sql)
	source := asWritten(sql)
	for _, b := range sc.Batches {
		if err := unsaid(b.Statements, source, true); err != nil {
			return nil, err
		}
	}
	return sc, nil
}

func (x *executor) statements(list []ast.Statement) (flow, error) {
	for _, st := range list {
		if err := x.ctx.Err(); err != nil {
			return leaveBatch, err
		}
		if w, ok := x.sess.(Watched); ok {
			w.Runs(command(st))
		}
		f, err := x.statement(st)
		if err != nil {
			if err := x.failed(err, st); err != nil {
				return leaveBatch, err
			}
			continue
		}
		if f != goOn {
			return f, nil
		}
	}
	return goOn, nil
}

func asError(err error) *sqltype.Error {
	var e *sqltype.Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

// binder gives the binder of a new statement.
func (x *executor) binder() *binder {
	return &binder{run: &run{ctx: x.ctx, sess: x.sess, out: x.out, batch: x.batch, recursion: maxRecursion, compiling: x.compiling, memory: &x.sess.Settings().memory}, ctes: map[string]*ast.CommonTableExpression{}, working: map[string]*recursion{}, tables: x.batch.tables, rowsWanted: true}
}

// implicitly begins a transaction where SET IMPLICIT_TRANSACTIONS wants one. BEGIN TRANSACTION is among the statements that do, and
// then begins a second one (Microsoft: SET IMPLICIT_TRANSACTIONS (Transact-SQL)).
func (x *executor) implicitly() error {
	if x.batch.implicit && x.sess.TranCount() == 0 {
		return x.sess.Begin()
	}
	return nil
}

// scoped runs fn as one statement of the session. Binding errors come out as errors.
func (x *executor) scoped(write bool, fn func(b *binder) error) (err error) {
	if x.compiling {
		defer catch(&err)
		b := x.binder()
		defer b.end()
		return fn(b)
	}
	if err := x.implicitly(); err != nil {
		return err
	}
	if write {
		if err := x.writable(); err != nil {
			return err
		}
	}
	for {
		if err := x.ctx.Err(); err != nil {
			return err
		}
		done, err := x.sess.Statement(x.ctx, write)
		if err != nil {
			return err
		}
		b := x.binder()
		err = func() (err error) {
			defer b.end()
			defer catch(&err)
			if err := fn(b); err != nil {
				return err
			}
			return b.err
		}()
		if err == nil {
			b.tell(write)
		}
		err = b.refused(err)
		if err = done(err); !errors.Is(err, ErrStale) {
			return err
		}
	}
}

// plain runs fn without touching tables.
func (x *executor) plain(fn func(b *binder)) (err error) {
	defer catch(&err)
	b := x.binder()
	defer b.end()
	fn(b)
	if b.err == nil {
		b.tell(false)
	}
	return b.refused(b.err)
}
