package plan_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/plugin"
)

func somePlan() *plan.Plan {
	stream, lake := addr.New(addr.Stream, "orders"), addr.New(addr.Sink, "lake")
	return &plan.Plan{
		Plugins: []plan.Plugin{{Name: "own", Source: "./own", Version: "1.0", Digest: "ab"}},
		Tables:  []plan.Table{{Owner: stream, Sink: lake, Ref: plugin.TableRef{Name: "bronze.orders"}, Action: plugin.TableCreate, Version: -1}},
		Steps: []plan.Step{{
			Address: stream, Kind: plan.FullSnapshot, Reason: "it has no position yet", Digest: "d1:1", Detail: []string{"about 5 rows"},
			Source: plan.Identity{Database: "shop:1", Table: "7", Schema: "id int32"},
		}},
	}
}

// A saved plan is good as long as nothing that it rests on has changed;
// versions, positions and amounts of data are none of that.
func TestASavedPlanIsStale(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*plan.Plan)
		want   string // part of the one message, "" = still good
		says   string // its detail, without the end
	}{
		{"nothing changed", func(*plan.Plan) {}, "", ""},
		{"a newer version of a table", func(p *plan.Plan) { p.Tables[0].Version = 7 }, "", ""},
		{"more data waits", func(p *plan.Plan) { p.Steps[0].Pending, p.Steps[0].Detail = true, []string{"about 9 rows"} }, "", ""},
		{"the state accepts it meanwhile", func(p *plan.Plan) { p.Steps[0].Accepted = true }, "", ""},
		{"another file of a plugin", func(p *plan.Plan) { p.Plugins[0].Digest = "cd" }, "the plugin own is not what it was", "planned: a file with the sha256 ab\nnow:     a file with the sha256 cd"},
		{"another table of that name", func(p *plan.Plan) { p.Tables[0].ID = "x" }, "the table bronze.orders of sink.lake is not what it was", "planned: no table there\nnow:     table id x"},
		{"another action", func(p *plan.Plan) { p.Tables[0].Action = plugin.TableAlter }, "the table bronze.orders of sink.lake is not what it was", "planned: to do: create\nnow:     to do: alter"},
		{"another kind of work", func(p *plan.Plan) { p.Steps[0].Kind = plan.Changes }, "the step stream.orders is not what it was", "planned: full snapshot because it has no position yet\nnow:     changes because it has no position yet"},
		{"another reason", func(p *plan.Plan) { p.Steps[0].Reason = "its state was lost" }, "the step stream.orders is not what it was", "planned: full snapshot because it has no position yet\nnow:     full snapshot because its state was lost"},
		{"another declaration", func(p *plan.Plan) { p.Steps[0].Digest = "d1:2" }, "the step stream.orders is not what it was", "Its declaration is another one, though its text is the plan's: it takes a value from outside that has changed, from the environment, a sensitive variable or a default of a plugin."},
		{"a column more at the source", func(p *plan.Plan) { p.Steps[0].Source.Schema += ", note utf8" }, "the source of stream.orders is not what it was", "planned: columns id int32\nnow:     columns id int32, note utf8"},
		{"another database", func(p *plan.Plan) { p.Steps[0].Source.Database = "shop:2" }, "the source of stream.orders is not what it was", "planned: database shop:1\nnow:     database shop:2"},
		{"a table less", func(p *plan.Plan) { p.Tables = nil }, "the table bronze.orders of sink.lake is no part of it any more", ""},
		{"a plugin more", func(p *plan.Plan) { p.Plugins = append(p.Plugins, plan.Plugin{Name: "new"}) }, "the plugin new is new in it", ""},
	} {
		saved := plan.Saved{Conditions: somePlan().Conditions()}
		fresh := somePlan()
		c.change(fresh)
		list := saved.Differences(fresh)
		switch {
		case c.want == "" && len(list) > 0:
			t.Errorf("%s: %v", c.name, list)
		case c.want != "" && (len(list) != 1 || !strings.Contains(list[0].Summary, c.want) || list[0].Kind != diag.KindStale):
			t.Errorf("%s: %v, not one message with %q", c.name, list, c.want)
		case c.want != "" && list[0].Detail != strings.TrimPrefix(c.says+"\nMake a new plan and look at it again.", "\n"):
			t.Errorf("%s: %q", c.name, list[0].Detail)
		}
	}
}

