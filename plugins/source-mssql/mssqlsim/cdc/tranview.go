package cdc

import (
	"encoding/binary"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// Described tells others what the client knows the session's transaction by.
func (s *Session) Described(descriptor uint64) {
	s.tell(func(c *connected) { c.descriptor = descriptor })
}

// open lists the sessions with a transaction.
func (s *Session) open() (out []connected) {
	for _, c := range s.sessions() {
		if c.open > 0 && c.tx != nil {
			out = append(out, c)
		}
	}
	return out
}

// sessionTransactions is Microsoft: sys.dm_tran_session_transactions (Transact-SQL).
func sessionTransactions(s *Session, _ *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{col("session_id", integer), col("transaction_id", bigint), col("transaction_descriptor", sqltype.Bin(sqltype.Binary, 8)), col("is_user_transaction", bit), col("is_local", bit),
		col("open_transaction_count", integer)}}
	for _, c := range s.open() {
		r.Data = append(r.Data, sqltype.Row{num(int64(c.SPID)), num(c.tx.id), sqltype.FromBytes(string(binary.LittleEndian.AppendUint64(nil, c.descriptor))), flag(true), flag(true), num(int64(c.open))})
	}
	return r
}

// activeTransactions is Microsoft: sys.dm_tran_active_transactions (Transact-SQL): the transactions that sessions have begun,
// not those that a statement is by itself.
func activeTransactions(s *Session, _ *Database) *tsql.Rows {
	const readWrite, active = 1, 2
	r := &tsql.Rows{Cols: []tsql.Column{col("transaction_id", bigint), col("name", sqltype.Str(sqltype.NVarChar, 32)), col("transaction_begin_time", stamp), col("transaction_type", integer), col("transaction_state", integer)}}
	for _, c := range s.open() {
		r.Data = append(r.Data, sqltype.Row{num(c.tx.id), text("user_transaction"), sqltype.FromTicks(sqltype.DateTimeTicks(s.srv.local(c.tx.began))), num(readWrite), num(active)})
	}
	return r
}

// databaseTransactions is Microsoft: sys.dm_tran_database_transactions (Transact-SQL), without what it says of the log's
// records.
func databaseTransactions(s *Session, _ *Database) *tsql.Rows {
	const readWrite, begun, logged = 1, 3, 4
	r := &tsql.Rows{Cols: []tsql.Column{col("transaction_id", bigint), col("database_id", integer), ncol("database_transaction_begin_time", stamp), col("database_transaction_type", integer),
		col("database_transaction_state", integer)}}
	for _, c := range s.open() {
		state, first := int64(begun), c.tx.first.Load()
		if first != 0 {
			state = logged
		}
		r.Data = append(r.Data, sqltype.Row{num(c.tx.id), num(c.tx.home.Load()), ticks(first), num(readWrite), num(state)})
	}
	return r
}
