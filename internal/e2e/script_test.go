//go:build unix

package e2e

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pipectl/pipectl/internal/built"
)

// TestScripts runs testdata/script. Each script is one rule and named after
// it. It starts in a folder that holds shop.hcl, the configuration of one
// table, and meets a server of its own; the commands it may use are these:
//
//	sim new                      a database with dbo.orders (testdata/shop/shop.sql); sets SHOP_MSSQL_URL
//	sim ...                      see simulator_test.go
//	pipectl ARGS                 runs the program, which must exit 0
//	exit CODE pipectl ARGS       runs the program, which must exit with the code
//	unread CODE pipectl ARGS     the same with a standard output that takes nothing
//	start NAME pipectl ARGS      runs it in the background; await, signal, kill-plugin and end take the name
//	until PATTERN pipectl ARGS   runs it again until standard output matches; ! until, until it does not
//	compare TABLE SOURCE         the rows of a lake table are those of the source table
//	damage TABLE KEY COLUMN TEXT changes one value of one row behind the program's back
//	feature TABLE NAME           makes the table demand a writer feature that nobody knows
//	protocol TABLE READER WRITER raises the versions of its protocol; feature TABLE off takes that back, too
//	full-disk FILE               puts a sink plugin there whose disk is full where the file "full" says
//	plugin-file NAME             builds plugins/NAME into a file of that name
//	edit FILE OLD NEW            replaces text in a file, which must hold it
//	sourced FILE                 the variables that a file of export lines sets
//	sort FILE                    the lines of a file, or of stdout, in order, to stdout
//
// Output is compared in its lasting form: see lasting.
func TestScripts(t *testing.T) {
	t.Parallel()
	program := pipectl(t)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		UpdateScripts:       *update,
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Setup:               setUp,
		Condition:           condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"sim":         sim,
			"pipectl":     runProgram(program, true),
			"exit":        runProgram(program, false),
			"unread":      runUnread(program),
			"start":       startProgram(program),
			"await":       await,
			"until":       until(program),
			"signal":      signalProgram,
			"kill-plugin": killPlugin,
			"end":         end,
			"compare":     compare,
			"damage":      damage,
			"empty":       empty,
			"copy":        copyFolder,
			"feature":     feature,
			"protocol":    protocol,
			"full-disk":   fullDiskPlugin,
			"plugin-file": pluginFile,
			"edit":        edit,
			"sort":        sortLines,
			"sourced":     sourced,
			"smalldisk":   smallDisk,
		},
	})
}

// shopFolder holds the database and the configuration that most scripts use.
var shopFolder = filepath.Join("testdata", "shop")

// scriptKey finds the script's own values.
type scriptKey struct{}

// script is what one script has beside its folder.
type script struct {
	sim      *simulated
	programs map[string]*program
}

func scriptOf(ts *testscript.TestScript) *script { return ts.Value(scriptKey{}).(*script) }

func setUp(env *testscript.Env) error {
	s := &script{programs: map[string]*program{}}
	env.Values[scriptKey{}] = s
	env.Defer(s.close)
	env.Setenv("NO_COLOR", "1")
	if _, err := os.Stat(filepath.Join(env.WorkDir, "shop.hcl")); err == nil {
		return nil // the script brings its own
	}
	text, err := os.ReadFile(filepath.Join(shopFolder, "shop.hcl"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(env.WorkDir, "shop.hcl"), text, 0o644)
}

func (s *script) close() {
	if s.sim != nil {
		s.sim.close()
	}
	for _, p := range s.programs {
		p.kill()
	}
}

// sourced sets the variables of a file, as a shell's dot command does.
func sourced(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: sourced FILE")
	}
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		name, value, ok := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "export ")), "=")
		if !ok {
			ts.Fatalf("%s: %q sets no variable", args[0], line)
		}
		ts.Setenv(name, strings.Trim(value, "'"))
	}
}

// condition answers [smalldisk]: whether a file system of a few hundred
// kilobytes can be mounted here.
func condition(name string) (bool, error) {
	if name != "smalldisk" {
		return false, nil
	}
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		return false, nil
	}
	dir, err := os.MkdirTemp("", "pipectl-mount-")
	if err != nil {
		return false, err
	}
	defer os.Remove(dir)
	if mount(dir, "64k") != nil {
		return false, nil
	}
	return true, exec.Command("umount", dir).Run()
}

func mount(dir, size string) error {
	return exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "pipectl-e2e", dir).Run()
}

// smallDisk mounts a small file system: smalldisk DIR SIZE.
func smallDisk(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: smalldisk DIR SIZE")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(mount(dir, args[1]))
	ts.Defer(func() { _ = exec.Command("umount", "-l", dir).Run() })
}

// fullDiskPlugin puts the test binary, which is a plugin under that name, into
// the script's folder: full-disk FILE.
func fullDiskPlugin(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 || filepath.Base(args[0]) != fullDiskSink {
		ts.Fatalf("usage: full-disk %s", fullDiskSink)
	}
	own, err := os.Executable()
	ts.Check(err)
	ts.Check(os.Symlink(own, ts.MkAbs(args[0])))
}

// pluginFile builds a bundled plugin as a program of its own: plugin-file NAME.
func pluginFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: plugin-file NAME")
	}
	ts.Check(built.Program(filepath.Join("..", "..", "plugins", args[0]), ts.MkAbs(args[0])))
}

// edit replaces text in a file: edit FILE OLD NEW. \n stands for a line end.
func edit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: edit FILE OLD NEW")
	}
	path := ts.MkAbs(args[0])
	text, err := os.ReadFile(path)
	ts.Check(err)
	lines := strings.NewReplacer(`\n`, "\n")
	old := lines.Replace(args[1])
	if strings.Count(string(text), old) != 1 {
		ts.Fatalf("%s holds %q %d times, not once", args[0], old, strings.Count(string(text), old))
	}
	ts.Check(os.WriteFile(path, []byte(strings.Replace(string(text), old, lines.Replace(args[2]), 1)), 0o644))
}

// sortLines orders the lines of what has no order of its own: sort FILE.
func sortLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: sort FILE")
	}
	lines := slices.Sorted(strings.Lines(ts.ReadFile(args[0])))
	_, err := io.WriteString(ts.Stdout(), strings.Join(lines, ""))
	ts.Check(err)
}
