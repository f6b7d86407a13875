package run

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
)

// ownedTables gives a table that a step makes in a run the properties that apply
// gives it, in the commit that makes it. Without an owner it would be nobody's, and
// the next plan would take it for another program's, when the step dies before it
// has stored how far it came.
type ownedTables struct {
	plugin.Tables
	lake *planner.Lake
	x    *execution
	step addr.Address
}

// ownProperties is the prefix of the properties that are pipectl's own.
const ownProperties = "pipectl."

// ApplyTable changes a table that exists as it is asked to: whose that is has been
// decided by the plan.
func (o ownedTables) ApplyTable(ctx context.Context, req plugin.ApplyTableRequest) (plugin.ApplyTableResult, error) {
	i := slices.IndexFunc(o.x.Plan.Tables, func(t plan.Table) bool { return t.Ref.Name == req.Spec.Table.Name && t.WrittenBy(o.step) })
	if i >= 0 {
		properties := maps.Clone(req.Spec.Properties)
		if properties == nil {
			properties = map[string]string{}
		}
		for name, value := range o.lake.Own(o.x.Config, o.x.Plan.Tables[i].Spec).Properties {
			if _, said := properties[name]; !said && strings.HasPrefix(name, ownProperties) {
				properties[name] = value
			}
		}
		req.Spec.Properties = properties
	}
	return o.Tables.ApplyTable(ctx, req)
}
