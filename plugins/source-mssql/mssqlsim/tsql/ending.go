package tsql

import (
	"errors"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// ending is what an error ends.
type ending uint8

const (
	// endsStatement is the rule for errors of a statement that runs (Microsoft: TRY...CATCH (Transact-SQL); SET XACT_ABORT
	// (Transact-SQL)): the next statement is carried out.
	endsStatement ending = iota
	// endsScope: the procedure or the text that the statement is in ends, and who called it goes on. So it is with what
	// compiling a statement finds (Microsoft: TRY...CATCH (Transact-SQL), Errors unaffected by a TRY...CATCH construct).
	endsScope
	// endsBatch: nothing of the batch is carried out any more, and its transaction stays as it is.
	endsBatch
	// endsTransaction: the batch ends and its transaction is rolled back, as XACT_ABORT has it of all errors.
	endsTransaction
)

// transactional are the errors that end a transaction whatever XACT_ABORT is: of a text that is no number, date or
// identifier (Microsoft: Installing SQL Server, Backward compatibility, Transactions (Level 1)), of an object that is there
// already and the others that the two lists of what was seen of servers have in common or only one has: err_handler.c of
// Babelfish for PostgreSQL, and SET XACT_ABORT in transactions.md of sql-server-simulator. The snapshot's and the deadlock's
// are in their messages (Microsoft: Database engine events and errors 1000 to 1999, 3000 to 3999).
var transactional = map[int32]bool{
	235: true, 241: true, 245: true, 289: true, 293: true, 295: true, 8114: true, 8169: true, 8170: true, // conversions
	217: true, 262: true, 297: true, 628: true, 911: true, 916: true, 3623: true, 3930: true, 8106: true, 8107: true, 8672: true,
	219: true, 1505: true, 1750: true, 2714: true, 3729: true, // objects
	1205: true, 3951: true, 3960: true, 3961: true,
}

// late are errors of compiling that the simulator finds when it carries a statement out: of a function and of a view that is
// not to be written through (4121: errors.md of sql-server-simulator), and of the clauses of MERGE.
var late = map[int32]bool{4121: true, 4403: true, 4406: true, 5324: true}

// failed does what becomes of a batch after an error of a statement. Without an error the batch goes on.
func (x *executor) failed(err error, st ast.Statement) error {
	e := asError(err)
	_, throws := st.(*ast.ThrowStatement)
	if e == nil || e == x.fatal && !throws {
		return err
	}
	own := x.own(e)
	end := x.ending(e, st)
	if s := x.sess.Settings(); s.Options&xactAbort != 0 && x.counts(e, st) {
		end = endsTransaction
	}
	switch {
	case end == endsTransaction:
		x.fatal = e
		if failed := x.abort(own); failed != nil {
			return errors.Join(failed, err)
		}
		return err
	case end == endsBatch:
		x.fatal = e
		return err
	case end == endsScope:
		x.ended = e
		return err
	case x.depth > 0 && (e == x.notBegun || e == x.ended || e == x.below):
		return err
	case x.depth > 0: // CATCH goes on, and may throw it on as it is (Microsoft: THROW (Transact-SQL), example B)
		return undone(e, st)
	}
	x.told(undone(e, st))
	return nil
}

// told tells of an error behind which the batch goes on; a procedure's status is 10 less its severity until a RETURN says otherwise
// (Microsoft: INF: Interpreting Return Status Values from Stored Procedures, Q96237).
func (x *executor) told(e *sqltype.Error) {
	x.batch.lastError = e.Number
	if x.batch.routine != nil {
		x.batch.status = 10 - int32(e.Class)
	}
	x.out.Raise(e)
}

// ending tells what an error ends without XACT_ABORT.
func (x *executor) ending(e *sqltype.Error, st ast.Statement) ending {
	_, throws := st.(*ast.ThrowStatement)
	_, calls := st.(*ast.ExecuteStatement)
	end := ofNumber(e)
	switch {
	case end == endsBatch:
		return end
	case e == x.notBegun, e == x.ended:
		return endsStatement
	case end == endsTransaction && !(e.Number == 8114 && calls), // of an argument it ends the call
		x.sess.Settings().abortsArithmetic(e.Number),
		e.Number == 8115 && strings.Contains(e.Message, "IDENTITY"),
		e.Number == 266 && x.depth > 0:
		return endsTransaction
	case x.own(e):
		return endsScope
	case throws:
		return endsBatch // Microsoft: THROW (Transact-SQL)
	}
	return ofShape(e, st)
}

// ofNumber tells what an error ends by its number alone.
func ofNumber(e *sqltype.Error) ending {
	switch {
	case e.Number == sqltype.NumberUnsupported, e.Class >= 19: // Microsoft: Database Engine error severities
		return endsBatch
	case transactional[e.Number]:
		return endsTransaction
	case e.Number == 127, e.Number == 313, e.Number == 1031: // of values
		return endsStatement
	case unresolved(e.Number), e.Class == 15, late[e.Number]:
		return endsScope
	}
	return endsStatement
}

// ofShape tells what an error ends that a statement has which changes the shape of a table: the transaction, but for what is
// not there (severity 11), and what compiling it finds (SET XACT_ABORT in transactions.md of sql-server-simulator; in
// Babelfish's list 547, 1715, 1765, 1768, 1778, 3726, 3728, 4708, 4712, 4901 and 4920 agree). Of CREATE TABLE there is word of
// single errors alone: the others end the batch here, as each of SET IDENTITY_INSERT does.
func ofShape(e *sqltype.Error, st ast.Statement) ending {
	if e.Class < 16 {
		return endsStatement
	}
	switch command(st) {
	case "CREATE TABLE", "SET IDENTITY INSERT":
		return endsBatch
	case "ALTER TABLE", "CREATE INDEX", "ALTER INDEX", "DROP INDEX", "CREATE STATISTICS", "UPDATE STATISTICS", "DROP TABLE", "TRUNCATE TABLE":
		if e.Number == 4902 || e.Number == 2705 {
			return endsScope
		}
		return endsTransaction
	}
	return endsStatement
}

// own tells whether an error is one of compiling a statement of this level, not of what it calls.
func (x *executor) own(e *sqltype.Error) bool { return e != x.below && ofNumber(e) == endsScope }

// counts tells whether XACT_ABORT counts an error: not one of compiling what is called, one of what is not there to be
// dropped (severity 11) or one that a procedure raises, but for all that a CATCH sees (Microsoft: SET XACT_ABORT
// (Transact-SQL); of severity 11 and of CATCH, transactions.md of sql-server-simulator).
func (x *executor) counts(e *sqltype.Error, st ast.Statement) bool {
	if x.depth > 0 {
		return true
	}
	_, inserts := st.(*ast.InsertStatement)
	return e != x.notBegun && e.Class != 11 && !(inserts && raisedInside(e) != nil)
}

// abort ends the transaction: it is rolled back, or can only be rolled back where a CATCH will see the error, which is none of
// the own level for an error of compiling.
func (x *executor) abort(own bool) error {
	depth := x.depth
	if own {
		depth = x.batch.depth
	}
	switch {
	case x.sess.TranCount() == 0:
		return nil
	case depth > 0:
		x.sess.Settings().Doomed = true
		return nil
	}
	return x.sess.Rollback("")
}

// undone gives an error that ends a statement and not its batch: of one that changes rows it says that nothing came of it,
// if it began.
func undone(e *sqltype.Error, st ast.Statement) *sqltype.Error {
	if compiled(e.Number) || e.Number == 544 || e.Number == 545 {
		return e
	}
	switch s := st.(type) {
	case *ast.InsertStatement, *ast.UpdateStatement, *ast.DeleteStatement, *ast.MergeStatement:
	case *ast.SelectStatement:
		if s.Into == nil {
			return e
		}
	default:
		return e
	}
	out := *e
	out.Undone = true
	return &out
}
