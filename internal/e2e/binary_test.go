// Package e2e tests the real binary against the SQL Server simulator and lakes
// in temporary folders. It knows the program by its command lines, its output
// and the tables that it writes; nothing here reaches into the core.
package e2e

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
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
	build := exec.Command("go", "build", "-o", binary, "../../cmd/pipectl")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "building pipectl:", err)
		return 1
	}
	return m.Run()
}

// pipectl is the path of the program under test.
func pipectl(t testing.TB) string {
	t.Helper()
	if binary == "" {
		t.Fatal("TestMain has not built pipectl")
	}
	return binary
}
