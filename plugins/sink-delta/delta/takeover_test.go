package delta_test

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/sink-delta/delta"
)

// A plan says whether the rows that are to go into a table could. A table of
// another program is not changed when they could not.
func TestAPlanSaysWhetherRowsFit(t *testing.T) {
	t.Parallel()
	ref := plugin.TableRef{Name: "bronze.orders"}
	text := arrow.NewSchema([]arrow.Field{{Name: "order_id", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	number := arrow.NewSchema([]arrow.Field{
		{Name: "order_id", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "note", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	own := map[string]string{"pipectl.owner": "shop/1"}
	for name, c := range map[string]struct {
		had     map[string]string
		applies bool
	}{
		"another program's": {nil, false},
		"ours":              {own, true}, // it was planned on, and writes find out
	} {
		t.Run(name, func(t *testing.T) {
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
			if _, err := s.ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: ref, Schema: text, Properties: c.had}}); err != nil {
				t.Fatal(err)
			}
			spec := plugin.TableSpec{Table: ref, Schema: number, Properties: own, Converge: []string{"pipectl."}}
			_, planned := s.PlanTable(t.Context(), spec)
			_, applied := s.ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: spec})
			if !diag.Is(planned, diag.KindSchemaChanged) {
				t.Errorf("plan: %v", planned)
			}
			if c.applies && applied != nil || !c.applies && !diag.Is(applied, diag.KindSchemaChanged) {
				t.Errorf("apply: %v", applied)
			}
		})
	}
}

// A column whose name Delta allows only with column mapping is told as that, in
// a plan and in a write, and the ways out that are named are ways out.
func TestAColumnNameThatTheTableCannotHold(t *testing.T) {
	t.Parallel()
	ref := plugin.TableRef{Name: "bronze.orders"}
	id := arrow.Field{Name: "order_id", Type: arrow.PrimitiveTypes.Int64, Nullable: true}
	before := arrow.NewSchema([]arrow.Field{id}, nil)
	after := arrow.NewSchema([]arrow.Field{id, {Name: "new col", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
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
	defer s.Close()
	apply := func(ref plugin.TableRef, schema *arrow.Schema) error {
		_, err := s.ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: ref, Schema: schema}})
		return err
	}
	begin := func(ref plugin.TableRef, schema *arrow.Schema) error {
		_, err := s.BeginWrite(t.Context(), plugin.BeginWriteRequest{Table: ref, Mode: plugin.WriteAppend, Schema: schema, MergeSchema: true, BaseVersion: -1})
		return err
	}
	if err := apply(ref, before); err != nil {
		t.Fatal(err)
	}
	_, planned := s.PlanTable(t.Context(), plugin.TableSpec{Table: ref, Schema: after})
	for doing, err := range map[string]error{"plan": planned, "apply": apply(ref, after), "write": begin(ref, after)} {
		if err == nil {
			t.Fatalf("%s: no error", doing)
		}
		d := diag.FromError(err)[0]
		if d.Kind != diag.KindSchemaChanged || d.Code != "delta.column_name" || !strings.Contains(d.Detail, `exclude = ["new col"]`) || strings.Contains(d.Detail, "type") {
			t.Errorf("%s: %s %s: %s", doing, d.Kind, d.Code, d.Detail)
		}
	}
	if err := begin(ref, before); err != nil {
		t.Errorf("without the column: %v", err)
	}
	other := plugin.TableRef{Name: "bronze.orders_2"}
	if err := apply(other, after); err != nil {
		t.Errorf("another target: %v", err)
	}
	if err := begin(other, after); err != nil {
		t.Errorf("a write to the other target: %v", err)
	}
}
