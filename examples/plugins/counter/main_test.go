package main

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/sdk/conformance"
)

func TestMain(m *testing.M) { conformance.Main(m, newCounter) }

// The suite that says whether a plugin keeps the contract, in this process and
// in one of its own.
func TestConformance(t *testing.T) {
	conformance.Run(t, newCounter, conformance.Suite{Source: &conformance.Source{
		Request: plugin.OpenRequest{Component: "counter", Address: "source.hall",
			Config: cty.ObjectVal(map[string]cty.Value{"commits": cty.NumberIntVal(25)})},
		Table: plugin.SourceTable{Address: "table.counters",
			Object: cty.ObjectVal(map[string]cty.Value{"keys": cty.NumberIntVal(10)})},
		Rows: 10, Changes: 25,
	}})
}
