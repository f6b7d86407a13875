package reconcile_test

import (
	"context"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/reconcile/reconcile"
)

func TestDescribeHasAUsableSchema(t *testing.T) {
	t.Parallel()
	d, err := reconcile.New("1.2.3").Describe(context.Background())
	if err != nil || len(d.Components) != 1 || d.Version != "1.2.3" {
		t.Fatalf("%+v, error %v", d, err)
	}
	c := d.Components[0]
	if c.Role != plugin.RoleCheck || c.Type != "reconcile" {
		t.Errorf("component %+v", c)
	}
	if err := c.Object.Check([]string{"for_each", "silver", "on_failure", "settle", "tags", "key", "coverage", "budget"}); err != nil {
		t.Error(err)
	}
	for _, a := range c.Object.Attributes {
		if a.Description == "" {
			t.Errorf("%s is not described", a.Name)
		}
	}
}

func TestValidateConfigSaysWhatTheSchemaCannot(t *testing.T) {
	t.Parallel()
	object := plugin.ComponentID{Role: plugin.RoleCheck, Type: "reconcile"}
	for name, c := range map[string]struct {
		body cty.Value
		path string
	}{
		"defaults":           {settings{}.body(), ""},
		"nothing":            {cty.EmptyObjectVal, ""},
		"all":                {settings{"bucket_rows": 1, "sample": 1, "sample_seed": -3, "report": "ops.reconcile"}.body(), ""},
		"not known yet":      {cty.ObjectVal(map[string]cty.Value{"bucket_rows": cty.UnknownVal(cty.Number)}), ""},
		"no rows":            {settings{"bucket_rows": 0}.body(), "bucket_rows"},
		"half a row":         {settings{"bucket_rows": 1.5}.body(), "bucket_rows"},
		"percent":            {settings{"sample": 5}.body(), "sample"},
		"less than nothing":  {settings{"sample": -0.1}.body(), "sample"},
		"a seed of parts":    {settings{"sample_seed": 0.5}.body(), "sample_seed"},
		"a report by path":   {settings{"report": "lake/report"}.body(), "report"},
		"a report by URL":    {settings{"report": "s3:report"}.body(), "report"},
		"an empty name":      {settings{"report": ""}.body(), "report"},
		"an empty word":      {settings{"report": "ops..x"}.body(), "report"},
		"blanks at the ends": {settings{"report": "ops. x"}.body(), "report"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list, err := reconcile.New("test").ValidateConfig(context.Background(), object, plugin.BodyObject, c.body)
			if err != nil {
				t.Fatal(err)
			}
			if c.path == "" {
				if len(list) > 0 {
					t.Errorf("%v", list)
				}
				return
			}
			if len(list) != 1 || list[0].Path.String() != c.path || list[0].Detail == "" {
				t.Errorf("%v, want one at %s", list, c.path)
			}
		})
	}
}

func TestOtherComponentsAreRefused(t *testing.T) {
	t.Parallel()
	p, ctx := reconcile.New("test"), context.Background()
	req := plugin.OpenRequest{Component: "other"}
	_, check := p.OpenCheck(ctx, req)
	_, source := p.OpenSource(ctx, req)
	_, tables := p.OpenTables(ctx, req)
	_, silver := p.OpenSilver(ctx, req)
	for _, err := range []error{check, source, tables, silver} {
		if diag.KindOf(err) != diag.KindUnsupported {
			t.Errorf("error %v", err)
		}
	}
}

func TestThePlanSaysHowMuchIsComparedWithoutScanning(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rows int
		key  []string
		set  settings
		want string
	}{
		"defaults":      {25, nil, settings{}, "1 bucket, 1 % compared row by row"},
		"buckets":       {25, nil, settings{"bucket_rows": 10, "sample": 0.005}, "3 buckets, 0.5 % compared row by row"},
		"counts":        {25, nil, settings{"bucket_rows": 10, "sample": 0}, "3 buckets, counts only"},
		"empty":         {0, nil, settings{}, "0 buckets, 1 % compared row by row"},
		"another key":   {25, []string{"note"}, settings{"bucket_rows": 10, "sample": 1}, "one count of all rows, 100 % compared row by row in 3 ranges"},
		"composite key": {25, []string{"id", "note"}, settings{}, "one count of all rows, 1 % compared row by row in 1 range"},
	} {
		for _, built := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := orders()
				if c.key != nil {
					w.key = c.key
				}
				w.insert(many(1, c.rows)...)
				if built {
					w.apply(t)
				}
				plan, calls := w.plan(t, c.set)
				if plan.Summary != c.want || len(plan.Tables) != 0 {
					t.Errorf("%q with tables %v, want %q", plan.Summary, plan.Tables, c.want)
				}
				if strings.Contains(calls, "Scan") || strings.Contains(calls, "Aggregate") || strings.Contains(calls, "Read") {
					t.Errorf("calls: %s", calls)
				}
			})
		}
	}
}

