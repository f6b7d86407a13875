package dsl_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/dsl"
)

// TestConfigurationsEvaluateToTheirGoldenModel evaluates what lies in
// testdata/valid and compares the model as JSON, digests included.
func TestConfigurationsEvaluateToTheirGoldenModel(t *testing.T) {
	t.Chdir(filepath.Join("testdata", "valid"))
	names, err := filepath.Glob("*.hcl")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(names, "folder") {
		t.Run(strings.TrimSuffix(name, ".hcl"), func(t *testing.T) {
			config, _ := evaluateFixture(t, name)
			got := goldenJSON(t, config)
			golden := strings.TrimSuffix(name, ".hcl") + ".json"
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("another model than %s:\n%s", golden, dsl.Diff(golden, want, got))
			}
		})
	}
}

func evaluateFixture(t *testing.T, name string) (*model.Config, *dsl.Files) {
	t.Helper()
	text := fixtureText(t, name)
	opts, components := fixtureOptions(text)
	files, list := dsl.Load(name, opts)
	if files == nil {
		t.Fatal(list.Err())
	}
	config, list := files.Evaluate(components)
	if config == nil {
		t.Fatal(list.Err())
	}
	return config, files
}

func fixtureText(t *testing.T, name string) []byte {
	t.Helper()
	names := []string{name}
	if !strings.HasSuffix(name, ".hcl") {
		names, _ = filepath.Glob(filepath.Join(name, "*.hcl"))
	}
	var text []byte
	for _, n := range names {
		content, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, content...)
	}
	return text
}

// goldenJSON shows a model without places, and what is sensitive left out.
func goldenJSON(t *testing.T, c *model.Config) []byte {
	t.Helper()
	out := map[string]any{"name": c.Name, "environment": c.Environment, "state_path": c.StatePath, "required_version": c.RequiredVersion}
	plugins := map[string]string{}
	for name, p := range c.Plugins {
		plugins[name] = p.Source
	}
	out["plugins"] = plugins
	var files []string
	for _, f := range c.Files {
		files = append(files, f.Path)
	}
	out["files"] = files
	variables := map[string]any{}
	for name, v := range c.Variables {
		variables[name] = valueJSON(t, v)
	}
	out["variables"] = variables
	blocks := map[string]any{}
	add := func(a addr.Address, origin model.Origin, value any, body cty.Value) {
		form := map[string]any{"sensitive": trueKeys(origin.Sensitive), "body": valueJSON(t, hideSensitive(body, origin))}
		raw, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &form); err != nil {
			t.Fatal(err)
		}
		digest, err := c.Digest(a)
		if err != nil {
			t.Fatal(err)
		}
		form["digest"] = digest
		blocks[a.String()] = form
	}
	for _, s := range c.Sources {
		add(s.Addr, s.Origin, map[string]any{"type": s.Type, "plugin": s.Plugin, "max_connections": s.MaxConnections}, s.Body)
	}
	for _, s := range c.Sinks {
		add(s.Addr, s.Origin, map[string]any{"type": s.Type, "plugin": s.Plugin, "facts": s.Facts, "control": s.Control}, s.Body)
	}
	for _, s := range c.Tables {
		add(s.Addr, s.Origin, map[string]any{"source": s.Source.String(), "key": s.Key, "columns": s.Columns, "description": s.Description}, s.Body)
	}
	for _, s := range c.Streams {
		add(s.Addr, s.Origin, map[string]any{"table": s.Table.String(), "to": s.To.String(), "target": s.Target, "path": s.Path, "app_id": s.AppID,
			"bootstrap": s.Bootstrap, "starting_position": s.StartingPosition, "max_commits_per_batch": s.MaxCommitsPerBatch,
			"on_data_loss": s.OnDataLoss, "granularity": s.Granularity, "tags": s.Tags}, s.Read)
	}
	for _, s := range c.Silvers {
		add(s.Addr, s.Origin, map[string]any{"type": s.Type, "plugin": s.Plugin, "from": s.From.String(), "to": s.To.String(), "target": s.Target,
			"path": s.Path, "tags": s.Tags}, s.Body)
	}
	for _, s := range c.Checks {
		add(s.Addr, s.Origin, map[string]any{"type": s.Type, "plugin": s.Plugin, "silver": s.Silver.String(), "on_failure": s.OnFailure,
			"settle": s.Settle.String(), "tags": s.Tags}, s.Body)
	}
	out["blocks"] = blocks
	raw, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(raw, []byte("hunter22")) {
		t.Error("a secret is in the model where it is not called sensitive")
	}
	return append(raw, '\n')
}

// hideSensitive replaces sensitive texts, and values that are not known.
func hideSensitive(v cty.Value, origin model.Origin) cty.Value {
	out, _ := cty.Transform(v, func(path cty.Path, part cty.Value) (cty.Value, error) {
		var p diag.Path
		for _, step := range path {
			switch step := step.(type) {
			case cty.GetAttrStep:
				p = append(p, step.Name)
			case cty.IndexStep:
				if step.Key.Type() == cty.String {
					p = append(p, step.Key.AsString())
					continue
				}
				i, _ := step.Key.AsBigFloat().Int64()
				p = append(p, int(i))
			}
		}
		switch {
		case !part.IsKnown():
			return cty.StringVal("(unknown)"), nil
		case !part.IsNull() && part.Type() == cty.String && (origin.Sensitive[p.String()] || origin.Sensitive["read."+p.String()]):
			return cty.StringVal("(sensitive)"), nil
		}
		return part, nil
	})
	return out
}

func valueJSON(t *testing.T, v cty.Value) json.RawMessage {
	t.Helper()
	raw, err := ctyjson.Marshal(v, v.Type())
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func trueKeys(m map[string]bool) []string {
	out := []string{}
	for k, on := range m {
		if on {
			out = append(out, k)
		}
	}
	return sorted(out)
}
