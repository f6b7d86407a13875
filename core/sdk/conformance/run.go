package conformance

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/host"
	"github.com/pipectl/pipectl/core/sdk"
)

// underTest is the name under which the test program bundles the plugin.
const underTest = "conformance"

// Suite says what to run. A role that is nil is not run.
type Suite struct {
	Source *Source
	Tables *Tables
	// PassEnv names environment variables that the plugin's process needs.
	PassEnv []string
}

// Main is the TestMain of a package that calls Run: it serves the plugin when
// the test program was started again as the plugin's process, and runs the
// tests otherwise.
func Main(m *testing.M, factory sdk.Factory) {
	if sdk.Main(map[string]sdk.Factory{underTest: factory}) {
		return
	}
	os.Exit(m.Run())
}

// Run runs the suite over the plugin in this process and in one of its own.
func Run(t *testing.T, factory sdk.Factory, suite Suite) {
	t.Helper()
	t.Run("in the test's process", func(t *testing.T) {
		suite.run(t, factory(slog.New(slog.DiscardHandler)))
	})
	t.Run("in a process of its own", func(t *testing.T) {
		suite.run(t, Process(t, suite.PassEnv...))
	})
}

// Process starts the plugin that Main serves as a process of its own; the test
// ends it.
func Process(t *testing.T, passEnv ...string) *host.Plugin {
	t.Helper()
	h := host.New(host.Options{})
	t.Cleanup(h.Stop)
	plugins, err := h.Start(t.Context(), []host.Spec{{Name: underTest, Source: underTest, PassEnv: passEnv}})
	if err != nil {
		t.Fatalf("the plugin's process does not start: %v", err)
	}
	return plugins[underTest]
}

// RunOver runs the suite over a plugin, however it is reached.
func RunOver(t *testing.T, p plugin.Plugin, suite Suite) {
	t.Helper()
	suite.run(t, p)
}

func (s Suite) run(t *testing.T, p plugin.Plugin) {
	t.Run("description", func(t *testing.T) { describe(t, p) })
	if s.Source != nil {
		t.Run("source", func(t *testing.T) { s.Source.run(t, p) })
	}
	if s.Tables != nil {
		t.Run("tables", func(t *testing.T) { s.Tables.run(t, p) })
	}
}

// describe holds what every plugin says of itself.
func describe(t *testing.T, p plugin.Plugin) {
	ctx := t.Context()
	d, err := p.Describe(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if d.Name == "" || d.Version == "" || len(d.Components) == 0 {
		t.Errorf("a plugin has a name, a version and components, not %+v", d)
	}
	seen := map[plugin.ComponentID]bool{}
	for _, c := range d.Components {
		id := plugin.ComponentID{Role: c.Role, Type: c.Type}
		if seen[id] {
			t.Errorf("two components are %s %q", c.Role, c.Type)
		}
		seen[id] = true
		for kind, body := range map[plugin.BodyKind]interface {
			Check([]string) error
			EmptyValue() cty.Value
		}{plugin.BodyConnection: c.Connection, plugin.BodyObject: c.Object, plugin.BodyRead: c.Read} {
			if err := body.Check(nil); err != nil {
				t.Errorf("the %s body of %s %q: %v", kind, c.Role, c.Type, err)
			}
			// A body in which nothing was written may be refused, by diagnostics
			// that name an argument that the schema has.
			list, err := p.ValidateConfig(ctx, id, kind, body.EmptyValue())
			if err != nil {
				t.Errorf("validating an empty %s body of %s %q: %v", kind, c.Role, c.Type, err)
			}
			for _, one := range list {
				if one.Severity != diag.Error && one.Severity != diag.Warning || one.Summary == "" || one.Code == "" {
					t.Errorf("a diagnostic has a severity, a code and a summary, not %+v", one)
				}
				if strings.HasSuffix(one.Summary, ".") {
					t.Errorf("a summary ends without a stop: %q", one.Summary)
				}
			}
		}
	}
	for role, open := range map[plugin.Role]func() error{
		plugin.RoleSource: func() error { _, err := p.OpenSource(ctx, unknown); return err },
		plugin.RoleSink:   func() error { _, err := p.OpenTables(ctx, unknown); return err },
		plugin.RoleSilver: func() error { _, err := p.OpenSilver(ctx, unknown); return err },
		plugin.RoleCheck:  func() error { _, err := p.OpenCheck(ctx, unknown); return err },
	} {
		if err := open(); err == nil {
			t.Errorf("opening a %s of a type that the plugin does not have is no error", role)
		} else if list := diag.FromError(err); list[0].Code == "internal" {
			t.Errorf("opening a %s of a type that the plugin does not have answers no diagnostic: %v", role, err)
		}
	}
}

// unknown names a component that no plugin has.
var unknown = plugin.OpenRequest{Component: "no-such-component", Address: "source.none", Config: cty.EmptyObjectVal}

// capabilities finds what a component says that it can.
func capabilities(t *testing.T, p plugin.Plugin, role plugin.Role, name string) plugin.Capabilities {
	t.Helper()
	d, err := p.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range d.Components {
		if c.Role == role && c.Type == name {
			return c.Capabilities
		}
	}
	t.Fatalf("the plugin describes no %s %q", role, name)
	return plugin.Capabilities{}
}

// unsupported holds the answer of a call without its capability.
func unsupported(t *testing.T, name string, do func(context.Context) error) {
	t.Helper()
	if err := do(t.Context()); !diag.Is(err, diag.KindUnsupported) {
		t.Errorf("%s without its capability answers %v, not kind unsupported", name, err)
	}
}
