package tsql

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// arithmetic tells the errors of an overflow and of a division by zero, for which there are ARITHABORT, ARITHIGNORE and
// ANSI_WARNINGS.
func arithmetic(number int32) bool {
	switch number {
	case 220, 232, 8115, 8134, 3623:
		return true
	}
	return false
}

// abortsArithmetic tells whether an error ends the batch and its transaction: with ARITHABORT, but without ANSI_WARNINGS,
// with which it ends the statement alone (Microsoft: SET ARITHABORT (Transact-SQL)).
func (s *Settings) abortsArithmetic(number int32) bool {
	return arithmetic(number) && s.Options&(ansiWarnings|arithAbort) == arithAbort
}

// nullsArithmetic tells whether an operation that overflows or divides by zero is NULL: without both options (Microsoft: SET
// ARITHABORT (Transact-SQL)).
func (s *Settings) nullsArithmetic() bool { return s.Options&(ansiWarnings|arithAbort) == 0 }

// warnings is what a statement has to say at its end.
type warnings struct {
	overflow, division bool // was made NULL
	eliminated         bool // an aggregate has left NULL out
}

// undefined gives what an operation is that failed: NULL where the session wants that, else the statement fails.
func (r *run) undefined(err error) sqltype.Value {
	e := asError(err)
	if e == nil || !arithmetic(e.Number) || e.Number == 3623 || !r.sess.Settings().nullsArithmetic() {
		r.fail(err)
		return sqltype.Value{}
	}
	if e.Number == 8134 {
		r.warned.division = true
	} else {
		r.warned.overflow = true
	}
	return sqltype.Value{}
}

// refused gives an error of a place that has no NULL for it as one that is not understood, where the session wants NULL.
func (r *run) refused(err error) error {
	if e := asError(err); e != nil && e.Number != 0 && arithmetic(e.Number) && r.sess.Settings().nullsArithmetic() {
		return sqltype.Unsupported("NULL for \"%s\" here, which SET ARITHABORT OFF and SET ANSI_WARNINGS OFF ask for", e.Message)
	}
	return err
}

// tell sends the warnings of a statement, each once. write is one that changes rows, of which ARITHIGNORE does not keep
// them back (Microsoft: SET ARITHIGNORE (Transact-SQL), SET ANSI_WARNINGS (Transact-SQL)).
func (r *run) tell(write bool) {
	w := r.warned
	r.warned = warnings{}
	if r.out == nil {
		return
	}
	options := r.sess.Settings().Options
	if write || options&arithIgnore == 0 {
		if w.division {
			r.out.Warn(&sqltype.Error{Number: 3607, State: 1, Message: "Division by zero occurred."})
		}
		if w.overflow {
			r.out.Warn(&sqltype.Error{Number: 3606, State: 1, Message: "Arithmetic overflow occurred."})
		}
	}
	if w.eliminated && options&ansiWarnings != 0 {
		r.out.Warn(&sqltype.Error{Number: 8153, State: 1, Message: "Warning: Null value is eliminated by an aggregate or other SET operation."})
	}
}
