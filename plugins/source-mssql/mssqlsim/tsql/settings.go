package tsql

import (
	"errors"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// Settings are SET options of a session, and what came of one of them.
type Settings struct {
	// Options are the bits of @@OPTIONS (Microsoft: Configure the user options Server Configuration Option).
	Options int64
	// Doomed tells that the transaction can only be rolled back: with XACT_ABORT, or of a conversion, an error was caught inside it.
	Doomed bool
	// Locale is how dates are read and written.
	Locale sqltype.Locale
	// TextSize is that of SET TEXTSIZE, of which DBCC USEROPTIONS tells; 0 is the one that drivers ask for at their login.
	TextSize int64
	// RowCount is that of SET ROWCOUNT; 0 is without limit.
	RowCount int64
	// ContextInfo is that of SET CONTEXT_INFO, whose value outlives procedures; nil before one was set.
	ContextInfo []byte

	cursors cursors
	memory  memory
}

// keep gives a function that brings the options back which hold until the end of a procedure or of sp_executesql
// (Microsoft: SET Statements (Transact-SQL)).
func (s *Settings) keep() (restore func()) {
	options, locale, textSize, rowCount := s.Options, s.Locale, s.TextSize, s.RowCount
	return func() { s.Options, s.Locale, s.TextSize, s.RowCount = options, locale, textSize, rowCount }
}

// DefaultOptions are those of a new connection by a driver: ANSI_WARNINGS, ANSI_PADDING, ANSI_NULLS, QUOTED_IDENTIFIER,
// ANSI_NULL_DFLT_ON and CONCAT_NULL_YIELDS_NULL, but not ARITHABORT (Microsoft: Create indexed views, Required SET options
// for indexed views, Default OLE DB and ODBC value).
const DefaultOptions = 5432

// Options as @@OPTIONS counts them.
const (
	ansiWarnings   = 8
	ansiNulls      = 32
	arithAbort     = 64
	arithIgnore    = 128
	quotedIdent    = 256
	ansiNullDfltOn = 1024
	xactAbort      = 16384
)

// optionBits are the options that @@OPTIONS tells of.
var optionBits = map[string]int64{"IMPLICITTRANSACTIONS": 2, "CURSORCLOSEONCOMMIT": 4, "ANSIWARNINGS": 8, "ANSIPADDING": 16, "ANSINULLS": 32, "ARITHABORT": 64, "ARITHIGNORE": 128,
	"QUOTEDIDENTIFIER": 256, "NOCOUNT": 512, "ANSINULLDFLTON": 1024, "ANSINULLDFLTOFF": 2048, "CONCATNULLYIELDSNULL": 4096, "NUMERICROUNDABORT": 8192, "XACTABORT": xactAbort}

// set keeps an option.
func (s *Settings) set(option string, on bool) {
	if on {
		s.Options |= optionBits[option]
	} else {
		s.Options &^= optionBits[option]
	}
}

// writable refuses what a transaction cannot do that can only be rolled back.
func (x *executor) writable() error {
	if x.sess.Settings().Doomed {
		return sqltype.Errorf(3930, "The current transaction cannot be committed and cannot support operations that write to the log file. Roll back the transaction.")
	}
	return nil
}

// endOfBatch rolls back what can only be rolled back, and says so.
func (x *executor) endOfBatch(err error) error {
	s := x.sess.Settings()
	if !s.Doomed {
		return err
	}
	s.Doomed = false
	if x.sess.TranCount() == 0 {
		return err
	}
	if err != nil {
		if e := asError(err); e != nil {
			x.out.Raise(e)
		}
	}
	return errors.Join(x.sess.Rollback(""), sqltype.Errorf(3998, "Uncommittable transaction is detected at the end of the batch. The transaction is rolled back."))
}
