// Package sqltype holds the types and values of SQL Server: how values compare, convert, add up and print.
//
// A Value is a plain struct without pointers to follow and without interfaces, so that rows can be read, compared
// and sent without an allocation per value. The package knows nothing of statements, tables or the wire.
//
// Where to begin: type.go has the types, value.go the values; compare.go, convert.go and arith.go are what can be done with
// them, and time.go, decimal.go and format.go how they are read and written.
package sqltype
