// Package e2e tests the real binary against the SQL Server simulator and lakes
// in temporary folders. It knows the program by its command lines, its output
// and the tables that it writes; nothing here reaches into the core.
package e2e

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/pipectl/pipectl/internal/built"
)

// update rewrites what scripts and goldens expect with what came out.
var update = flag.Bool("update", false, "rewrite the expected output of scripts and goldens")

// binary is the program under test; TestMain builds it once.
var binary string

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == fullDiskSink {
		serveFullDisk()
		return
	}
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "pipectl-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "making a folder for the binary:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "pipectl")
	if err := built.Program("../../cmd/pipectl", binary); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := moreAtOnce(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// moreAtOnce lets more tests go on at once than there are processors, unless
// -parallel says how many: they wait about as long as they work, for pauses
// before a program tries again above all.
func moreAtOnce() error {
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if chosen {
		return nil
	}
	return flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0)))
}

// pipectl is the path of the program under test.
func pipectl(t testing.TB) string {
	t.Helper()
	if binary == "" {
		t.Fatal("TestMain has not built pipectl")
	}
	return binary
}
