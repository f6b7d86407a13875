package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pipectl/pipectl/core/quantity"
)

// metrics are what one benchmark reports: values by unit, the best of its runs
// left to the reader.
type metrics map[string][]float64

// goBench runs benchmarks of a package and returns their metrics by name. The
// yardstick of each is measured beside it, in the same process and in turn.
func (b *bench) goBench(ctx context.Context, pkg, pattern string, count int, env ...string) (map[string]metrics, error) {
	return b.goBenchFor(ctx, "3x", pkg, pattern, count, env...)
}

// goBenchFor is goBench with a number of turns ("10x") in each run.
func (b *bench) goBenchFor(ctx context.Context, benchtime, pkg, pattern string, count int, env ...string) (map[string]metrics, error) {
	args := []string{"test", "-run", "^$", "-bench", pattern, "-benchtime", benchtime, "-count", strconv.Itoa(count), "-timeout", "30m", pkg}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = b.root
	cmd.Env = append(os.Environ(), env...)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s%s", strings.Join(args, " "), err, out, problems.String())
	}
	found := parseBench(out)
	if len(found) == 0 {
		return nil, fmt.Errorf("go %s: no benchmark has this name", strings.Join(args, " "))
	}
	return found, nil
}

var procs = regexp.MustCompile(`-\d+$`)

// parseBench reads lines such as
//
//	BenchmarkMerge/guard=lsn-2   3   91 ns/op   2.5 ratio
func parseBench(out []byte) map[string]metrics {
	found := map[string]metrics{}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := procs.ReplaceAllString(fields[0], "")
		m := found[name]
		if m == nil {
			m = metrics{}
			found[name] = m
		}
		for i := 2; i+1 < len(fields); i += 2 {
			if v, err := strconv.ParseFloat(fields[i], 64); err == nil {
				m[fields[i+1]] = append(m[fields[i+1]], v)
			}
		}
	}
	return found
}

// median of what a metric's runs gave.
func (m metrics) median(unit string) (float64, error) {
	v := slices.Sorted(slices.Values(m[unit]))
	if len(v) == 0 {
		return 0, errors.New("the benchmark reports no " + unit)
	}
	return v[len(v)/2], nil
}

// read is how fast change rows become Arrow batches.
func (b *bench) read(ctx context.Context) error {
	// A turn is short, and three of them can all fall on a busy moment.
	found, err := b.goBenchFor(ctx, "10x", "./plugins/source-mssql/mssql", "^BenchmarkReadChanges$", 3)
	if err != nil {
		return err
	}
	m := found["BenchmarkReadChanges"]
	ratio, err := m.median("ratio")
	if err != nil {
		return err
	}
	perSecond, err := m.median("rows/s")
	if err != nil {
		return err
	}
	b.add(atLeast(figure{name: "change rows into Arrow", ours: rate(int64(perSecond), 1), baseline: rate(int64(perSecond/ratio), 1) + ", driver loop over the same query"}, ratio, 0.8, "the driver"))
	return nil
}

// appendRows is how fast bronze is appended to.
func (b *bench) appendRows(ctx context.Context) error {
	found, err := b.goBench(ctx, "./plugins/sink-delta/deltatable", "^BenchmarkAppend$", 3, benchRows(b.size.batch))
	if err != nil {
		return err
	}
	m := found["BenchmarkAppend"]
	ratio, err := m.median("ratio")
	if err != nil {
		return err
	}
	perSecond, err := m.median("rows/s")
	if err != nil {
		return err
	}
	b.add(atLeast(figure{name: "bronze append", ours: rate(int64(perSecond), 1), baseline: rate(int64(perSecond/ratio), 1) + ", arrow-go writing the same batches"}, ratio, 0.9, "arrow-go"))
	return nil
}

// benchRows tells the benchmarks of the table library the size of a table.
func benchRows(n int64) string { return fmt.Sprintf("DELTATABLE_BENCH_ROWS=%d", n) }

// merge is how long a merge into a large table takes.
func (b *bench) merge(ctx context.Context) error {
	found, err := b.goBench(ctx, "./plugins/sink-delta/deltatable", "^BenchmarkMerge$", 1, benchRows(b.size.large), "DELTATABLE_BENCH_DIR="+b.dir+"/merge")
	if err != nil {
		return err
	}
	m := found["BenchmarkMerge/guard=lsn"]
	var v [4]float64
	for i, unit := range []string{"ratio", "merge-ms", "keys-ms", "peak-MiB"} {
		if v[i], err = m.median(unit); err != nil {
			return err
		}
	}
	b.add(atMost(figure{name: fmt.Sprintf("merge of %s changes into %s rows", quantity.Grouped(b.size.large/100), quantity.Grouped(b.size.large)),
		ours: fmt.Sprintf("%.0f ms, peak %.0f MiB", v[1], v[3]), baseline: fmt.Sprintf("%.0f ms, arrow-go reading the key column", v[2])}, v[0], 4, "the scan"))
	return nil
}
