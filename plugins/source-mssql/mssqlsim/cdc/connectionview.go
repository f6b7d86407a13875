package cdc

import (
	"net"
	"sort"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// Connection is what a server knows of the connection of a session. Local and Remote may be nil.
type Connection struct {
	SPID          int16
	Encrypted     bool
	Local, Remote net.Addr
	// Host, Program and Interface are the names that the client gave of its machine, of itself and of its library; Process is
	// the number of its process.
	Host, Program, Interface string
	Process                  int64
	// Kill ends the connection from the server's side, and returns at once.
	Kill func()
	// Version is that of TDS, PacketSize that of packets, on which the client and the server agreed.
	Version    uint32
	PacketSize int
}

// connected is what others see of a session. It is guarded by the server's lock.
type connected struct {
	Connection
	login    string
	database string
	since    int64 // ticks of the server's clock
	open     int   // @@TRANCOUNT
	state    sessionState
	tx       *Tx // while open is above zero
	// descriptor is what the client knows the transaction by
	descriptor uint64
	// request and mine are set where others look at it
	request  *request
	mine     bool // the session that looks
	id       [16]byte
	original *Login
	asked
}

// Connected tells the others of the session's connection.
func (s *Session) Connected(c Connection) {
	s.SPID, s.client = c.SPID, c
	st := s.state()
	s.srv.mu.Lock()
	defer s.srv.mu.Unlock()
	if s.srv.connected == nil {
		s.srv.connected = map[*Session]*connected{}
	}
	s.srv.connected[s] = &connected{Connection: c, login: s.login.Name(), database: s.db.Name, since: s.srv.stamp(), state: st, id: newGUID(), original: s.login, asked: asked{began: s.srv.stamp(), ended: s.srv.stamp()}}
}

// moved tells the others where the session is now; "" is nowhere any more. The server's lock is held.
func (s *Session) moved(database string) {
	switch c := s.srv.connected[s]; {
	case c == nil:
	case database == "":
		delete(s.srv.connected, s)
	default:
		c.database = database
	}
}

// nest sets @@TRANCOUNT.
func (s *Session) nest(n int) {
	s.nesting = n
	s.srv.mu.Lock()
	defer s.srv.mu.Unlock()
	if c := s.srv.connected[s]; c != nil {
		c.open, c.tx = n, s.tx
		if n == 0 {
			c.tx = nil
		}
	}
}

// sessions lists the sessions one may see.
func (s *Session) sessions() (out []connected) {
	all := s.serverCan("VIEW SERVER STATE")
	s.srv.mu.RLock()
	defer s.srv.mu.RUnlock()
	for x, c := range s.srv.connected {
		if all || x == s {
			seen := *c
			seen.request, seen.mine = &x.request, x == s
			out = append(out, seen)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].SPID < out[j].SPID })
	return out
}

// serverState refuses what needs VIEW SERVER STATE (Microsoft: Database engine events and errors, 300 and 297).
func (s *Session) serverState() error {
	if s.serverCan("VIEW SERVER STATE") {
		return nil
	}
	e := sqltype.Errorf(297, "The user does not have permission to perform this action.")
	e.First = sqltype.Errorf(300, "VIEW SERVER STATE permission was denied on object 'server', database 'master'.")
	return e
}

// serverViews are the views of the server that need VIEW SERVER STATE.
var serverViews = map[string]view{
	"dm_exec_connections":           execConnections,
	"dm_tran_session_transactions":  sessionTransactions,
	"dm_tran_active_transactions":   activeTransactions,
	"dm_tran_database_transactions": databaseTransactions,
}

// host gives the address and the port of an end of a connection, NULL where there is none.
func host(a net.Addr) (address, port sqltype.Value) {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return null, null
	}
	return text(t.IP.String()), num(int64(t.Port))
}

// execConnections is Microsoft: sys.dm_exec_connections (Transact-SQL), without the columns that count what went over the
// wire.
func execConnections(s *Session, _ *Database) *tsql.Rows {
	word, address := sqltype.Str(sqltype.NVarChar, 40), sqltype.Str(sqltype.VarChar, 48)
	r := &tsql.Rows{Cols: []tsql.Column{ncol("session_id", integer), ncol("most_recent_session_id", integer), col("connect_time", stamp), col("net_transport", word), ncol("protocol_type", word),
		ncol("protocol_version", integer), col("encrypt_option", word), col("auth_scheme", word), ncol("net_packet_size", integer), ncol("client_net_address", address), ncol("client_tcp_port", integer),
		ncol("local_net_address", address), ncol("local_tcp_port", integer), col("connection_id", guid), ncol("most_recent_sql_handle", handleType)}}
	for _, c := range s.sessions() {
		encrypted := "FALSE"
		if c.Encrypted {
			encrypted = "TRUE"
		}
		far, farPort := host(c.Remote)
		near, nearPort := host(c.Local)
		r.Data = append(r.Data, sqltype.Row{num(int64(c.SPID)), num(int64(c.SPID)), sqltype.FromTicks(c.since), text("TCP"), text("TSQL"), num(int64(c.Version)), text(encrypted), text("SQL"),
			num(int64(c.PacketSize)), far, farPort, near, nearPort, sqltype.FromGUID(c.id), c.handle()})
	}
	return r
}
