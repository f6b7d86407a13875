// Package tsql holds every T-SQL statement that the source sends, as
// functions that return its text and its parameters. It knows what SQL Server
// accepts and nothing of connections, results or what a statement is for.
//
// Rules that hold for every statement:
//
//   - Parameters are text (nvarchar) and converted on the server, so that a
//     statement means the same with every driver.
//   - LSNs cross as hexadecimal text in both ways, CONVERT style 1; only those
//     of change rows, of which there are millions, come as they are.
//   - What must stand in the text itself (names, types, collations, zones,
//     integers) passes a strict validator first. A function that would inline
//     something unfit returns an error, never a statement.
//   - Nothing is written, and nothing reads uncommitted rows.
//   - The text does not vary with the data where it can be avoided, so that
//     the server's plan cache holds one plan.
//
// All lists one example of each statement for tests.
package tsql

import (
	"strconv"
	"strings"
)

// Query is one statement and its parameters.
type Query struct {
	// Name says what the statement is for, in messages and tests.
	Name string
	Text string
	Args []Arg
}

// Arg is one parameter: @Name, bound as text.
type Arg struct{ Name, Value string }

func query(name, text string, args ...Arg) Query { return Query{Name: name, Text: text, Args: args} }

// hex reads an LSN expression as text.
func hex(expr string) string { return "CONVERT(varchar(22), " + expr + ", 1)" }

// asLSN reads a parameter as binary(10).
func asLSN(param string) string { return "CONVERT(binary(10), @" + param + ", 1)" }

// millis reads a datetime2(3) expression as ISO 8601 text; the server leaves
// out the fraction of whole seconds (Microsoft: CAST and CONVERT, style 126).
func millis(expr string) string { return "CONVERT(varchar(23), " + expr + ", 126)" }

func itoa[T int | int64](n T) string { return strconv.FormatInt(int64(n), 10) }

func join(parts ...string) string { return strings.Join(parts, "") }
