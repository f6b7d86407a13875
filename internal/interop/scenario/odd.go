package main

import (
	"context"
	"fmt"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

// oddName is the table with names that Delta's columns cannot have without column mapping.
const oddName = "dbo.odd"

// oddTable is dbo.odd.
type oddTable struct {
	db    *mssqlsim.Database
	first int // the oldest key
	next  int
}

// newOddTable makes the table with 50 rows and captures it. Its key has two columns.
func newOddTable(ctx context.Context, db *mssqlsim.Database) (*oddTable, error) {
	if err := db.CreateTable(mssqlsim.Table{Name: oddName, Key: []string{"the id", "part;no"}, Columns: []mssqlsim.Column{
		{Name: "the id", Type: "int"}, {Name: "part;no", Type: "nvarchar(10)"}, {Name: "a,b=(c)", Type: "decimal(18,4)", Nullable: true},
		{Name: "Größe {cm}", Type: "float", Nullable: true}, {Name: "changed at", Type: "datetime2(7)", Nullable: true}}}); err != nil {
		return nil, err
	}
	t := &oddTable{db: db}
	_, err := db.Tx(ctx, func(tx *mssqlsim.Tx) error { return t.insert(tx, 50) })
	if err != nil {
		return nil, fmt.Errorf("filling %s: %w", oddName, err)
	}
	return t, db.EnableTable(oddName, mssqlsim.Capture{})
}

func part(key int) string { return fmt.Sprint("№ ", key%3) }

func (t *oddTable) insert(tx *mssqlsim.Tx, n int) error {
	for range n {
		if err := tx.Insert(oddName, t.next, part(t.next), fmt.Sprintf("%d.25", t.next), float64(t.next)/8, "2026-01-02T03:04:05.678"); err != nil {
			return err
		}
		t.next++
	}
	return nil
}

// change adds, alters and removes a row.
func (t *oddTable) change(ctx context.Context) error {
	_, err := t.db.Tx(ctx, func(tx *mssqlsim.Tx) error {
		if err := t.insert(tx, 1); err != nil {
			return err
		}
		if err := tx.Delete(oddName, t.first, part(t.first)); err != nil {
			return err
		}
		t.first++
		return tx.Update(oddName, map[string]any{"a,b=(c)": nil, "Größe {cm}": -1.5}, t.first, part(t.first))
	})
	if err != nil {
		return fmt.Errorf("changing %s: %w", oddName, err)
	}
	return nil
}