func TestTheReportTableIsPlanned(t *testing.T) {
	t.Parallel()
	w := orders()
	plan, _ := w.plan(t, settings{"report": reportName})
	if len(plan.Tables) != 1 {
		t.Fatalf("%v", plan.Tables)
	}
	spec := plan.Tables[0]
	want := "run_id utf8, run_at timestamp[us], silver utf8, silver_version int64, silver_lsn utf8, source_lsn utf8, bucket_lo utf8, bucket_hi utf8, " +
		"source_rows int64, source_key_sum decimal(38, 0), silver_rows int64, silver_key_sum decimal(38, 0), status utf8, hashed bool, key utf8, failure_type utf8, detail utf8"
	var got []string
	for _, f := range spec.Schema.Fields() {
		got = append(got, f.Name+" "+f.Type.String())
		if comment, _ := f.Metadata.GetValue("comment"); comment == "" || !f.Nullable {
			t.Errorf("column %s: comment %q, nullable %v", f.Name, comment, f.Nullable)
		}
	}
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("columns\n%s, want\n%s", s, want)
	}
	if spec.Table.Name != reportName || spec.Properties["mssql_cdc.schema_version"] != "0" || spec.Description == "" {
		t.Errorf("%+v", spec)
	}
}

func TestKeysThatAreNotCapturedAreNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		key  []string
		want string
	}{
		"no key":  {nil, "has no key"},
		"unknown": {[]string{"id", "ID", "other"}, `not captured: "ID", "other"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := orders()
			w.insert(many(1, 2)...)
			w.apply(t)
			w.key = c.key
			_, err := w.try(settings{})
			if diag.KindOf(err) != diag.KindConfiguration || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// A report row fails to be written rather than lost: nothing of a run is kept
// when the table cannot take it.
func TestAReportThatCannotBeWrittenFailsTheRun(t *testing.T) {
	t.Parallel()
	w := orders()
	w.insert(many(1, 2)...)
	w.apply(t)
	w.put(t, reportName, arrow.NewSchema([]arrow.Field{column("run_id", number)}, nil), plugin.WriteAppend, nil)
	if _, err := w.try(settings{"report": reportName}); diag.KindOf(err) != diag.KindSchemaChanged {
		t.Errorf("error %v", err)
	}
}

// A table that took the report's name and is none is left as it is.
func TestATableThatIsNoReportIsNotChanged(t *testing.T) {
	t.Parallel()
	w := orders()
	w.insert(many(1, 2)...)
	w.apply(t)
	w.put(t, reportName, arrow.NewSchema([]arrow.Field{column("salary", number)}, nil), plugin.WriteAppend, nil)
	_, err := w.try(settings{"report": reportName})
	if diag.KindOf(err) != diag.KindSchemaChanged || !strings.Contains(err.Error(), `has the column "salary", and lacks "run_id"`) {
		t.Errorf("error %v", err)
	}
	states, err := w.lake.Open().GetTables(t.Context(), plugin.GetTablesRequest{Tables: []plugin.TableRef{{Name: reportName}}})
	if err != nil || states[0].Schema.NumFields() != 1 {
		t.Errorf("%v, error %v", states, err)
	}
}

// A call that breaks, wherever it is, fails the run: there is no outcome of a
// part of a table.
func TestABrokenCallIsNeverAnOutcome(t *testing.T) {
	t.Parallel()
	build := func() *world {
		w := orders()
		w.insert(many(1, 70)...)
		w.stream(t, "")
		w.apply(t, without(3))
		w.insert(order(500, "late"))
		w.insert(order(501, "late"))
		return w
	}
	run := func(w *world) (outcome, error) {
		return w.try(settings{"sample": 1, "bucket_rows": 35, "report": reportName})
	}
	w := build()
	if got, err := run(w); err != nil || got.Outcome != plugin.Different {
		t.Fatalf("%+v, error %v", got, err)
	}
	points := w.faults.Points()
	for k := 1; k <= len(points); k++ {
		w := build()
		w.faults.KillAt(k)
		got, err := run(w)
		if err == nil && points[k-1].After && points[k-1].Call == "Tables.Commit" {
			continue
		}
		if err == nil {
			t.Errorf("killed %s: outcome %s", points[k-1], got.Outcome)
		}
		if n := len(w.lake.Rows(reportName)); n > 0 && !(points[k-1].After && points[k-1].Call == "Tables.Commit") {
			t.Errorf("killed %s: %d report rows", points[k-1], n)
		}
	}
}
