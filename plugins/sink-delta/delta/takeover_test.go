package delta_test

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
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
		rows    bool
		planned bool
		applies bool
	}{
		"another program's":           {nil, false, false, false},
		"another program's, and rows": {nil, true, false, false},
		"ours, and rows":              {own, true, false, true}, // it was planned on, and writes find out
		"ours":                        {own, false, true, true},
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
			if c.rows {
				appendText(t, s, ref, text)
			}
			spec := plugin.TableSpec{Table: ref, Schema: number, Properties: own, Converge: []string{"pipectl."}}
			plan, planned := s.PlanTable(t.Context(), spec)
			_, applied := s.ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: spec})
			if !c.planned && !diag.Is(planned, diag.KindSchemaChanged) {
				t.Errorf("plan: %v", planned)
			}
			if c.planned {
				if planned != nil || len(plan.Changes) == 0 || plan.Changes[0] != "column order_id int64 in place of utf8" {
					t.Errorf("plan: %+v, %v", plan, planned)
				}
				states, err := s.GetTables(t.Context(), plugin.GetTablesRequest{Tables: []plugin.TableRef{ref}})
				if err != nil || !arrow.TypeEqual(states[0].Schema.Field(0).Type, arrow.PrimitiveTypes.Int64) || states[0].Schema.NumFields() != 2 {
					t.Errorf("state: %+v, %v", states, err)
				}
				if again, err := s.PlanTable(t.Context(), spec); err != nil || again.Action != plugin.TableNone {
					t.Errorf("again: %+v, %v", again, err)
				}
			}
			if c.applies && applied != nil || !c.applies && !diag.Is(applied, diag.KindSchemaChanged) {
				t.Errorf("apply: %v", applied)
			}
		})
	}
}

// appendText appends one row of one text column.
func appendText(t *testing.T, s plugin.Tables, ref plugin.TableRef, schema *arrow.Schema) {
	t.Helper()
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	b.Field(0).(*array.StringBuilder).Append("a")
	batch := b.NewRecordBatch()
	defer batch.Release()
	begun, err := s.BeginWrite(t.Context(), plugin.BeginWriteRequest{Table: ref, Mode: plugin.WriteAppend, Schema: schema, BaseVersion: -1})
	if err != nil {
		t.Fatal(err)
	}
	part, err := s.WritePart(t.Context(), plugin.WritePartRequest{WriteID: begun.WriteID}, rows.FromBatches(schema, batch))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Commit(t.Context(), plugin.CommitRequest{WriteID: begun.WriteID, Tokens: []string{part.Token}}); err != nil {
		t.Fatal(err)
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
