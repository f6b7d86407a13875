package dsl_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/dsl"
)

func environ(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const head = `
pipectl {
  name = "shop"
  required_plugins {
    mssql = { source = "pipectl/source-mssql", version = ">= 0.1", pass_env = ["HOME"] }
    delta = { source = "./plugins/delta" }
  }
}
`

func codes(list diag.List) []string {
	var out []string
	for _, d := range list {
		out = append(out, d.Code)
	}
	return out
}

func TestLoadNamesThePathThatHoldsNothing(t *testing.T) {
	t.Parallel()
	for _, path := range []string{filepath.Join(t.TempDir(), "missing"), t.TempDir()} {
		files, list := dsl.Load(path, dsl.Options{})
		if files != nil || len(list) != 1 || !strings.Contains(list[0].Summary, path) {
			t.Errorf("%s: got %v, %v", path, files, list)
		}
	}
}

func TestRequiredPluginsAreKnownBeforeEvaluation(t *testing.T) {
	t.Parallel()
	path := write(t, t.TempDir(), "a.hcl", head)
	files, list := dsl.Load(path, dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list.Err())
	}
	got := files.RequiredPlugins()
	if len(got) != 2 || got[0].Name != "delta" || got[0].Source != "./plugins/delta" || got[1].Version != ">= 0.1" || !slices.Equal(got[1].PassEnv, []string{"HOME"}) {
		t.Errorf("got %+v", got)
	}
	if r := got[1].Origin.Place(diag.Path{"source"}); r == nil || r.Start.Line != 5 {
		t.Errorf("the source of the plugin stands at %v", r)
	}
	if want := filepath.Join(filepath.Dir(path), "pipectl.lock.hcl"); files.LockPath() != want {
		t.Errorf("got %s, want %s", files.LockPath(), want)
	}
}

func TestErrorsOfAllFilesAreReported(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "a.hcl", "a = = 1\n")
	write(t, dir, "b.hcl", "locals {\n  b = 2 +\n}\n")
	files, list := dsl.Load(dir, dsl.Options{})
	if files != nil || len(list) != 2 || filepath.Base(list[0].Subject.Filename) != "a.hcl" || filepath.Base(list[1].Subject.Filename) != "b.hcl" {
		t.Errorf("got %v", list)
	}
}

func TestFilesOfAFolderAreOneConfiguration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "a.hcl", head+`source "mssql" "shop" {
  host = "db"
}
`)
	write(t, dir, "b.hcl", "source \"mssql\" \"shop\" {\n  host = \"db\"\n}\n")
	files, list := dsl.Load(dir, dsl.Options{})
	if files == nil || !slices.Equal(codes(list), []string{"block.duplicate"}) || !strings.Contains(list[0].Detail, "a.hcl line 9. The files of a folder are one configuration") {
		t.Fatalf("got %v", list)
	}
	// Evaluate reports what Load found as well.
	if config, list := files.Evaluate(plugins()); config != nil || !slices.Equal(codes(list), []string{"block.duplicate"}) {
		t.Errorf("got %v", list)
	}
}

func TestUnsetEnvironmentIsAPlaceholderOfflineOnly(t *testing.T) {
	t.Parallel()
	path := write(t, t.TempDir(), "a.hcl", head+`source "mssql" "shop" {
  url      = env("URL")
  password = upper(env("PASSWORD"))
  host     = "db"
}
`)
	for _, offline := range []bool{true, false} {
		files, list := dsl.Load(path, dsl.Options{Offline: offline, Environ: environ("URL", "")})
		if list.HasErrors() {
			t.Fatal(list.Err())
		}
		config, list := files.Evaluate(plugins())
		if !offline {
			if !slices.Equal(codes(list), []string{"env.unset"}) {
				t.Errorf("online: got %v", list)
			}
			continue
		}
		if config == nil {
			t.Fatal(list.Err())
		}
		body := config.Sources[0].Body
		// A variable that is set and empty is set.
		if body.GetAttr("url").AsString() != "" || body.GetAttr("password").IsKnown() || body.IsWhollyKnown() || body.GetAttr("host").AsString() != "db" {
			t.Errorf("offline: got %#v", body)
		}
	}
}

func TestASavedPlanKeepsTextsAndNoSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := write(t, dir, "a.hcl", head+`variable "name" {}

variable "pin" {
  sensitive = true
}

source "mssql" "shop" {
  host     = file("host.txt")
  user     = sensitive(file("user.txt"))
  password = file("password.txt")
  database = var.name
  certificate = var.pin
}
`)
	write(t, dir, "host.txt", "db")
	write(t, dir, "user.txt", "reader")
	password := write(t, dir, "password.txt", "hunter22")
	opts := dsl.Options{Vars: []string{"name=shop", "pin=1234"}}
	files, _ := dsl.Load(path, opts)
	config, list := files.Evaluate(plugins())
	if config == nil {
		t.Fatal(list.Err())
	}
	var saved []string
	for _, f := range config.Files {
		saved = append(saved, filepath.Base(f.Path))
	}
	if !slices.Equal(saved, []string{"a.hcl", "host.txt"}) {
		t.Errorf("saved are %v", saved)
	}
	if len(config.Variables) != 1 || config.Variables["name"].AsString() != "shop" {
		t.Errorf("saved variables are %v", config.Variables)
	}

	// The text on disk changes; the plan means what it meant, with new secrets.
	write(t, dir, "a.hcl", "broken {")
	write(t, dir, "host.txt", "elsewhere")
	if err := os.WriteFile(password, []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	files, list = dsl.Reload(path, config.Files, dsl.Options{Values: config.Variables, Vars: []string{"pin=5678"}})
	if list.HasErrors() {
		t.Fatal(list.Err())
	}
	again, list := files.Evaluate(plugins())
	if again == nil {
		t.Fatal(list.Err())
	}
	body := again.Sources[0].Body
	for name, want := range map[string]string{"host": "db", "password": "changed", "certificate": "5678", "database": "shop", "user": "reader"} {
		if got := body.GetAttr(name).AsString(); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	before, _ := config.Digest(config.Sources[0].Addr)
	after, _ := again.Digest(again.Sources[0].Addr)
	if before != after {
		t.Error("secrets are part of the digest")
	}
}

func TestReloadNeedsAConfiguration(t *testing.T) {
	t.Parallel()
	if files, list := dsl.Reload("x", []model.File{{Path: "a.txt"}}, dsl.Options{}); files != nil || !list.HasErrors() {
		t.Errorf("got %v, %v", files, list)
	}
}

func TestOriginsPointIntoTheText(t *testing.T) {
	t.Chdir(filepath.Join("testdata", "valid"))
	config, files := evaluateFixture(t, "defaults.hcl")
	stream := config.Stream(addr.Instance(addr.Stream, "erp", "lines"))
	for path, want := range map[string]string{
		// From the defaults block, attribute by attribute and blocks as a whole.
		"bootstrap": "  bootstrap             = \"full\"", "read.partitions": "    partitions = 4",
		"table": "  table    = each.value",
		// Not written anywhere: the block.
		"tags": `stream "erp" {`,
	} {
		var p diag.Path
		for step := range strings.SplitSeq(path, ".") {
			p = append(p, step)
		}
		place := stream.Origin.Place(p)
		if place == nil || files.Excerpt(*place) != want {
			t.Errorf("%s: stands at %v, %q; want %q", path, place, files.Excerpt(*place), want)
		}
	}
	if !stream.Origin.Defaults["tags"] || stream.Origin.Defaults["bootstrap"] || !stream.Origin.Defaults["read.schema_change_policy"] {
		t.Errorf("defaults are %v", stream.Origin.Defaults)
	}
}

func TestExcerptLeavesSecretsOut(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`  password = "hunter22"`:                 `  password = "(sensitive)"`,
		`x = { secret_key = "a\"b", region="e" }`: `x = { secret_key = "(sensitive)", region="e" }`,
		`  url = env("X")`:                        `  url = env("X")`,
		`  password = "unclosed`:                  `  password = "(sensitive)"`,
		"  key = \"id\"\r":                        `  key = "id"`,
	} {
		got := dsl.Excerpt([]byte(text+"\nnext"), diag.Range{Start: diag.Pos{Line: 1, Byte: 2}})
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	if got := dsl.Excerpt(nil, diag.Range{Start: diag.Pos{Line: 4, Byte: 99}}); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestFormatChangesSpacesOnly(t *testing.T) {
	t.Parallel()
	src := []byte("source \"mssql\" \"shop\" {\n host=\"db\"\n  database   = \"shop\"\n}\n")
	want := "source \"mssql\" \"shop\" {\n  host     = \"db\"\n  database = \"shop\"\n}\n"
	got, list := dsl.FormatFile("a.hcl", src)
	if list.HasErrors() || string(got) != want {
		t.Errorf("got %s, %v", got, list)
	}
	if again := dsl.Format(got); !bytes.Equal(again, got) {
		t.Errorf("formatting twice changes the text: %s", again)
	}
	if diff := string(dsl.Diff("a.hcl", src, got)); !strings.Contains(diff, "- host=\"db\"\n") || !strings.Contains(diff, "+  host     = \"db\"\n") {
		t.Errorf("got %s", diff)
	}
	if diff := dsl.Diff("a.hcl", got, got); diff != nil {
		t.Errorf("equal texts differ: %s", diff)
	}
	broken := []byte("a = = 1\n")
	if got, list := dsl.FormatFile("a.hcl", broken); !list.HasErrors() || !bytes.Equal(got, broken) {
		t.Errorf("got %s, %v", got, list)
	}
}

func TestLockFileRoundTrip(t *testing.T) {
	t.Parallel()
	one, two := strings.Repeat("0a", 32), strings.Repeat("ff", 32)
	lock := &dsl.Lock{Plugins: []dsl.LockedPlugin{{Name: "z", Source: "./z", SHA256: []string{two}}, {Name: "own", Source: "./own", SHA256: []string{two, one}}}}
	text := lock.Text()
	if !bytes.Equal(text, dsl.Format(text)) {
		t.Errorf("the text is not formatted:\n%s", text)
	}
	path := write(t, t.TempDir(), dsl.LockFileName, string(text))
	read, list := dsl.ReadLock(path)
	if list.HasErrors() {
		t.Fatal(list.Err())
	}
	own, ok := read.Plugin("own")
	if !ok || own.Source != "./own" || !own.Allows(one) || !own.Allows(strings.ToUpper(two)) || own.Allows(strings.Repeat("00", 32)) {
		t.Errorf("got %+v", own)
	}
	if !bytes.Equal(read.Text(), text) {
		t.Errorf("another text:\n%s", read.Text())
	}
	if empty, list := dsl.ReadLock(path + ".missing"); list != nil || len(empty.Plugins) != 0 {
		t.Errorf("got %v, %v", empty, list)
	}
}

func TestLockFileFaults(t *testing.T) {
	t.Parallel()
	digest := `["` + strings.Repeat("00", 32) + `"]`
	for text, code := range map[string]string{
		"a = 1":                                 "lock.invalid",
		"other \"x\" {\n}":                      "lock.invalid",
		"plugin \"x\" {\n  source = \"./x\"\n}": "lock.invalid",
		"plugin \"x\" {\n  sha256 = " + digest + "\n}":                                 "lock.invalid",
		"plugin \"x\" {\n  source = \"./x\"\n  sha256 = [\"abc\"]\n}":                  "lock.invalid",
		"plugin \"x\" {\n  source = \"./x\"\n  sha256 = " + digest + "\n  b = 1\n}":    "lock.invalid",
		"plugin \"x\" {\n  source = \"./x\"\n  sha256 = " + digest + "\n  b {\n  }\n}": "lock.invalid",
		"plugin {": "syntax.invalid",
	} {
		lock, list := dsl.ParseLock("pipectl.lock.hcl", []byte(text+"\n"))
		if lock != nil || len(list) == 0 || list[0].Code != code {
			t.Errorf("%s: got %v, %v", text, lock, list)
		}
	}
}

func TestVersionMatches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		constraint, version string
		want                bool
	}{
		{"", "0.1.0", true}, {">= 0.1, < 2", "1.9.9", true}, {">= 0.1, < 2", "2.0.0", false}, {"1.2.3", "1.2.3", true}, {"= 1.2.3", "1.2.4", false},
		{"!= 1.2.3", "1.2.4", true}, {"~> 1.2", "1.9.0", true}, {"~> 1.2", "2.0.0", false}, {"~> 1.2.3", "1.2.9", true}, {"~> 1.2.3", "1.3.0", false},
		{"~> 1", "1.5.0", true}, {"> 1.0", "1.0.1", true}, {"<= 1", "1.0.0", true}, {">= 1.0.0", "1.0.0-rc1", false}, {"< 1.0.0", "v1.0.0-rc1+build", true},
	} {
		if got, err := dsl.VersionMatches(c.constraint, c.version); err != nil || got != c.want {
			t.Errorf("%q of %q: got %v, %v", c.version, c.constraint, got, err)
		}
	}
	for _, constraint := range []string{"newest", ">= ", ">= 1.2.3.4", "1.-2", ","} {
		if _, err := dsl.VersionMatches(constraint, "1.0.0"); err == nil {
			t.Errorf("%q is taken for a constraint", constraint)
		}
	}
}
