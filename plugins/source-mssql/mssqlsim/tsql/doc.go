// Package tsql runs T-SQL: it binds the parser's tree to tables and types, plans reads along their key order, and
// streams rows out without boxing a value.
//
// It must not know change data capture, logins or the wire protocol's bytes: what a database holds comes in through
// Session and the interfaces beside it. What it does not understand is an error that names it, never a guess.
//
// Where to begin: run.go reads a batch and statement.go runs its statements; rewrite.go mends what the parser misreads.
// compile.go and binding.go find what is wrong with a batch before it begins.
// query.go, from.go, join.go, group.go, window.go and sort.go make the plan of a query, plan.go and scan.go run it, and
// expr.go binds its expressions, with functions in files named ...func.go. modify.go and merge.go change rows, define.go
// and alter.go shapes. catalog.go has the interfaces through which a database is seen.
package tsql
