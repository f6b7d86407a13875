package deltalog

import (
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
)

const everyType = `{"type":"struct","fields":[` +
	`{"name":"b","type":"byte","nullable":true,"metadata":{}},` +
	`{"name":"s","type":"short","nullable":true,"metadata":{}},` +
	`{"name":"i","type":"integer","nullable":false,"metadata":{"comment":"a <number> & more"}},` +
	`{"name":"l","type":"long","nullable":true,"metadata":{"delta.columnMapping.id":7,"x":[1,{"y":null}]}},` +
	`{"name":"f","type":"float","nullable":true,"metadata":{}},` +
	`{"name":"d","type":"double","nullable":true,"metadata":{}},` +
	`{"name":"dec","type":"decimal(38,18)","nullable":true,"metadata":{}},` +
	`{"name":"str","type":"string","nullable":true,"metadata":{}},` +
	`{"name":"bin","type":"binary","nullable":true,"metadata":{}},` +
	`{"name":"bool","type":"boolean","nullable":true,"metadata":{}},` +
	`{"name":"day","type":"date","nullable":true,"metadata":{}},` +
	`{"name":"ts","type":"timestamp","nullable":true,"metadata":{}},` +
	`{"name":"ntz","type":"timestamp_ntz","nullable":true,"metadata":{}},` +
	`{"name":"st","type":{"type":"struct","fields":[{"name":"x","type":"long","nullable":true,"metadata":{}}]},"nullable":true,"metadata":{}},` +
	`{"name":"arr","type":{"type":"array","elementType":{"type":"array","elementType":"long","containsNull":false},"containsNull":true},"nullable":true,"metadata":{}},` +
	`{"name":"map","type":{"type":"map","keyType":"string","valueType":"long","valueContainsNull":true},"nullable":true,"metadata":{}}]}`

func TestSchemaTextIsKept(t *testing.T) {
	t.Parallel()
	s, err := ParseSchema(everyType)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := FormatSchema(s); err != nil || got != everyType {
		t.Errorf("%v\n%s\nwant\n%s", err, got, everyType)
	}
	if c := s.Fields[2].Comment(); c != "a <number> & more" {
		t.Errorf("comment %q", c)
	}
	if id, ok := s.Fields[3].ColumnID(); !ok || id != 7 {
		t.Errorf("id %d, %v", id, ok)
	}
}

func TestSchemaGoesThroughArrow(t *testing.T) {
	t.Parallel()
	s, err := ParseSchema(everyType)
	if err != nil {
		t.Fatal(err)
	}
	a, err := ToArrow(s, ArrowOptions{FieldIDs: true})
	if err != nil {
		t.Fatal(err)
	}
	if id, ok := a.Field(3).Metadata.GetValue(parquetFieldID); !ok || id != "7" {
		t.Errorf("field id %q", id)
	}
	back, err := FromArrow(a)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Fields {
		if !EqualData(s.Fields[i].Type, back.Fields[i].Type) || s.Fields[i].Comment() != back.Fields[i].Comment() || s.Fields[i].Nullable != back.Fields[i].Nullable {
			t.Errorf("%v became %v", s.Fields[i], back.Fields[i])
		}
	}
	if _, err := FromArrow(arrow.NewSchema([]arrow.Field{{Name: "u", Type: arrow.PrimitiveTypes.Uint64}}, nil)); err == nil || !strings.Contains(err.Error(), `"u"`) {
		t.Errorf("uint64 gives %v", err)
	}
}

