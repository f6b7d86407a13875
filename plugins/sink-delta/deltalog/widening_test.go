package deltalog

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/plugins/sink-delta/internal/golden"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// TestWidens: the list of the protocol (Delta protocol: Type Widening), and
// nothing else.
func TestWidens(t *testing.T) {
	t.Parallel()
	flat := []Type{Byte, Short, Integer, Long, Float, Double, Boolean, String, Binary, Date, Timestamp, TimestampNTZ,
		Decimal{5, 2}, Decimal{6, 2}, Decimal{6, 3}, Decimal{7, 4}, Decimal{10, 0}, Decimal{12, 2}, Decimal{12, 3}, Decimal{20, 0}, Decimal{22, 2}, Decimal{22, 3}}
	allowed := map[string][]string{
		"byte":          {"short", "integer", "long", "double", "decimal(10,0)", "decimal(12,2)", "decimal(20,0)", "decimal(22,2)", "decimal(22,3)"},
		"short":         {"integer", "long", "double", "decimal(10,0)", "decimal(12,2)", "decimal(20,0)", "decimal(22,2)", "decimal(22,3)"},
		"integer":       {"long", "double", "decimal(10,0)", "decimal(12,2)", "decimal(20,0)", "decimal(22,2)", "decimal(22,3)"},
		"long":          {"decimal(20,0)", "decimal(22,2)"},
		"float":         {"double"},
		"date":          {"timestamp_ntz"},
		"decimal(5,2)":  {"decimal(6,2)", "decimal(6,3)", "decimal(12,2)", "decimal(12,3)", "decimal(22,2)", "decimal(22,3)", "decimal(7,4)"},
		"decimal(6,2)":  {"decimal(12,2)", "decimal(12,3)", "decimal(22,2)", "decimal(22,3)"},
		"decimal(6,3)":  {"decimal(7,4)", "decimal(12,3)", "decimal(22,3)"},
		"decimal(10,0)": {"decimal(12,2)", "decimal(20,0)", "decimal(22,2)", "decimal(22,3)"},
		"decimal(12,2)": {"decimal(22,2)", "decimal(22,3)"},
		"decimal(12,3)": {"decimal(22,3)"},
		"decimal(20,0)": {"decimal(22,2)"},
	}
	for _, from := range flat {
		for _, to := range flat {
			want := false
			for _, name := range allowed[from.String()] {
				want = want || name == to.String()
			}
			if Widens(from, to) != want {
				t.Errorf("%s to %s: %v", from, to, !want)
			}
			nested := func(t Type) Type {
				return &Struct{Fields: []Field{{Name: "a", Type: &Map{Key: String, Value: &Array{Element: t}}}, {Name: "b", Type: Long}}}
			}
			if Widens(nested(from), nested(to)) != want {
				t.Errorf("%s to %s inside: %v", from, to, !want)
			}
		}
	}
	one := func(name string) Type { return &Struct{Fields: []Field{{Name: name, Type: Integer}}} }
	if Widens(one("a"), one("b")) || Widens(one("a"), Integer) || Widens(&Array{Element: Integer}, Long) {
		t.Error("another form was taken for a wider one")
	}
}

// widened are the columns of one step of a change.
func widened(columns ...any) *Struct {
	s := &Struct{}
	for i := 0; i < len(columns); i += 2 {
		s.Fields = append(s.Fields, Field{Name: columns[i].(string), Type: columns[i+1].(Type)})
	}
	return s
}

