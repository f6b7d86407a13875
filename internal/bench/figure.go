package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/pipectl/pipectl/core/quantity"
)

// figure is one line of the table at the end: what was measured, beside its
// baseline of the same run.
type figure struct {
	name string
	// ours and baseline in words, with their units.
	ours, baseline string
	// ratio says in words how the two compare, "" when there is none.
	ratio string
	// aim is what the project wants, "" when nothing is set.
	aim string
	// met tells whether the aim is met; without an aim it says nothing. It
	// never fails the run: figures of a busy or slow machine prove nothing.
	met bool
}

func (f figure) verdict() string {
	switch {
	case f.aim == "":
		return ""
	case f.met:
		return "yes"
	}
	return "no"
}

// printTable writes the figures in columns.
func printTable(w io.Writer, figures []figure) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "FIGURE\tOURS\tBASELINE OF THE SAME RUN\tRATIO\tAIM\tMET")
	for _, f := range figures {
		fmt.Fprintln(t, strings.Join([]string{f.name, f.ours, f.baseline, f.ratio, f.aim, f.verdict()}, "\t"))
	}
	return t.Flush()
}

// timed runs f and says how long it took.
func timed(f func() error) (time.Duration, error) {
	began := time.Now()
	err := f()
	return time.Since(began), err
}

// atLeast and atMost are the figures of a ratio with an aim.
func atLeast(f figure, ratio, aim float64, of string) figure {
	f.ratio, f.aim, f.met = fmt.Sprintf("%.2f of %s", ratio, of), fmt.Sprintf(">= %g", aim), ratio >= aim
	return f
}

func atMost(f figure, ratio, aim float64, of string) figure {
	f.ratio, f.aim, f.met = fmt.Sprintf("%.2f x %s", ratio, of), fmt.Sprintf("<= %g", aim), ratio <= aim
	return f
}

// rate is rows a second in words.
func rate(rows int64, seconds float64) string {
	return fmt.Sprintf("%s rows/s", quantity.Grouped(int64(float64(rows)/seconds)))
}

func seconds(s float64) string { return fmt.Sprintf("%.2f s", s) }
