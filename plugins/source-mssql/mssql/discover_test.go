package mssql

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/lsn"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

// at is an LSN for tests.
func at(n int) lsn.LSN {
	l, err := lsn.FromBytes([]byte{0, 0, 0, 0, 0, 0, 0, 0, byte(n >> 8), byte(n)})
	if err != nil {
		panic(err)
	}
	return l
}

func listed(table, name string, day, start int) instance {
	schema, object, _ := strings.Cut(table, ".")
	return instance{name: name, table: tsql.Table{Schema: schema, Name: object}, start: at(start), hasStart: start > 0,
		created: time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC), keys: []string{"id"}}
}

func TestResolvingATable(t *testing.T) {
	t.Parallel()
	two := []instance{listed("dbo.orders", "dbo_orders", 1, 10), listed("dbo.orders", "dbo_orders_v2", 2, 20)}
	for name, tc := range map[string]struct {
		list       []instance
		object     string
		instance   string
		known      []string
		want       string // instances, or part of the error
		configured string
		gone       string
		fails      bool
	}{
		"an instance, ignoring case":                     {list: two, instance: "DBO_ORDERS", want: "dbo_orders dbo_orders_v2", configured: "dbo_orders"},
		"the exact name wins":                            {list: []instance{listed("dbo.a", "dbo_Orders", 1, 1), listed("dbo.b", "dbo_orders", 1, 1)}, instance: "dbo_orders", want: "dbo_orders", configured: "dbo_orders"},
		"two names that differ by case":                  {list: []instance{listed("dbo.a", "dbo_Orders", 1, 1), listed("dbo.b", "dbo_orders", 1, 1)}, instance: "DBO_ORDERS", want: "dbo_Orders or dbo_orders", fails: true},
		"the default instance was disabled":              {list: two[1:], instance: "dbo_orders", want: "dbo_orders_v2", gone: "dbo_orders"},
		"a custom instance was disabled":                 {list: two[1:], instance: "orders_old", want: "No capture instance \"orders_old\"", fails: true},
		"a custom instance was disabled, a hint":         {list: []instance{listed("dbo.orders", "orders_old_2", 2, 20)}, instance: "orders_old", want: "orders_old_2 (of dbo.orders)", fails: true},
		"a custom instance was disabled, the newer seen": {list: two[1:], instance: "orders_old", known: []string{"orders_old", "dbo_orders_v2"}, want: "dbo_orders_v2", gone: "orders_old"},
		"an object":                            {list: two, object: "dbo.orders", want: "dbo_orders dbo_orders_v2"},
		"an object, ignoring case":             {list: two, object: "DBO.Orders", want: "dbo_orders dbo_orders_v2"},
		"an object without instance":           {list: two, object: "dbo.customers", want: "No capture instance of dbo.customers", fails: true},
		"a misspelt object":                    {list: two, object: "dbo.order", want: "Did you mean dbo.orders?", fails: true},
		"objects that differ by case":          {list: []instance{listed("dbo.a", "x", 1, 1), listed("dbo.A", "y", 1, 1)}, object: "Dbo.a", want: "dbo.a or dbo.A", fails: true},
		"a renamed object":                     {list: []instance{listed("dbo.orders_new", "dbo_orders", 1, 10)}, object: "dbo.orders", known: []string{"dbo_orders"}, want: "dbo_orders"},
		"an object whose old instance is gone": {list: two[1:], object: "dbo.orders", known: []string{"dbo_orders"}, want: "dbo_orders_v2", gone: "dbo_orders"},
		"nothing is listed":                    {object: "dbo.orders", want: "only what it may read is listed", fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := tableConfig{instance: tc.instance}
			if tc.object != "" {
				var err error
				if cfg.object, err = parseObjectName(tc.object); err != nil {
					t.Fatal(err)
				}
			}
			r, err := resolve(tc.list, cfg, tc.known)
			if tc.fails {
				if err == nil || !strings.Contains(err.Error(), tc.want) || diag.FromError(err)[0].Path.String() != cfg.path() {
					t.Fatalf("error %v, want %q", err, tc.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			configured := ""
			if r.configured != nil {
				configured = r.configured.name
			}
			if got := strings.Join(names(r.instances), " "); got != tc.want || configured != tc.configured || strings.Join(r.gone, " ") != tc.gone {
				t.Fatalf("instances %q, configured %q, gone %q", got, configured, r.gone)
			}
		})
	}
}

func TestTheDayOfCreationOrdersInstancesWithOneStart(t *testing.T) {
	t.Parallel()
	list := []instance{listed("dbo.o", "new", 5, 30), listed("dbo.o", "old", 2, 30), listed("dbo.o", "older", 2, 20)}
	sortInstances(list)
	if got := strings.Join(names(list), " "); got != "older old new" {
		t.Fatal(got)
	}
}

func TestColumnsOfAnIndexAreParsed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"": nil, "[id]": {"id"}, "[a], [b]": {"a", "b"}, "[a]]b], [c, d]": {"a]b", "c, d"}, "  [x] ": {"x"}, "[": {""},
	} {
		if got := parseIndexColumns(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func holds(name string, day, start int, columns ...column) captured {
	return captured{instance: listed("dbo.orders", name, day, start), columns: columns}
}

func col(name, typ string) column {
	s := sqlType{name: typ}
	switch typ {
	case "decimal":
		s.precision, s.scale = 9, 2
	case "varchar":
		s.length = 10
	}
	return column{name: name, sql: s}
}

func TestTheUnionOfInstances(t *testing.T) {
	t.Parallel()
	computed := col("total", "int")
	computed.computed = true
	wide := col("amount", "decimal")
	wide.sql.precision, wide.sql.scale = 18, 4
	for name, tc := range map[string]struct {
		instances []captured
		rules     []plugin.ColumnRule
		want      string // "name type" of the columns, or part of the problem
		code      string
		warns     bool
	}{
		"one":                             {instances: []captured{holds("a", 1, 1, col("id", "int"), col("note", "varchar"))}, want: "id int, note string"},
		"the first spelling stays":        {instances: []captured{holds("a", 1, 1, col("Id", "int")), holds("b", 2, 2, col("ID", "int"), col("new", "bit"))}, want: "Id int, new boolean"},
		"the newer type holds more":       {instances: []captured{holds("a", 1, 1, col("amount", "decimal")), holds("b", 2, 2, wide)}, want: "amount decimal(18,4)"},
		"the newer type is narrower":      {instances: []captured{holds("a", 1, 1, wide), holds("b", 2, 2, col("amount", "decimal"))}, want: "amount decimal(18,4)"},
		"the newer type is another one":   {instances: []captured{holds("a", 1, 1, wide), holds("b", 2, 2, col("amount", "date"))}, want: "The column amount is decimal(18,4) in a and date in b", code: codeSchemaChanged},
		"read as one type":                {instances: []captured{holds("a", 1, 1, wide), holds("b", 2, 2, col("amount", "date"))}, rules: []plugin.ColumnRule{{Name: "amount", As: "string"}}, want: "amount string"},
		"computed columns are left out":   {instances: []captured{holds("a", 1, 1, col("id", "int"), computed)}, want: "id int", warns: true},
		"a type that cannot be read":      {instances: []captured{holds("a", 1, 1, col("id", "int"), col("place", "geography"))}, want: "a.place has the type geography", code: codeColumnType},
		"dropping it helps":               {instances: []captured{holds("a", 1, 1, col("id", "int"), col("place", "geography"))}, rules: []plugin.ColumnRule{{Name: "place", Drop: true}}, want: "id int"},
		"a reserved name":                 {instances: []captured{holds("a", 1, 1, col("_SEQVAL", "int"))}, want: "has a name that the change log uses itself", code: codeReservedName},
		"another reserved name":           {instances: []captured{holds("a", 1, 1, col("_chunk", "int"))}, want: "has a name that the change log uses itself", code: codeReservedName},
		"a line end in a name":            {instances: []captured{holds("a", 1, 1, col("id", "int"), col("x\ny", "int"))}, want: `cannot be named in a statement: invalid name "x\ny": it holds the control or format character U+000A`, code: codeColumnName},
		"dropping that helps, too":        {instances: []captured{holds("a", 1, 1, col("id", "int"), col("x\ny", "int"))}, rules: []plugin.ColumnRule{{Name: "x\ny", Drop: true}}, want: "id int"},
		"a rule ignoring case":            {instances: []captured{holds("a", 1, 1, col("id", "int"), col("Note", "varchar"))}, rules: []plugin.ColumnRule{{Name: "note", Drop: true}}, want: "id int"},
		"a rule for a column that is not": {instances: []captured{holds("a", 1, 1, col("id", "int"), col("email", "varchar"))}, rules: []plugin.ColumnRule{{Name: "emial", Drop: true}}, want: `No column "emial" is captured by a`, code: codeColumnRule},
		"a cast that cannot be":           {instances: []captured{holds("a", 1, 1, col("data", "varbinary"))}, rules: []plugin.ColumnRule{{Name: "data", As: "string"}}, want: "cannot be read as string", code: codeColumnRule},
		"an alias type":                   {instances: []captured{holds("a", 1, 1, col("owner", "sysname"), col("small", "tinyint"))}, want: "owner string, small smallint"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, list := parseTable(plugin.SourceTable{Columns: tc.rules, Object: object(objectSchema().EmptyValue(), nil)})
			_ = list // names no object; that is not the matter here
			s, problems := inferShape(tc.instances, cfg)
			if tc.code != "" {
				errs := problems.Errors()
				if len(errs) == 0 || errs[0].Code != tc.code || !strings.Contains(errs[0].Summary, tc.want) || errs[0].Detail == "" {
					t.Fatalf("got %+v", problems)
				}
				return
			}
			if problems.HasErrors() {
				t.Fatal(problems.Err())
			}
			var got []string
			for _, c := range s.columns {
				got = append(got, c.name+" "+c.typ.String())
			}
			if strings.Join(got, ", ") != tc.want || len(problems.Warnings()) > 0 != tc.warns {
				t.Fatalf("%q, warnings %v", got, problems.Warnings())
			}
		})
	}
}

// The advice about a column that is two types names only what both can be read as.
func TestAColumnOfTwoTypesNamesWhatReadsBoth(t *testing.T) {
	t.Parallel()
	const exclude = "eave it out with exclude = [\"m\"]. Where no stream needs what a has from before 0x"
	const rows = "Tables with rows of another type cannot take that: `pipectl plan` tells. "
	for _, tc := range []struct{ older, newer, want string }{
		{"varchar", "int", "Read it as one type with columns = { \"m\" = { as = \"string\" } }. " + rows + "Or l" + exclude},
		{"int", "varchar", "Read it as one type with columns = { \"m\" = { as = \"string\" } }, or as \"int\" where all values are. " + rows + "Or l" + exclude},
		{"varbinary", "int", "L" + exclude},
	} {
		cfg, _ := parseTable(plugin.SourceTable{Object: object(objectSchema().EmptyValue(), nil)})
		_, problems := inferShape([]captured{holds("a", 1, 1, col("m", tc.older)), holds("b", 2, 2, col("m", tc.newer))}, cfg)
		if problems = problems.Errors(); len(problems) != 1 || problems[0].Code != codeSchemaChanged || !strings.HasPrefix(problems[0].Detail, tc.want) {
			t.Errorf("%s, %s: %+v", tc.older, tc.newer, problems)
		}
	}
}

// What cannot be cast says what can.
func TestACastThatCannotBeNamesThoseThatCan(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ typ, as, want string }{
		{"int", "date", `as can be "string", "smallint", "int", "bigint", "double", "decimal(p,s)" here; without as it is read as int.`},
		{"decimal", "boolean", `as can be "string", "smallint", "int", "bigint", "decimal(p,s)" here; without as it is read as decimal(9,2).`},
		{"bit", "int", `as can be "string", "boolean" here; without as it is read as boolean.`},
		{"real", "int", `as can be "string", "float", "double" here; without as it is read as float.`},
		{"datetime", "date", `as can be "string", "timestamp_ntz" here; without as it is read as timestamp_ntz.`},
		{"date", "int", `as can be "string", "date", "timestamp_ntz" here; without as it is read as date.`},
		{"datetimeoffset", "timestamp_ntz", `as can be "string", "timestamp" here; without as it is read as timestamp.`},
		{"varbinary", "string", "It can be read as binary only, which it is without as. Remove as."},
		{"varchar", "binary", `as can be "string", "boolean", "smallint", "int", "bigint", "float", "double", "decimal(p,s)", "date", "timestamp_ntz", "timestamp" here; without as it is read as string.`},
	} {
		cfg, _ := parseTable(plugin.SourceTable{Columns: []plugin.ColumnRule{{Name: "c", As: tc.as}}, Object: object(objectSchema().EmptyValue(), nil)})
		_, problems := inferShape([]captured{holds("a", 1, 1, col("c", tc.typ))}, cfg)
		if len(problems) != 1 || problems[0].Code != codeColumnRule || problems[0].Detail != tc.want {
			t.Errorf("%s as %s: %+v", tc.typ, tc.as, problems)
		}
	}
	_, list := parseTable(plugin.SourceTable{Columns: []plugin.ColumnRule{{Name: "c", As: "datetime"}}, Object: object(objectSchema().EmptyValue(), nil)})
	last := list[len(list)-1]
	if last.Code != codeColumnRule || last.Summary != `Column c: "datetime" is no type` || !strings.Contains(last.Detail, "timestamp_ntz") {
		t.Errorf("%+v", last)
	}
	for _, typ := range outTypes {
		if typ.kind == kindDecimal {
			continue
		}
		if again, err := parseOutType(typ.word()); err != nil || again != typ {
			t.Errorf("%s is read as %s, %v", typ.word(), again, err)
		}
	}
}

func TestMetadataColumnsStandInTheirOrder(t *testing.T) {
	t.Parallel()
	s := shape{commandID: true, columns: []outColumn{{name: "id", typ: outType{kind: kindInt32}}, {name: "note", typ: outType{kind: kindString}}}}
	fields := func(s shape, columns []string) string {
		var out []string
		for _, f := range s.arrow(columns).Fields() {
			if !f.Nullable {
				t.Errorf("%s is not nullable", f.Name)
			}
			out = append(out, f.Name+" "+f.Type.String())
		}
		return strings.Join(out, ", ")
	}
	const meta = "_capture_instance utf8, _start_lsn utf8, _seqval utf8, _operation int32, _command_id int32, _commit_ts timestamp[us], "
	if got := fields(s, nil); got != meta+"id int32, note utf8" {
		t.Error(got)
	}
	if got := fields(s, []string{"note"}); got != meta+"note utf8" {
		t.Error(got)
	}
	s.commandID = false
	if got := fields(s, []string{}); got != strings.Replace(meta, "_command_id int32, ", "", 1)[:len(meta)-len("_command_id int32, ")-2] {
		t.Error(got)
	}
}

func TestAPresentColumnIsTheSameColumn(t *testing.T) {
	t.Parallel()
	withID := func(name string, id int64) column { c := col(name, "int"); c.id = id; return c }
	older := holds("a", 1, 1, withID("id", 1), withID("gone", 2), withID("again", 3))
	newer := holds("b", 2, 2, withID("id", 1), withID("again", 7), withID("total", 4))
	live := []liveColumn{{name: "id", id: 1}, {name: "again", id: 7}, {name: "total", id: 4, computed: true}, {name: "gone", id: 9}}
	for name, want := range map[string]bool{"id": true, "again": true, "gone": false, "total": false, "never": false, "ID": true} {
		if _, got := present([]captured{older, newer}, live, name); got != want {
			t.Errorf("%s is present: %v", name, got)
		}
	}
	if _, got := present([]captured{older}, live, "again"); got {
		t.Error("a column dropped and added again counts as the captured one")
	}
}

// What a message says to write is read back as the name, by the rules of HCL.
func TestANameIsWrittenAsTheConfigurationReadsIt(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"amount": `"amount"`, "x\ny": `"x\ny"`, "a\tb\r": `"a\tb\r"`, `a"b\c`: `"a\"b\\c"`, "${x}": `"$${x}"`, "%{x": `"%%{x"`, "$x%": `"$x%"`,
		"\x01": `"\u0001"`, "a\u200bb": `"a\u200bb"`, "\U000e0001": `"\U000e0001"`, "naïve": `"naïve"`,
	} {
		if got := inHCL(name); got != want {
			t.Errorf("%q is written %s, not %s", name, got, want)
		}
	}
}