func widenTable(t *testing.T, schema *Struct, properties map[string]string) *Table {
	t.Helper()
	table, err := Create(t.Context(), store.NewMemory(nil), "t", CreateSpec{Schema: schema, Properties: properties}, testOptions()...)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func widenIn(t *testing.T, table *Table, to *Struct) error {
	t.Helper()
	s, err := table.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tx := table.Begin(s)
	if err := tx.WidenColumns(to); err != nil {
		return err
	}
	_, err = tx.Commit(t.Context())
	return err
}

// TestTypeChangesAsSparkWritesThem: the same changes as in the golden table give
// the same schema, to the byte.
func TestTypeChangesAsSparkWritesThem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first *Struct
		steps []*Struct
	}{
		"spark-widening": {
			widened("id", Integer, "b", Byte, "i", Integer, "f", Float, "d", Decimal{5, 2}, "e", Decimal{5, 2}),
			[]*Struct{widened("b", Short), widened("b", Integer, "i", Long), widened("b", Long, "F", Double), widened("d", Decimal{10, 2}), widened("e", Decimal{12, 5}), widened("id", Long, "d", Decimal{10, 2})},
		},
		"spark-widening-date": {widened("id", Integer, "d", Date), []*Struct{widened("d", TimestampNTZ)}},
	} {
		g := golden.Load(t, name)
		theirs, err := Open(t.Context(), g.Store, golden.Path)
		if err != nil {
			t.Fatal(err)
		}
		want, err := theirs.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.first.Fields {
			c.first.Fields[i].Nullable = true
		}
		table := widenTable(t, c.first, map[string]string{PropTypeWidening: "true"})
		for _, step := range c.steps {
			if err := widenIn(t, table, step); err != nil {
				t.Fatal(err)
			}
		}
		got, err := table.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got.Metadata().SchemaString != want.Metadata().SchemaString {
			t.Errorf("%s:\n got %s\nwant %s", name, got.Metadata().SchemaString, want.Metadata().SchemaString)
		}
		if !got.Protocol().Supports(featTypeWidening) {
			t.Errorf("%s: protocol %+v", name, got.Protocol())
		}
	}
}

