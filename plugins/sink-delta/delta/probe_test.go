package delta_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/sink-delta/delta"
)

// A plan finds a root that cannot be written; what only reads does not ask.
func TestAPlanFindsALakeThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	p := delta.New("test")
	description, err := p.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	body := description.Components[0].Connection.EmptyValue().AsValueMap()
	body["root"] = cty.StringVal(filepath.Join(file, "lake"))
	tables, err := p.OpenTables(t.Context(), plugin.OpenRequest{Component: "delta", Config: cty.ObjectVal(body)})
	if err != nil {
		t.Fatal(err)
	}
	defer tables.Close()
	ref := plugin.TableRef{Name: "bronze.orders"}
	if states, err := tables.GetTables(t.Context(), plugin.GetTablesRequest{Tables: []plugin.TableRef{ref}}); err != nil || states[0].Exists {
		t.Errorf("%+v, %v", states, err)
	}
	_, err = tables.PlanTable(t.Context(), plugin.TableSpec{Table: ref})
	if list := diag.FromError(err); len(list) != 1 || list[0].Code != "delta.root" || list[0].Kind != diag.KindUnavailable || list[0].Path.String() != "root" {
		t.Errorf("%+v", list)
	}
}
