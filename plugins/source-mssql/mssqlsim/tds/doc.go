// Package tds is the server side of the Tabular Data Stream protocol, with which clients talk to SQL Server
// (Microsoft: [MS-TDS]). It speaks TDS 7.1 to 7.4 and 8.0 (strict) and needs the standard library only.
//
// It must not know SQL, tables or change data capture: a Handler answers logins, statements and procedure calls,
// and this package turns what the handler says into bytes. The evaluator and the model of the database live in
// sibling packages and build on this one.
package tds
