//go:build unix

package host_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/host"
)

// A plugin that something kills before the first step has begun is started again
// as often as in a step, and its end says nothing of how it was built.
func TestAPluginThatIsKilledBeforeTheWorkIsStartedAgain(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"start", "describe", "validate"} {
		for kills := range 4 {
			options := quick()
			killed := killedVariable + "=" + fmt.Sprintf("%s %d %s", point, kills, t.TempDir())
			options.Environ = func() []string { return append(os.Environ(), killed) }
			h := host.New(options)
			plugins, err := h.Start(t.Context(), []host.Spec{{Name: "shop", Source: "test/odd", PassEnv: []string{killedVariable}}})
			if err == nil {
				_, err = plugins["shop"].ValidateConfig(t.Context(), plugin.ComponentID{Role: plugin.RoleSource, Type: "memory"}, plugin.BodyConnection, config(""))
			}
			h.Stop()
			list := diag.FromError(err)
			switch {
			case kills <= len(options.Backoff) && err == nil:
			case kills > len(options.Backoff) && len(list) == 1 && list[0].Code == "plugin.crashes" && list[0].Kind == diag.KindUnavailable &&
				strings.Contains(list[0].Summary, "3 times") && strings.Contains(list[0].Detail, "Something killed it") && !strings.Contains(list[0].Detail, "built for"):
			default:
				t.Errorf("%d kills at %s: %+v", kills, point, list)
			}
		}
	}
}

// A program that ends its standard output without a word and stays is no plugin: it
// is said not to start, and nobody else killed it.
func TestAProgramThatEndsItsOutputAndStaysIsNoPlugin(t *testing.T) {
	t.Parallel()
	s := newScript(t, "echo started >&3; echo I serve something else >&2; exec >&-; exec sleep 1000")
	h := host.New(quick())
	_, err := h.Start(t.Context(), []host.Spec{s.spec})
	h.Stop()
	if list := diag.FromError(err); len(list) != 1 || list[0].Code != "plugin.start" || list[0].Detail != "I serve something else" {
		t.Errorf("%+v", list)
	}
	s.held.Close()
	if starts, err := io.ReadAll(s.lines); err != nil || string(starts) != "started\n" {
		t.Errorf("it said %q, %v", starts, err)
	}
}