// Only a name that is near, and nearer than every other, may be the one meant.
func TestTheNearestName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		have []string
		want string
	}{
		{"amuont", []string{"id", "amount"}, "amount"},
		{"AMOUNTS", []string{"id", "amount"}, "amount"},
		{"flog", []string{"flag"}, "flag"},
		{"ids", []string{"id"}, "id"},
		{"di", []string{"id"}, "id"}, // letters in another order
		{"zz", []string{"id", "v"}, ""},
		{"v", []string{"n"}, ""}, // never all letters
		{"cat", []string{"car", "can"}, ""},
		{"note", []string{"amount"}, ""},
	} {
		if got := nearest(c.name, c.have); got != c.want {
			t.Errorf("%s in %v: %q, not %q", c.name, c.have, got, c.want)
		}
	}
	for _, c := range []struct {
		schema, name string
		have         []string
		want         string
	}{
		{"dbo", "order", []string{"dbo.orders", "dbo.lines"}, "dbo.orders"},
		{"dob", "orders", []string{"dbo.orders", "dbo.lines"}, "dbo.orders"},
		{"dbo", "c", []string{"dbo.a", "dbo.b", "dbo.c2"}, ""}, // the schema makes no name alike
	} {
		var tables []tsql.Table
		for _, h := range c.have {
			schema, name, _ := strings.Cut(h, ".")
			tables = append(tables, tsql.Table{Schema: schema, Name: name})
		}
		if got := nearestTable(tsql.Table{Schema: c.schema, Name: c.name}, tables); got != c.want {
			t.Errorf("%s.%s in %v: %q, not %q", c.schema, c.name, c.have, got, c.want)
		}
	}
}