// TestNestedTypeChanges: the change of a field inside a struct stands at that
// field, that of an element, key or value at the field around it, with the way
// to it (Delta protocol: Type Change Metadata). What was recorded before stays,
// keys that only its writer knows too.
func TestNestedTypeChanges(t *testing.T) {
	t.Parallel()
	before := FieldMetadata{metaTypeChanges: []byte(`[{"tableVersion":3,"toType":"short","fromType":"byte"}]`)}
	form := func(inner, key, value, element Type) *Struct {
		return &Struct{Fields: []Field{
			{Name: "s", Nullable: true, Type: &Struct{Fields: []Field{{Name: "x", Type: inner, Nullable: true, Metadata: before}, {Name: "y", Type: String, Nullable: true}}}},
			{Name: "m", Nullable: true, Type: &Array{ContainsNull: true, Element: &Map{Key: key, Value: &Struct{Fields: []Field{{Name: "v", Type: value, Nullable: true}}}}}},
			{Name: "a", Nullable: true, Type: &Array{Element: &Array{Element: element, ContainsNull: true}, ContainsNull: true}},
		}}
	}
	table := widenTable(t, form(Short, Decimal{6, 2}, Date, Integer), map[string]string{PropTypeWidening: "TRUE", PropColumnMappingMode: "name"})
	if err := widenIn(t, table, form(Long, Decimal{10, 4}, TimestampNTZ, Double)); err != nil {
		t.Fatal(err)
	}
	s, err := table.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	walkFields(s.Schema(), nil, func(path []string, f *Field) bool {
		if raw, ok := f.Metadata[metaTypeChanges]; ok {
			got[strings.Join(path, ".")] = string(compact(raw))
		}
		if _, ok := f.ColumnID(); !ok {
			t.Errorf("%v lost its column id", path)
		}
		return true
	})
	want := map[string]string{
		"s.x":               `[{"tableVersion":3,"toType":"short","fromType":"byte"},{"toType":"long","fromType":"short"}]`,
		"m":                 `[{"toType":"decimal(10,4)","fromType":"decimal(6,2)","fieldPath":"element.key"}]`,
		"m.element.value.v": `[{"toType":"timestamp_ntz","fromType":"date"}]`,
		"a":                 `[{"toType":"double","fromType":"integer","fieldPath":"element.element"}]`,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
	if !s.Protocol().Supports(featNTZ) {
		t.Error("timestamp_ntz came in without its feature")
	}
}

// TestRefusedTypeChanges: what does not widen, and tables that do not allow it.
func TestRefusedTypeChanges(t *testing.T) {
	t.Parallel()
	allow := map[string]string{PropTypeWidening: "true"}
	schema := &Struct{Fields: []Field{{Name: "i", Type: Integer, Nullable: true}, {Name: "d", Type: Decimal{6, 2}, Nullable: true}}}
	for name, c := range map[string]struct {
		properties map[string]string
		to         *Struct
		want       string
	}{
		"not allowed":      {nil, widened("i", Long), PropTypeWidening},
		"switched off":     {map[string]string{PropTypeWidening: "false"}, widened("i", Long), PropTypeWidening},
		"narrower":         {allow, widened("i", Short), "does not widen"},
		"another kind":     {allow, widened("i", String), "does not widen"},
		"too few digits":   {allow, widened("i", Decimal{9, 0}), "does not widen"},
		"no such column":   {allow, widened("x", Long), `no column "x"`},
		"one of two wrong": {allow, widened("i", Long, "d", Decimal{6, 3}), "does not widen"},
	} {
		err := widenIn(t, widenTable(t, schema, c.properties), c.to)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// With Iceberg's compatibility in the protocol, though switched off.
	iceberg := &Protocol{MinReaderVersion: 3, MinWriterVersion: 7, ReaderFeatures: []string{featTypeWidening, featMapping, featNTZ},
		WriterFeatures: []string{featTypeWidening, featIcebergV2, featMapping, featNTZ}}
	preview := &Protocol{MinReaderVersion: 3, MinWriterVersion: 7, ReaderFeatures: []string{featTypeWideningPre}, WriterFeatures: []string{featTypeWideningPre}}
	wide := widened("b", Byte, "d", Decimal{6, 2}, "f", Float, "t", Date)
	for _, c := range []struct {
		protocol *Protocol
		to       *Struct
		want     string
	}{
		{iceberg, widened("b", Long), ""},
		{iceberg, widened("f", Double), ""},
		{iceberg, widened("d", Decimal{8, 2}), ""},
		{iceberg, widened("b", Double), "byte to double"},
		{iceberg, widened("b", Decimal{10, 0}), "byte to decimal(10,0)"},
		{iceberg, widened("d", Decimal{9, 3}), "decimal(6,2) to decimal(9,3)"},
		{iceberg, widened("t", TimestampNTZ), "date to timestamp_ntz"},
		{preview, widened("b", Long), featTypeWideningPre},
	} {
		tx := &Transaction{snapshot: &Snapshot{state{protocol: c.protocol, metadata: &Metadata{Configuration: allow}, schema: wide.Clone(), mapping: MappingNone}}}
		err := tx.WidenColumns(c.to)
		var unsupported *UnsupportedError
		if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &unsupported) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %v", c.to, err)
		}
	}
}

// TestUnknownTypeChange: a reader that does not know a change of types must
// refuse the table (Delta protocol: Reader Requirements for Type Widening).
func TestUnknownTypeChange(t *testing.T) {
	t.Parallel()
	for changes, want := range map[string]string{
		`[{"fromType":"byte","toType":"long"}]`:                         "",
		`[{"fromType":"decimal(6, 2)","toType":"decimal(8,2)"}]`:        "",
		`[{"fromType":"string","toType":"long"}]`:                       `from "string" to "long"`,
		`[{"fromType":"long","toType":"double","fieldPath":"element"}]`: `from "long" to "double"`,
		`[{"fromType":"byte","toType":"interval"}]`:                     `"interval"`,
		`"byte"`: metaTypeChanges,
	} {
		schema := &Struct{Fields: []Field{{Name: "c", Type: Long, Nullable: true, Metadata: FieldMetadata{metaTypeChanges: []byte(changes)}}}}
		table, err := Create(t.Context(), store.NewMemory(nil), "t", CreateSpec{Schema: schema, Properties: map[string]string{PropTypeWidening: "true"}}, testOptions()...)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, %v", changes, table, err)
		}
	}
}
