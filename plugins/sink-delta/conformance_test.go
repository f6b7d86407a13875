package main

import (
	"log/slog"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/sdk/conformance"
)

func TestMain(m *testing.M) { conformance.Main(m, factory) }

func TestConformance(t *testing.T) {
	for name, reach := range map[string]func(*testing.T) plugin.Plugin{
		"in the test's process":   func(*testing.T) plugin.Plugin { return factory(slog.New(slog.DiscardHandler)) },
		"in a process of its own": func(t *testing.T) plugin.Plugin { return conformance.Process(t) },
	} {
		t.Run(name, func(t *testing.T) {
			p := reach(t)
			d, err := p.Describe(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			body := d.Components[0].Connection.EmptyValue().AsValueMap()
			body["root"] = cty.StringVal(t.TempDir())
			conformance.RunOver(t, p, conformance.Suite{Tables: &conformance.Tables{
				Request: plugin.OpenRequest{Component: d.Components[0].Type, Address: "sink.lake", Config: cty.ObjectVal(body), RunID: "conformance"},
			}})
		})
	}
}
