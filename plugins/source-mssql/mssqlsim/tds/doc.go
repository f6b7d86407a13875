// Package tds is the server side of the Tabular Data Stream protocol, with which clients talk to SQL Server
// (Microsoft: [MS-TDS]). It speaks TDS 7.1 to 7.4 and 8.0 (strict), with TLS off, for the login only, for everything
// and strict, and needs the standard library and golang.org/x/text (code pages) only.
//
// It must not know SQL, tables or change data capture: a Handler answers logins, statements and procedure calls,
// and this package turns what the handler says into bytes. The evaluator and the model of the database live in
// sibling packages and build on this one.
//
// # Who calls what, where
//
// A Server runs one goroutine per connection, which calls the handler, and one more that only reads packets, so that
// an attention or a lost client is noticed while the handler works. On one connection nothing of the handler runs
// twice at a time; different connections call it at the same time. In order:
//
//  1. Handler.Login, once, after LOGIN7. An *Error refuses the login and is sent as it is (18456, 4060).
//  2. Handler.Exec, once for each statement batch, for each execution of a prepared statement, for each opening of a
//     server cursor, and for each call of a procedure that this package does not answer itself. It answers itself:
//     sp_executesql, sp_prepare, sp_prepexec, sp_execute, sp_unprepare, the sp_cursor family and sp_reset_connection;
//     of these Exec sees the statement (Request.SQL) with its parameters, never the procedure.
//  3. Transactor.Transaction, if the handler has it, for each transaction manager request; otherwise the Session
//     only counts.
//  4. Resetter.Reset, if the handler has it, when the client asks for a reset of the connection, before Session.User,
//     prepared statements and cursors are forgotten.
//  5. Closer.CloseSession, if the handler has it, once, when the connection of a session ends for any reason.
//
// The server waits for the handler: a connection is not gone, and Server.Close does not return, before Exec did.
//
// # Cancellation
//
// The context of Exec ends when the client sends an attention, when the client is gone and when the server closes.
// Exec should then return soon; what it returns does not matter and no error is sent for it. Row, RowWriter.End and
// Flush return an error from then on, so that a loop that only writes rows and returns their error is prompt by itself;
// a loop that computes for long without writing should look at the context.
// The acknowledgement of an attention is sent by the server as a message of its own after Exec has returned.
//
// # Results are streamed
//
// Results.Columns opens a result; rows then go straight into packets and to the socket as these fill. Nothing is kept:
// a client that does not read stops the handler in Row or RowWriter.End (back-pressure), and memory is one buffer per
// connection. There are two ways to write rows, which may be mixed:
//
//	w.Columns([]tds.Column{{Name: "id", Type: tds.BigInt}, {Name: "note", Type: tds.NVarChar(40), Nullable: true}})
//	err := w.Row(int64(1), nil)  // generic: values as below
//
//	row := w.RowWriter()         // typed: no boxing, for large results; get it once per result
//	row.Int64(2)
//	row.Text("a note")
//	err = row.End()              // reports the first mistake of the row, a cancelled request, a lost client
//
// A row with a value of the wrong kind, out of range, NULL in a NOT NULL column or with a wrong number of values is an
// error of Row or End that names the column, and the row is not sent. Return such errors from Exec.
// A row with NULLs goes as NBCROW to clients of TDS 7.3.B and later, where that is shorter.
// Several results, Affected counts, Info messages and errors may follow each other; the server writes the DONE tokens.
// When a server cursor is opened, the rows are kept (encoded) for later fetches; the handler does not notice.
//
// # Errors
//
// An *Error returned by Exec fails the request and is sent as it is, after the rows written so far; any other error is
// sent as number 50000, class 16. Results.Raise sends an error and lets the batch go on; a handler that uses it calls
// Results.EndResult after the last row of each result, because an error inside a result and one after it look different
// to clients. Returning ErrDrop (or an error that wraps it) cuts the connection with a TCP reset after what has been written
// so far.
//
// # Transactions
//
// @@TRANCOUNT and the descriptor that clients send back live in the Session. Session.Begin, Commit and Rollback keep them
// and tell the client (ENVCHANGE 8, 9, 10); the handler calls them for transactions by text as for those by request.
//
// # Faults and trace
//
// Server.Fault is asked before each request what to do wrong with it: wait, cut the connection before, inside or after
// the answer, send an error after some rows, ignore attentions. Server.Trace receives each request in readable form,
// never with a password.
//
// # What is not there
//
// MARS, SSPI and other integrated logins, federated authentication, Always Encrypted, table-valued parameters, bulk load,
// distributed transactions, session recovery, routing. Each is refused with an error or left unanswered as a feature.
//
// # Values
//
// Parameters arrive and rows of the generic path are given as:
//
//	tinyint, smallint, int, bigint                  int64
//	bit                                             bool
//	real, float                                     float64
//	decimal, numeric, money, smallmoney             Dec
//	char, varchar, nchar, nvarchar, text, ntext, xml  string (or []byte: the bytes as they go on the wire)
//	binary, varbinary, image, UDT                   []byte
//	uniqueidentifier                                GUID
//	date, time, datetime, smalldatetime, datetime2, datetimeoffset  time.Time
//	sql_variant                                     any of these, or Typed to name the base type
//	NULL                                            nil
//
// The slices of parameters belong to the handler; slices given to Row and RowWriter are copied before they return.
package tds
