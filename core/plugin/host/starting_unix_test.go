//go:build unix

package host_test

import (
	"fmt"
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
