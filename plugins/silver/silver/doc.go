// Package silver is the plugin that keeps silver tables: tables whose rows
// equal those of the source as of a position. It knows the columns of bronze
// and the order of changes. It knows no file format (tables are reached
// through the host), no layout of facts and control (the ledger answers
// questions about them) and no database.
package silver
