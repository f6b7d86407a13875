package main

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/sdk/conformance"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

func TestMain(m *testing.M) { conformance.Main(m, factory) }

func TestConformance(t *testing.T) {
	clock := mssqlsim.NewManualClock(time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC))
	server, err := mssqlsim.Start(t.Context(), mssqlsim.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for name, reach := range map[string]func(*testing.T) plugin.Plugin{
		"in the test's process":   func(*testing.T) plugin.Plugin { return factory(slog.New(slog.DiscardHandler)) },
		"in a process of its own": func(t *testing.T) plugin.Plugin { return conformance.Process(t) },
	} {
		t.Run(name, func(t *testing.T) {
			p := reach(t)
			conformance.RunOver(t, p, conformance.Suite{Source: fixture(t, p, server, clock, name)})
		})
	}
}

// fixture is a database of its own with a captured table of five rows.
func fixture(t *testing.T, p plugin.Plugin, server *mssqlsim.Server, clock *mssqlsim.ManualClock, name string) *conformance.Source {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	d, err := p.Describe(t.Context())
	must(err)
	body := func(empty cty.Value, args map[string]cty.Value) cty.Value {
		attrs := empty.AsValueMap()
		for k, v := range args {
			attrs[k] = v
		}
		return cty.ObjectVal(attrs)
	}
	c := d.Components[0]
	db := server.Database(name)
	must(db.EnableCDC())
	must(db.CreateTable(mssqlsim.Table{Name: "dbo.orders", Key: []string{"id"}, Columns: []mssqlsim.Column{
		{Name: "id", Type: "int"}, {Name: "note", Type: "nvarchar(40)", Nullable: true}, {Name: "amount", Type: "decimal(18,4)", Nullable: true}}}))
	must(db.EnableTable("dbo.orders", mssqlsim.Capture{}))
	next := 0
	commit := func(fn func(*mssqlsim.Tx) error) {
		clock.Advance(time.Second)
		_, err := db.Tx(t.Context(), fn)
		must(err)
	}
	insert := func() {
		next++
		commit(func(tx *mssqlsim.Tx) error { return tx.Insert("dbo.orders", next, fmt.Sprint("order ", next), "1.5") })
	}
	for range 5 {
		insert()
	}
	commit(func(tx *mssqlsim.Tx) error { return tx.Update("dbo.orders", map[string]any{"note": "changed"}, 1) })
	return &conformance.Source{
		Request: plugin.OpenRequest{Component: c.Type, Address: "source.shop", Config: body(c.Connection.EmptyValue(), map[string]cty.Value{"url": cty.StringVal(server.DSN(name))})},
		Table: plugin.SourceTable{Address: "table.orders", Read: c.Read.EmptyValue(),
			Object: body(c.Object.EmptyValue(), map[string]cty.Value{"object": cty.StringVal("dbo.orders")})},
		Rows: 5, Changes: 7,
		Advance: func(*testing.T, plugin.Plugin) { insert() },
	}
}
