package delta_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/sink-delta/delta"
)

// Delta Lake: "Table properties reference", delta.setTransactionRetentionDuration:
// the shortest time for which a table keeps the txn of an application.
func TestATableSaysWhetherItForgetsTxns(t *testing.T) {
	t.Parallel()
	p := delta.New("test")
	description, err := p.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	body := description.Components[0].Connection.EmptyValue().AsValueMap()
	body["root"] = cty.StringVal(t.TempDir())
	s, err := p.OpenTables(t.Context(), plugin.OpenRequest{Component: "delta", Config: cty.ObjectVal(body)})
	if err != nil {
		t.Fatal(err)
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	for name, properties := range map[string]map[string]string{
		"ops.kept": nil, "ops.forgotten": {"delta.setTransactionRetentionDuration": "interval 7 days"},
	} {
		ref := plugin.TableRef{Name: name}
		if _, err := s.ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: ref, Schema: schema, Properties: properties}}); err != nil {
			t.Fatal(err)
		}
		states, err := s.GetTables(t.Context(), plugin.GetTablesRequest{Tables: []plugin.TableRef{ref}})
		if err != nil || states[0].TxnsExpire != (properties != nil) {
			t.Errorf("%s: %+v, %v", name, states, err)
		}
	}
}
