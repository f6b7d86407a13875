// Package latest finds the newest row of each key in a stream of change rows:
// the row that is last by commit position, command, sequence and operation.
//
// Rows are held in memory up to a budget; beyond it they are divided by a hash
// of their key into temporary files and ranked file by file, so memory is
// bounded by configuration and not by the number of rows. The package knows
// Arrow and the order of changes; it knows no tables and no positions of a
// pipeline.
package latest
