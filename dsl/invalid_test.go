package dsl_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/schema"
	"github.com/pipectl/pipectl/dsl"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

// expectation matches the comment on an offending line. Several messages of a
// line stand behind each other.
var expectation = regexp.MustCompile(`[ \t]*# (?:ERROR|WARNING) .*$`)

// directive matches the lines that say what a fixture is loaded with.
var directive = regexp.MustCompile(`(?m)^# (env|var|varfile|planned|offline|bundled|version|reserved)(?: (.*))?$`)

// fixtureOptions reads the directives of a fixture.
func fixtureOptions(text []byte) (dsl.Options, dsl.Components) {
	env := map[string]string{}
	components := plugins()
	opts := dsl.Options{Environ: func(name string) (string, bool) { v, ok := env[name]; return v, ok }}
	for _, m := range directive.FindAllSubmatch(text, -1) {
		value := string(m[2])
		switch string(m[1]) {
		case "env":
			name, v, _ := strings.Cut(value, "=")
			env[name] = v
		case "var":
			opts.Vars = append(opts.Vars, value)
		case "varfile":
			opts.VarFiles = append(opts.VarFiles, value)
		case "planned":
			name, v, _ := strings.Cut(value, "=")
			if opts.Values == nil {
				opts.Values = map[string]cty.Value{}
			}
			opts.Values[name] = cty.StringVal(v)
		case "offline":
			opts.Offline = true
		case "bundled":
			opts.Bundled = []string{"pipectl/source-mssql", "pipectl/sink-delta", "pipectl/silver", "pipectl/reconcile"}
		case "version":
			opts.Version = value
		case "reserved":
			components = append(components, dsl.Component{Plugin: "bad", Role: addr.Source, Type: "bad",
				Connection: schema.Body{Attributes: []schema.Attribute{{Name: "snapshot_on_switch", Type: cty.Bool}}}})
		}
	}
	return opts, components
}

// TestBrokenConfigurationsSayWhatIsWrong loads every fixture of
// testdata/invalid and compares all messages, with their places, with the
// comments on the offending lines.
func TestBrokenConfigurationsSayWhatIsWrong(t *testing.T) {
	t.Chdir(filepath.Join("testdata", "invalid"))
	names, err := filepath.Glob("*.hcl")
	if err != nil {
		t.Fatal(err)
	}
	if len(names) < 60 {
		t.Fatalf("%d fixtures; there were more than 60", len(names))
	}
	used := map[string]bool{}
	for _, name := range names {
		t.Run(strings.TrimSuffix(name, ".hcl"), func(t *testing.T) {
			compareFixture(t, name, used)
		})
	}
	for _, code := range dsl.Codes() {
		// These have tests of their own: no line of a configuration has them.
		if !used[code] && code != "file.none" && code != "lock.invalid" {
			t.Errorf("no fixture has the code %q", code)
		}
	}
	for code := range used {
		if !slices.Contains(dsl.Codes(), code) {
			t.Errorf("the code %q is not in Codes", code)
		}
	}
}

func compareFixture(t *testing.T, name string, used map[string]bool) {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	opts, components := fixtureOptions(content)
	files, list := dsl.Load(name, opts)
	if files != nil {
		_, list = files.Evaluate(components)
	}
	if !list.HasErrors() && len(list.Warnings()) == 0 {
		t.Error("there is nothing wrong")
	}
	byLine := map[string]map[int][]string{name: {}}
	for _, d := range list {
		used[d.Code] = true
		checkForm(t, files, d)
		file, line := name, 0
		if d.Subject != nil {
			file, line = d.Subject.Filename, d.Subject.Start.Line
		}
		if byLine[file] == nil {
			byLine[file] = map[int][]string{}
		}
		byLine[file][line] = append(byLine[file][line], fmt.Sprintf("# %s %s: %s | %s", strings.ToUpper(d.Severity.String()), d.Code, d.Summary, d.Detail))
	}
	for _, file := range slices.Sorted(maps.Keys(byLine)) {
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := annotate(got, byLine[file])
		if bytes.Equal(got, want) {
			continue
		}
		if *update {
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		t.Errorf("%s has other messages than its comments say:\n%s", file, dsl.Diff(file, got, want))
	}
}

// annotate puts the messages on their lines; those without a place stand in
// front.
func annotate(content []byte, byLine map[int][]string) []byte {
	var out []string
	line := 0
	for text := range strings.SplitSeq(strings.TrimSuffix(string(content), "\n"), "\n") {
		stripped := expectation.ReplaceAllString(text, "")
		if line == 0 {
			out = append(out, byLine[0]...)
		}
		line++
		if stripped == "" && text != "" {
			continue
		}
		// Line numbers are those of the file as it is loaded.
		if messages := byLine[line]; len(messages) > 0 {
			stripped += " " + strings.Join(messages, " ")
		}
		out = append(out, stripped)
	}
	return []byte(strings.Join(out, "\n") + "\n")
}

// checkForm holds every message against the rules for all of them.
func checkForm(t *testing.T, files *dsl.Files, d diag.Diagnostic) {
	t.Helper()
	text := d.Summary + " " + d.Detail
	switch {
	case d.Code == "" || d.Kind != diag.KindConfiguration:
		t.Errorf("no code or kind: %+v", d)
	case d.Summary == "" || strings.HasSuffix(d.Summary, ".") || strings.Contains(d.Summary, "\n"):
		t.Errorf("the summary is one line without a final stop: %q", d.Summary)
	case d.Detail == "" && d.Code != "syntax.invalid":
		t.Errorf("the message does not say what to do: %q", d.Summary)
	}
	for _, secret := range []string{"hunter22", "swordfish", "1234x"} {
		if strings.Contains(text, secret) {
			t.Errorf("a secret is in the message: %q", text)
		}
		if d.Subject == nil {
			continue
		}
		line := ""
		if files != nil {
			line = files.Excerpt(*d.Subject)
		} else if content, err := os.ReadFile(d.Subject.Filename); err == nil {
			line = dsl.Excerpt(content, *d.Subject)
		}
		if strings.Contains(line, secret) {
			t.Errorf("a secret is in the line of text: %q", line)
		}
	}
}