// A name is one table's in its sink only: tables of one name in two sinks, and
// changes of their columns, are compared each with itself.
func TestTablesOfOneNameInTwoSinksAreTwo(t *testing.T) {
	t.Parallel()
	two := func() *plan.Plan {
		p := &plan.Plan{}
		for _, name := range []string{"a", "b"} {
			stream := addr.New(addr.Stream, name)
			p.Tables = append(p.Tables, plan.Table{Owner: stream, Sink: addr.New(addr.Sink, name), Ref: plugin.TableRef{Name: "bronze.x"}, ID: "id of " + name})
			p.Steps = append(p.Steps, plan.Step{Address: stream, Changes: []plan.Change{{Code: "stream.column_added", Table: "bronze.x", Column: "note", Text: "new in " + name}}})
		}
		return p
	}
	saved := plan.Saved{Conditions: two().Conditions()}
	if list := saved.Differences(two()); len(list) > 0 {
		t.Errorf("nothing changed, and yet: %v", list)
	}
	fresh := two()
	fresh.Tables[1].ID = "another"
	fresh.Steps[1].Changes[0].Text = "otherwise"
	list := saved.Differences(fresh)
	if len(list) != 2 || !strings.Contains(list[0].Summary, "the table bronze.x of sink.b is not") || !strings.Contains(list[1].Summary, "the change of bronze.x note by stream.b is not") {
		t.Errorf("what changed in the second sink: %v", list)
	}
}

// A saved plan is for the lakes that it was made for: those at a
// place, with the state that they had. A copy has it, too, and is another lake.
func TestASavedPlanIsForItsLakes(t *testing.T) {
	t.Parallel()
	lake := addr.New(addr.Sink, "lake")
	for _, c := range []struct {
		name         string
		planned, now plan.Place
		want         string // of the one message, "" = still good
	}{
		{"the same place", plan.Place{Display: "/l1", Digest: "d1"}, plan.Place{Display: "/l1", Digest: "d1"}, ""},
		{"it has got its state since", plan.Place{Display: "/l1", Digest: "d1"}, plan.Place{Display: "/l1", Digest: "d1", Lineage: "u1"}, ""},
		{"the same place with its state", plan.Place{Display: "/l1", Digest: "d1", Lineage: "u1"}, plan.Place{Display: "/l1", Digest: "d1", Lineage: "u1"}, ""},
		{"a copy, or moved with its state", plan.Place{Display: "/l1", Digest: "d1", Lineage: "u1"}, plan.Place{Display: "/l2", Digest: "d2", Lineage: "u1"},
			"planned: /l1\nnow:     /l2\nBoth have the state u1: one is a copy of the other, or the lake was moved.\n"},
		{"a copy at a sensitive place", plan.Place{Display: "a sensitive root", Digest: strings.Repeat("1", 64), Lineage: "u1"}, plan.Place{Display: "a sensitive root", Digest: strings.Repeat("2", 64), Lineage: "u1"},
			"planned: a sensitive root (its sha256 begins with 111111111111)\nnow:     a sensitive root (its sha256 begins with 222222222222)\nBoth have"},
		{"another place", plan.Place{Display: "/l1", Digest: "d1"}, plan.Place{Display: "/l2", Digest: "d2"}, "planned: /l1\nnow:     /l2\n"},
		{"a place with a state", plan.Place{Display: "/l1", Digest: "d1"}, plan.Place{Display: "/l2", Digest: "d2", Lineage: "u2"}, "planned: /l1, without a state\nnow:     /l2, with the state u2\n"},
		{"another state", plan.Place{Display: "/l1", Digest: "d1", Lineage: "u1"}, plan.Place{Display: "/l1", Digest: "d1", Lineage: "u2"}, "planned: /l1, with the state u1\nnow:     /l1, with the state u2\n"},
		{"the state is gone", plan.Place{Display: "/l1", Digest: "d1", Lineage: "u1"}, plan.Place{Display: "/l1", Digest: "d1"}, "planned: /l1, with the state u1\nnow:     /l1, without a state\n"},
		{"sensitive places", plan.Place{Display: "a sensitive root", Digest: strings.Repeat("1", 64)}, plan.Place{Display: "a sensitive root", Digest: strings.Repeat("2", 64)},
			"planned: a sensitive root (its sha256 begins with 111111111111)\nnow:     a sensitive root (its sha256 begins with 222222222222)\n"},
	} {
		c.planned.Sink, c.now.Sink = lake, lake
		planned, now := somePlan(), somePlan()
		planned.Places, now.Places = []plan.Place{c.planned}, []plan.Place{c.now}
		if c.want != "" {
			now.Tables[0].ID = "x" // all else is of the other lake, and not told
		}
		list := plan.Saved{Lakes: planned.Lakes(), Conditions: planned.Conditions()}.Differences(now)
		switch {
		case c.want == "" && len(list) > 0:
			t.Errorf("%s: %v", c.name, list)
		case c.want != "" && (len(list) != 1 || list[0].Summary != "The plan was made for another lake than the one that sink.lake is now" || !strings.HasPrefix(list[0].Detail, c.want) || list[0].Kind != diag.KindStale):
			t.Errorf("%s: %v", c.name, list)
		}
	}
}

