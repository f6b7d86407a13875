package dsl_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/dsl"
)

// TestLanguagePageNamesEverything holds docs/language.md against the table of
// the language: a word that the page lacks is a word nobody can find.
func TestLanguagePageNamesEverything(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../docs/language.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	for _, code := range dsl.Codes() {
		if !strings.Contains(page, "| `"+code+"` |") {
			t.Errorf("the page has no row for the code %s", code)
		}
	}
	for _, name := range dsl.Functions() {
		if !strings.Contains(page, "`"+name) {
			t.Errorf("the page does not name the function %s", name)
		}
	}
	for _, b := range append(dsl.Blocks(), dsl.Nested()...) {
		if !strings.Contains(page, "`"+b.Name) {
			t.Errorf("the page does not name the block %s", b.Name)
		}
		for _, a := range b.Arguments {
			if a.Later {
				if !strings.Contains(page, "`"+a.Name+"`") {
					t.Errorf("the page does not name the reserved word %s of %s", a.Name, b.Name)
				}
				continue
			}
			row := fmt.Sprintf("| `%s` |", a.Name)
			at := strings.Index(page, row)
			if at < 0 {
				t.Errorf("the page has no row for %s of %s", a.Name, b.Name)
				continue
			}
			if a.Default != "" && !strings.Contains(page, row+" "+a.Type+" | `"+a.Default+"`") {
				t.Errorf("the page does not say that the default of %s of %s is %s: want %s %s | `%s`", a.Name, b.Name, a.Default, row, a.Type, a.Default)
			}
		}
	}
}

func TestExamplesEvaluate(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]int{"../examples/quickstart.hcl": 1, "../examples/fifty-tables.hcl": 50} {
		config := evaluate(t, path)
		if len(config.Tables) != want || len(config.Streams) != want || len(config.Silvers) != want {
			t.Errorf("%s: %d tables, %d streams, %d silvers; want %d of each", path, len(config.Tables), len(config.Streams), len(config.Silvers), want)
		}
		// Each night's run is to end well: a table without a snapshot lacks rows that
		// the source has, as its check says every time.
		for _, v := range config.Silvers {
			checked := slices.ContainsFunc(config.Checks, func(c model.Check) bool { return c.Silver == v.Addr })
			if whole := config.Stream(v.From).Bootstrap != model.BootstrapNone; checked != whole {
				t.Errorf("%s: %s is checked: %v, and has all rows: %v", path, v.Addr, checked, whole)
			}
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := dsl.Diff(path, content, dsl.Format(content)); diff != nil {
			t.Errorf("the example is not formatted:\n%s", diff)
		}
	}
	config := evaluate(t, "../examples/fifty-tables.hcl")
	if s := config.Stream(addr.Instance(addr.Stream, "erp", "t05")); s.Bootstrap != model.BootstrapNone || s.Target != "bronze.t05" || s.MaxCommitsPerBatch != 50000 {
		t.Errorf("got %+v", s)
	}
	if c := config.Table(addr.Instance(addr.Table, "erp", "t03")).Columns; len(c) != 2 || c[0].Name != "email" || !c[0].Drop {
		t.Errorf("got %+v", c)
	}
}

// What must be left out of output beyond the arguments that a schema calls
// sensitive is known: the values of connections, not those of secrets, whose
// host may be shown.
func TestSensitiveValuesOfConnectionsAreKnown(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../examples/quickstart.hcl")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(raw), `root = "./lake"`, `root = "/data/${env("TENANT")}"`, 1)
	env := map[string]string{"TENANT": "acme", "SHOP_MSSQL_URL": "sqlserver://sa:Secret1!@db?database=shop"}
	files, list := dsl.Load(write(t, t.TempDir(), "a.hcl", text), dsl.Options{Environ: func(name string) (string, bool) { v, ok := env[name]; return v, ok }})
	if files == nil {
		t.Fatal(list.Err())
	}
	config, list := files.Evaluate(plugins())
	if config == nil {
		t.Fatal(list.Err())
	}
	if len(config.Secrets) != 1 || config.Secrets[0] != "/data/acme" || !config.Sinks[0].Origin.Sensitive["root"] {
		t.Errorf("%q, %v", config.Secrets, config.Sinks[0].Origin.Sensitive)
	}
}

func evaluate(tb testing.TB, path string) *model.Config {
	tb.Helper()
	files, list := dsl.Load(path, dsl.Options{Offline: true})
	if files == nil {
		tb.Fatal(list.Err())
	}
	config, list := files.Evaluate(plugins())
	if config == nil {
		tb.Fatal(list.Err())
	}
	return config
}

