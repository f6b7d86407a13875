package e2e

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

// terminal opens a pseudo terminal: what programs write to the second file is
// read from the first (Linux: pts(4)).
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("NOT TESTED HERE: what is drawn at a terminal; there is no pseudo terminal: ", err)
	}
	t.Cleanup(func() { _ = master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// At a terminal lines of running steps are drawn anew in their place and words
// are colored, which NO_COLOR takes away, whatever it is set to.
func TestAtATerminal(t *testing.T) {
	t.Parallel()
	server, err := mssqlsim.Start(t.Context(), mssqlsim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	text, err := os.ReadFile(filepath.Join(shopFolder, "shop.sql"))
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Database(simDatabase).Exec(t.Context(), string(text)); err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile(filepath.Join(shopFolder, "shop.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	colors, moves := regexp.MustCompile(`\x1b\[[0-9;]*m`), "\x1b[1A\x1b[2K"
	for name, c := range map[string]struct {
		more    []string
		colored bool
	}{"colored": {nil, true}, "plain": {[]string{"NO_COLOR="}, false}} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "shop.hcl"), config, 0o644); err != nil {
			t.Fatal(err)
		}
		// A warning is what has a color in a command that goes well.
		run := func(args ...string) string {
			master, slave := terminal(t)
			cmd := exec.Command(pipectl(t), args...)
			cmd.Dir, cmd.Stdout, cmd.Stderr = dir, slave, slave
			environment := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "NO_COLOR=") })
			cmd.Env = append(append(environment, "SHOP_MSSQL_URL="+server.DSN(simDatabase)), c.more...)
			said := make(chan string)
			go func() {
				out, _ := io.ReadAll(master) // ends with EIO when the last writer is gone
				said <- string(out)
			}()
			err := cmd.Run()
			_ = slave.Close()
			out := <-said
			if err != nil && args[0] != "plan" {
				t.Fatalf("%s: pipectl %v: %v\n%s", name, args, err, out)
			}
			return out
		}
		out := run("apply", "-yes", "shop.hcl")
		if !strings.Contains(out, "check.orders: done, equal: 5 rows of the source, 5 rows of silver") || !strings.Contains(out, moves) {
			t.Errorf("%s: the steps are not drawn in their place:\n%q", name, out)
		}
		wrong := run("plan", "-var", "none=1", "shop.hcl")
		if got := colors.MatchString(wrong); got != c.colored || !strings.Contains(wrong, "variable.undeclared") {
			t.Errorf("%s: colored is %v:\n%q", name, got, wrong)
		}
		if !c.colored && colors.MatchString(out) {
			t.Errorf("%s: %q", name, out)
		}
	}
}
