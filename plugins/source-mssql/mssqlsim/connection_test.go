package mssqlsim

import "testing"

// Microsoft: sys.dm_exec_connections and sys.dm_tran_session_transactions (Transact-SQL).
func TestConnectionsAreListed(t *testing.T) {
	t.Parallel()
	conn := newEmpty(t)
	conn.SetMaxOpenConns(1)
	play(t, conn, []step{
		{sql: "SELECT net_transport, encrypt_option, auth_scheme, local_net_address FROM sys.dm_exec_connections WHERE session_id = @@SPID", rows: []string{"TCP|FALSE|SQL|127.0.0.1"}},
		{sql: "BEGIN TRANSACTION; BEGIN TRANSACTION; SELECT open_transaction_count FROM sys.dm_tran_session_transactions WHERE session_id = @@SPID; ROLLBACK", rows: []string{"2"}},
		{sql: "SELECT open_transaction_count FROM sys.dm_tran_session_transactions WHERE session_id = @@SPID", rows: nil},
	})
}