func TestBadSchemasAreRefusedByColumn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		``:       "no type",
		`"long"`: "not a struct",
		`{"type":"struct","fields":[{"type":"long"}]}`:                                              "no name",
		`{"type":"struct","fields":[{"name":"a"}]}`:                                                 `"a"`,
		`{"type":"struct","fields":[{"name":"a","type":"interval"}]}`:                               `unknown type "interval"`,
		`{"type":"struct","fields":[{"name":"a","type":"decimal(39,2)"}]}`:                          "decimal(39,2)",
		`{"type":"struct","fields":[{"name":"a","type":{"type":"array","elementType":"foo"}}]}`:     "a.element",
		`{"type":"struct","fields":[{"name":"a","type":{"type":"udt"}}]}`:                           `"udt"`,
		strings.Repeat(`{"type":"array","elementType":`, 200) + `"long"` + strings.Repeat(`}`, 200): "nested",
	} {
		if _, err := ParseSchema(text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "schema cannot be parsed") {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
}

func TestProtocolOfNewTables(t *testing.T) {
	t.Parallel()
	ntz := Field{Name: "at", Type: TimestampNTZ, Nullable: true}
	cases := []struct {
		name  string
		spec  CreateSpec
		want  string
		names []string
	}{
		{"plain", CreateSpec{}, "1 2 [] []", nil},
		{"timestamp_ntz", CreateSpec{Schema: &Struct{Fields: []Field{ntz}}}, "3 7 [timestampNtz] [appendOnly invariants timestampNtz]", nil},
		{"nested timestamp_ntz", CreateSpec{Schema: &Struct{Fields: []Field{{Name: "a", Type: &Array{Element: TimestampNTZ}, Nullable: true}}}},
			"3 7 [timestampNtz] [appendOnly invariants timestampNtz]", nil},
		{"deletion vectors", CreateSpec{Properties: map[string]string{PropDeletionVectors: "true"}}, "3 7 [deletionVectors] [appendOnly deletionVectors invariants]", nil},
		{"times in commits", CreateSpec{Properties: map[string]string{PropInCommitTimestamps: "true"}}, "1 7 [] [appendOnly inCommitTimestamp invariants]", nil},
		{"column mapping", CreateSpec{Schema: &Struct{Fields: []Field{{Name: "a b", Type: Long, Nullable: true}, {Name: "s", Nullable: true, Type: &Struct{Fields: []Field{{Name: "x=y", Type: Long}}}}}},
			Properties: map[string]string{PropColumnMappingMode: "name"}}, "3 7 [columnMapping] [appendOnly columnMapping invariants]", []string{"a b", "s"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			table := mustCreate(t, mustLocal(t), c.spec)
			s := mustSnapshot(t, table)
			p := s.Protocol()
			if got := strings.Join([]string{itoa(p.MinReaderVersion), itoa(p.MinWriterVersion), list(p.ReaderFeatures), list(p.WriterFeatures)}, " "); got != c.want {
				t.Errorf("protocol %s, want %s", got, c.want)
			}
			if err := s.CheckWrite(); err != nil {
				t.Error(err)
			}
			for _, name := range c.names {
				f, _ := s.Schema().Field(name)
				if _, ok := f.ColumnID(); !ok || !strings.HasPrefix(f.PhysicalName(), "col-") {
					t.Errorf("column %q is not mapped: %v", name, f)
				}
			}
		})
	}
}

func itoa(n int) string { return string(rune('0' + n)) }

func list(names []string) string { return "[" + strings.Join(names, " ") + "]" }

func TestBadTablesAreRefused(t *testing.T) {
	t.Parallel()
	col := func(names ...string) *Struct {
		s := &Struct{}
		for _, n := range names {
			s.Fields = append(s.Fields, Field{Name: n, Type: Long, Nullable: true})
		}
		return s
	}
	for name, c := range map[string]struct {
		spec CreateSpec
		want error
		text string
	}{
		"no columns":                {CreateSpec{}, ErrInvalidCommit, "no columns"},
		"a name that needs mapping": {CreateSpec{Schema: col("a b")}, ErrInvalidCommit, "column mapping"},
		"names that differ in case": {CreateSpec{Schema: col("a", "A")}, ErrInvalidCommit, "case"},
		"an empty name":             {CreateSpec{Schema: col("")}, ErrInvalidCommit, "without a name"},
		"no such partition column":  {CreateSpec{Schema: col("a"), PartitionColumns: []string{"b"}}, ErrInvalidCommit, `"b"`},
		"a property we cannot keep": {CreateSpec{Schema: col("a"), Properties: map[string]string{PropRowTracking: "true"}}, ErrUnsupported, "rowTracking"},
		"a constraint":              {CreateSpec{Schema: col("a"), Properties: map[string]string{"delta.constraints.c": "a > 0"}}, ErrUnsupported, "checkConstraints"},
		"mapping by id":             {CreateSpec{Schema: col("a"), Properties: map[string]string{PropColumnMappingMode: "id"}}, ErrUnsupported, "columnMapping"},
		"a mapping mode of no kind": {CreateSpec{Schema: col("a"), Properties: map[string]string{PropColumnMappingMode: "x"}}, ErrCorrupt, "mode"},
		"variant":                   {CreateSpec{Schema: &Struct{Fields: []Field{{Name: "v", Type: Variant}}}}, ErrUnsupported, "variantType"},
	} {
		_, err := Create(t.Context(), mustLocal(t), "t", c.spec, testOptions()...)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMetadataOnlyCommits(t *testing.T) {
	t.Parallel()
	table := mustCreate(t, mustLocal(t), CreateSpec{Properties: map[string]string{PropColumnMappingMode: "name"}})
	before := mustSnapshot(t, table)
	tx := table.Begin(before)
	must(tx.AddColumns(Field{Name: "new one", Type: TimestampNTZ, Nullable: true}.WithComment("c")))
	must(tx.SetComment("ID", "the key"))
	must(tx.SetDescription("orders of a shop"))
	must(tx.SetProperties(map[string]string{"own.key": "v"}))
	if err := tx.AddColumns(Field{Name: "NEW ONE", Type: Long, Nullable: true}); !errors.Is(err, ErrInvalidCommit) {
		t.Errorf("a column twice: %v", err)
	}
	if err := tx.AddColumns(Field{Name: "x", Type: Long}); !errors.Is(err, ErrInvalidCommit) {
		t.Errorf("a column that is not nullable: %v", err)
	}
	mustCommit(t, tx)
	s := mustSnapshot(t, table)
	f, at := s.Schema().Field("new one")
	id, _ := f.ColumnID()
	if at != 3 || f.Comment() != "c" || id != 4 || s.Properties()[propMaxColumnID] != "4" {
		t.Errorf("column %v at %d", f, at)
	}
	key, _ := s.Schema().Field("id")
	if key.Comment() != "the key" || s.Metadata().Description != "orders of a shop" || s.Properties()["own.key"] != "v" {
		t.Error(describe(s))
	}
	old, _ := before.Schema().Field("id")
	if old.PhysicalName() != key.PhysicalName() || old.Comment() != "" {
		t.Errorf("%v became %v", old, key)
	}
	if s.Metadata().ID != before.Metadata().ID || !s.Protocol().Supports("timestampNtz") || !s.Protocol().Supports("columnMapping") {
		t.Error(describe(s))
	}
}

func TestInCommitTimestampsOnlyGrow(t *testing.T) {
	t.Parallel()
	table := mustCreate(t, mustLocal(t), CreateSpec{})
	tx := table.Begin(mustSnapshot(t, table))
	must(tx.SetProperties(map[string]string{PropInCommitTimestamps: "true"}))
	v := mustCommit(t, tx)
	s := mustSnapshot(t, table)
	if s.Properties()[propICTEnablementVersion] != itoa(int(v)) || s.Properties()[propICTEnablementTime] == "" {
		t.Errorf("properties %v", s.Properties())
	}
	last := s.Timestamp()
	for i := range 3 {
		tx := table.Begin(s)
		tx.AddFile(testFile(itoa(i), 1, 2)) // the second and third lose a race first
		mustCommit(t, tx)
		now := mustSnapshot(t, table).Timestamp()
		if !now.After(last) {
			t.Errorf("%v is not after %v", now, last)
		}
		last = now
	}
}
