package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/pipectl/pipectl/internal/built"
)

// TestMain is the simulator when it is started as such: the measured parts
// start their own program for it.
func TestMain(m *testing.M) {
	if kind := os.Getenv(simulatorVariable); kind != "" {
		exit(serve(kind, os.Stdin, os.Stdout))
	}
	os.Exit(run(m))
}

// programDir holds the program that is measured; TestMain removes it.
var programDir string

func run(m *testing.M) int {
	var err error
	if programDir, err = os.MkdirTemp("", "pipectl-bench-"); err != nil {
		fmt.Fprintln(os.Stderr, "making a folder for the program:", err)
		return 1
	}
	defer os.RemoveAll(programDir)
	return m.Run()
}

// build builds the program once for all tests.
var build = sync.OnceValues(func() (string, error) {
	binary := filepath.Join(programDir, "pipectl")
	return binary, built.Program("../../cmd/pipectl", binary)
})

// TestPipeline runs all that is measured with the real program over few rows:
// everything must run and give the right rows; no figure is looked at.
func TestPipeline(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds pipectl")
	}
	t.Parallel()
	dir := t.TempDir()
	binary, err := build()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	args := []string{"-root", "../..", "-pipectl", binary, "-dir", dir, "-quick", "-only", "simulator|start|bronze|silver|watch|plan|memory"}
	if err := start(t.Context(), args, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, want := range []string{
		"six columns of 2,000 changes", "eleven columns, as the source asks", "first row of that range", "start of mssqlsim to its ready line", "start within a process",
		"3,000 changes into bronze", "first build of silver", "check of every row", "1,000 changes into silver of 5,000 rows", "visible in silver", "plan of 5 loaded tables",
	} {
		if strings.Count(out.String(), want) != 2 { // while it runs, and in the table
			t.Errorf("no figure %q in:\n%s", want, out.String())
		}
	}
}

func TestFailedPartIsToldAndTheOthersRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "broken"), []byte("#!/bin/sh\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	b := &bench{out: &bytes.Buffer{}, binary: filepath.Join(dir, "broken"), dir: dir, size: quickSizes()}
	var err error
	if b.self, err = os.Executable(); err != nil {
		t.Fatal(err)
	}
	err = b.settle(t.Context())
	if err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("a program that fails gives %v", err)
	}
}

func TestParseBench(t *testing.T) {
	t.Parallel()
	got := parseBench([]byte(`goos: linux
BenchmarkMerge/guard=lsn-2         	       3	  91234567 ns/op	        25.50 merge-ms	         2.500 ratio
BenchmarkMerge/guard=lsn-2         	       3	  91234567 ns/op	        27.50 merge-ms	         2.700 ratio
BenchmarkAppend 	       1	  5 ns/op
PASS
`))
	want := map[string]metrics{
		"BenchmarkMerge/guard=lsn": {"ns/op": {91234567, 91234567}, "merge-ms": {25.5, 27.5}, "ratio": {2.5, 2.7}},
		"BenchmarkAppend":          {"ns/op": {5}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	if _, err := got["BenchmarkAppend"].median("ratio"); err == nil {
		t.Error("a benchmark without a ratio gives one")
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	figures := []figure{
		atLeast(figure{name: "read", ours: "9 rows/s", baseline: "10 rows/s"}, 0.9, 0.8, "the driver"),
		atMost(figure{name: "merge", ours: "50 ms", baseline: "10 ms"}, 5, 4, "the scan"),
		{name: "plain", ours: "1"},
	}
	if err := printTable(&out, figures); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"FIGURE OURS BASELINE OF THE SAME RUN RATIO AIM MET",
		"read 9 rows/s 10 rows/s 0.90 of the driver >= 0.8 yes",
		"merge 50 ms 10 ms 5.00 x the scan <= 4 no",
		"plain 1",
	}
	for i, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		if got := strings.Join(strings.Fields(line), " "); i >= len(want) || got != want[i] {
			t.Errorf("line %d is %q", i, got)
		}
	}
}

func TestMemoryOfThisProcess(t *testing.T) {
	t.Parallel()
	peak := watchMemory(os.Getpid()).end()
	if _, err := os.Stat("/proc/self/status"); err != nil {
		if peak != nil {
			t.Errorf("peaks %v without /proc", peak)
		}
		return
	}
	if peak["pipectl"] < 1 {
		t.Errorf("this process has %s", fmt.Sprint(peak))
	}
}
