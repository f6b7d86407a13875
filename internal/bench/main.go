// Command bench measures how fast pipectl is, against baselines that are
// measured in the same run on the same machine: a bare driver loop, arrow-go's
// Parquet reader and writer, the reference implementation where it is there.
// It prints one table of ratios and the aims beside them. It fails only when
// something cannot run or gives wrong rows, never because of a figure: those of
// a busy or slow machine prove nothing.
//
// It knows the program by its command line, its JSON output and the tables it
// writes; the parts are measured by the benchmarks of their own packages.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

// sizes are the numbers of rows of the figures.
type sizes struct {
	read    int64 // change rows that a bare driver reads from the simulator
	reads   int   // how often it does
	starts  int   // how often the simulator is started
	batch   int64 // appended at once; a batch with bounded memory
	large   int64 // rows of the table that is merged into; a hundredth are the changes
	changes int64 // change rows into bronze
	table   int64 // rows of silver
	applied int64 // change rows into silver
	commits int   // single commits that are waited for
	tables  int   // tables of the example of fifty that a plan looks at, the first of its map
	fifty   int64 // rows of each of them
	rounds  int   // how often what takes seconds is measured; the median counts
}

// fullSizes are what the aims speak of, quickSizes a run that only shows that
// everything works.
func fullSizes() sizes {
	return sizes{read: 1_000_000, reads: 5, starts: 15, batch: 2_000_000, large: 10_000_000, changes: 300_000, table: 1_000_000, applied: 100_000, commits: 9, tables: 50, fifty: 1_000, rounds: 3}
}

func quickSizes() sizes {
	return sizes{read: 2_000, reads: 2, starts: 2, batch: 5_000, large: 20_000, changes: 3_000, table: 5_000, applied: 1_000, commits: 2, tables: 5, fifty: 2, rounds: 2}
}

// bench is one run.
type bench struct {
	out    io.Writer
	root   string // of the repository
	binary string // pipectl
	self   string // this program, which also is the simulator
	dir    string // everything that is written
	size   sizes

	figures []figure
	notes   []string
	idle    map[string]float64 // peak memory without work
}

func (b *bench) add(f figure) {
	b.figures = append(b.figures, f)
	fmt.Fprintf(b.out, "  %s: %s\n", f.name, strings.TrimRight(f.ours+"  "+f.ratio, " "))
}

// note is said after the table.
func (b *bench) note(format string, args ...any) {
	b.notes = append(b.notes, fmt.Sprintf(format, args...))
}

// parts are what -only chooses from, in the order of the table.
func (b *bench) parts() []struct {
	name string
	run  func(context.Context) error
} {
	return []struct {
		name string
		run  func(context.Context) error
	}{
		{"simulator", b.simulated}, {"start", b.started}, {"read", b.read}, {"append", b.appendRows}, {"merge", b.merge},
		{"bronze", b.bronze}, {"silver", b.silver}, {"watch", b.visible}, {"plan", b.planned}, {"memory", b.memory}, {"reference", b.reference},
	}
}

// run measures the parts whose name matches and prints the table.
func (b *bench) run(ctx context.Context, only *regexp.Regexp) error {
	if err := b.settle(ctx); err != nil {
		return fmt.Errorf("a run without work: %w", err)
	}
	var failed []error
	for _, part := range b.parts() {
		if !only.MatchString(part.name) {
			continue
		}
		fmt.Fprintf(b.out, "%s\n", part.name)
		if err := part.run(ctx); err != nil {
			if ctx.Err() != nil {
				return err
			}
			fmt.Fprintf(b.out, "  failed: %v\n", err)
			failed = append(failed, fmt.Errorf("%s: %w", part.name, err))
		}
	}
	fmt.Fprintln(b.out)
	if err := printTable(b.out, b.figures); err != nil {
		return err
	}
	for _, n := range b.notes {
		fmt.Fprintln(b.out, n)
	}
	return errors.Join(failed...)
}

func main() {
	if kind := os.Getenv(simulatorVariable); kind != "" {
		exit(serve(kind, os.Stdin, os.Stdout))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	exit(start(ctx, os.Args[1:], os.Stdout))
}

func exit(err error) {
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func start(ctx context.Context, args []string, out io.Writer) (err error) {
	b := &bench{out: out, size: fullSizes()}
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.StringVar(&b.root, "root", ".", "`folder` of the repository")
	fs.StringVar(&b.binary, "pipectl", "", "the program to measure")
	dir := fs.String("dir", "", "`folder` for everything that is written (default: a new one, removed at the end)")
	only := fs.String("only", "", "`pattern` of the parts to measure: simulator start read append merge bronze silver watch plan memory reference")
	quick := fs.Bool("quick", false, "few rows: shows that everything works, measures nothing")
	for _, n := range []struct {
		to         *int64
		name, what string
	}{
		{&b.size.batch, "batch", "rows appended at once"}, {&b.size.large, "large", "rows of the table that is merged into"},
		{&b.size.changes, "changes", "change rows into bronze"}, {&b.size.table, "table", "rows of silver"}, {&b.size.applied, "applied", "change rows into silver"},
	} {
		fs.Int64Var(n.to, n.name, *n.to, n.what)
	}
	if err := fs.Parse(args); err != nil {
		return err
	}
	if *quick {
		b.size = quickSizes()
	}
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	if b.binary, err = filepath.Abs(b.binary); err != nil {
		return err
	}
	if b.dir = *dir; b.dir == "" {
		if b.dir, err = os.MkdirTemp("", "pipectl-bench-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	}
	return b.run(ctx, pattern)
}
