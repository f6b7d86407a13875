package tds

import "context"

// TranKind is what a transaction manager request asks for.
type TranKind byte

// The requests of the transaction manager that clients send in place of BEGIN, COMMIT, ROLLBACK and SAVE TRANSACTION;
// the numbers are those of Microsoft: [MS-TDS] Transaction Manager Request.
const (
	TranBegin    TranKind = 5
	TranCommit   TranKind = 7
	TranRollback TranKind = 8
	TranSave     TranKind = 9
)

// TranRequest is one transaction manager request. A commit or rollback that asks to begin again arrives as two requests.
type TranRequest struct {
	Kind TranKind
	// Name is the transaction's, or the savepoint's of TranSave; with TranRollback it is that of a savepoint or transaction.
	Name string
	// Isolation is the level a TranBegin asks for: 0 as it was, 1 read uncommitted, 2 read committed, 3 repeatable read,
	// 4 serializable, 5 snapshot. Session.TranIso is set before the handler is asked.
	Isolation byte
}

// Transactor is a Handler whose transactions do something. Transaction must call Session.Begin, Session.Commit or
// Session.Rollback when it did the work, as it does for the statements of the same meaning: they count and tell the
// client. Without it the server calls them itself.
type Transactor interface {
	Transaction(ctx context.Context, s *Session, req TranRequest, w *Results) error
}

// Resetter is a Handler that must know of a reset connection. keepTran: the running transaction is to be kept
// (RESETCONNECTIONSKIPTRAN); otherwise it is to be rolled back.
type Resetter interface {
	Reset(s *Session, keepTran bool)
}

// Closer is a Handler that must know when a session is over, to roll back what it left open.
type Closer interface {
	CloseSession(s *Session)
}