// TestDigestsTellStructureFromTuning changes one argument at a time.
func TestDigestsTellStructureFromTuning(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../examples/quickstart.hcl")
	if err != nil {
		t.Fatal(err)
	}
	base := digests(t, string(raw))
	for _, c := range []struct {
		before, after string
		changed       []string
	}{
		{`bootstrap = "full"`, `bootstrap = "none"`, []string{"stream.orders"}},
		{`bootstrap = "full"`, "bootstrap = \"full\"\n  tags = [\"a\"]\n  max_commits_per_batch = 5\n  granularity = \"hour\"", nil},
		{`bootstrap = "full"`, "bootstrap = \"full\"\n  read {\n    partitions = 1\n  }", nil},
		{`bootstrap = "full"`, "bootstrap = \"full\"\n  read {\n    include_command_id = true\n  }", []string{"stream.orders"}},
		{`object = "dbo.orders"`, "object = \"dbo.orders\"\n  exclude = [\"note\"]", []string{"table.orders", "stream.orders", "silver.orders"}},
		{`root = "./lake"`, `root = "./other"`, []string{"sink.lake"}},
		{`target = "silver.orders"`, `target = "silver.now"`, []string{"silver.orders", "check.orders"}},
		{`env("SHOP_MSSQL_URL")`, `env("OTHER_URL")`, nil},
		{`sample      = 1`, `sample = 0.5`, []string{"check.orders"}},
	} {
		if !strings.Contains(string(raw), c.before) {
			t.Fatalf("the example has no %s", c.before)
		}
		got := digests(t, strings.Replace(string(raw), c.before, c.after, 1))
		for address, digest := range base {
			changed := false
			for _, want := range c.changed {
				changed = changed || want == address
			}
			if (got[address] != digest) != changed {
				t.Errorf("%s -> %s: the digest of %s changed: %v, want %v", c.before, c.after, address, !changed, changed)
			}
		}
	}
}

func digests(t *testing.T, text string) map[string]string {
	t.Helper()
	config := evaluate(t, write(t, t.TempDir(), "a.hcl", text))
	out := map[string]string{}
	add := func(a addr.Address) {
		d, err := config.Digest(a)
		if err != nil {
			t.Fatal(err)
		}
		out[a.String()] = d
	}
	add(config.Sources[0].Addr)
	add(config.Sinks[0].Addr)
	add(config.Tables[0].Addr)
	add(config.Streams[0].Addr)
	add(config.Silvers[0].Addr)
	add(config.Checks[0].Addr)
	return out
}

// BenchmarkFiftyTables loads and evaluates fifty tables. It has to stay well
// under 50 ms.
func BenchmarkFiftyTables(b *testing.B) {
	for b.Loop() {
		evaluate(b, "../examples/fifty-tables.hcl")
	}
}

// FuzzLoad evaluates any text. Nothing may panic, every message must have a
// code, and a secret must be in none.
func FuzzLoad(f *testing.F) {
	for _, pattern := range []string{"testdata/invalid/*.hcl", "testdata/valid/*.hcl", "../examples/quickstart.hcl"} {
		for _, path := range glob(f, pattern) {
			content, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(content)
		}
	}
	const secret = "q7#swordfish"
	f.Fuzz(func(t *testing.T, text []byte) {
		// Reload reads the text from memory; file() may still read the disk,
		// relative to a folder that is not there.
		files, list := dsl.Reload("/nowhere/a.hcl", []model.File{{Path: "/nowhere/a.hcl", Content: text, Config: true}},
			dsl.Options{Vars: []string{"n=1"}, Environ: func(name string) (string, bool) {
				// A variable that is not sensitive may be shown.
				return secret, !strings.HasPrefix(name, dsl.EnvironmentPrefix)
			}})
		var config *model.Config
		if files != nil {
			config, list = files.Evaluate(plugins())
			if config == nil && !list.HasErrors() {
				t.Fatal("no configuration and no error")
			}
		}
		for _, d := range list {
			if d.Code == "" || d.Summary == "" {
				t.Fatalf("an empty message: %+v", d)
			}
			if strings.Contains(d.Summary+d.Detail, secret) && !strings.Contains(string(text), secret) {
				t.Fatalf("a secret is in %+v", d)
			}
			if files != nil && d.Subject != nil {
				files.Excerpt(*d.Subject)
			}
		}
		if config == nil {
			return
		}
		for _, s := range config.Streams {
			if _, err := config.Digest(s.Addr); err != nil {
				t.Fatal(err)
			}
		}
	})
}