// A saved plan of another format is refused with what to do about it; up to 1 a
// plan did not say which sink a table is of, up to 2 its conditions were texts.
func TestAPlanOfAnotherFormatIsRefused(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.plan")
	if err := (plan.Saved{Path: "shop.hcl"}).Write(file); err != nil {
		t.Fatal(err)
	}
	if s, err := plan.ReadSaved(file); err != nil || s.Path != "shop.hcl" {
		t.Errorf("its own file: %+v, %v", s, err)
	}
	for _, version := range []string{"1", "2", "99"} {
		if err := os.WriteFile(file, []byte(`{"format_version": `+version+`, "path": "shop.hcl"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := plan.ReadSaved(file)
		if list := diag.FromError(err); err == nil || list[0].Code != "plan.format" || list[0].Kind != diag.KindUnavailable || !strings.Contains(list[0].Summary, "has format "+version) || list[0].Detail == "" {
			t.Errorf("format %s: %v", version, list)
		}
	}
}

// What cannot be read as a plan is said with what to do.
func TestAFileThatIsNoPlan(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.plan")
	if err := os.WriteFile(broken, []byte("pipectl {}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{broken, filepath.Join(dir, "none.plan"), dir} {
		_, err := plan.ReadSaved(file)
		list := diag.FromError(err)
		if err == nil || list[0].Code != "plan.file" || list[0].Detail == "" || strings.Count(list[0].Summary, file) != 1 {
			t.Errorf("%s: %v", file, list)
		}
	}
}

// A source out of reach is an error of the plan and of each of its steps, and
// told once.
func TestAnErrorOfManyStepsIsToldOnce(t *testing.T) {
	t.Parallel()
	d := diag.Errorf(diag.KindUnavailable, "x.unreachable", "", "The server is out of reach")
	other := diag.Errorf(diag.KindPermission, "x.permission", "", "The login may not read a table")
	p := &plan.Plan{
		Diagnostics: diag.List{d, diag.Warningf("x.slow", "", "It is slow")},
		Steps:       []plan.Step{{Diagnostics: diag.List{d}}, {Diagnostics: diag.List{d, other}}, {Diagnostics: diag.List{diag.Warningf("x.slow", "", "It is slow")}}},
	}
	if got := p.Errors(); len(got) != 2 || got[0].Code != d.Code || got[1].Code != other.Code {
		t.Errorf("errors: %v", got)
	}
	if got := p.Warnings(); len(got) != 1 {
		t.Errorf("warnings: %v", got)
	}
}
