package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plan"
)

// codeColumn is where the code of a message ends.
const codeColumn = 86

// Excerpt gives the line of text that a range begins in, "" when unknown.
type Excerpt func(diag.Range) string

// Diagnostics writes messages to Err, or as JSON lines to Out:
//
//	Error: No source named "shpo"                     reference.unknown
//	  on shop.hcl line 21, in table "orders":
//	  21:   source = source.shpo
//	This configuration declares: shop. Did you mean source.shop?
func (s *Streams) Diagnostics(list diag.List, excerpt Excerpt) {
	if s.JSON {
		for _, d := range plan.Diagnostics(list) {
			// What Out does not take is told at the end of the command.
			_ = s.WriteJSON(struct {
				Type string `json:"type"`
				plan.JSONDiagnostic
			}{"diagnostic", d})
		}
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, d := range list {
		if i > 0 {
			fmt.Fprintln(s.Err)
		}
		s.diagnostic(s.Err, d, excerpt)
	}
}

// Meanwhile writes a message to Err for people, whatever the form of the answer that
// is to come.
func (s *Streams) Meanwhile(d diag.Diagnostic, excerpt Excerpt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.diagnostic(s.Err, d, excerpt)
}

func (s *Streams) diagnostic(w io.Writer, d diag.Diagnostic, excerpt Excerpt) {
	color := red
	if d.Severity == diag.Warning {
		color = yellow
	}
	lines := strings.Split(printableLines(d.Summary), "\n")
	head := d.Severity.String() + ": " + lines[0]
	pad := max(codeColumn-len([]rune(head))-len(d.Code), 2)
	if d.Code == "" {
		pad = 0
	}
	fmt.Fprintf(w, "%s: %s%s%s\n", s.paint(color, d.Severity.String()), lines[0], strings.Repeat(" ", pad), d.Code)
	for _, line := range lines[1:] {
		fmt.Fprintf(w, "  %s\n", line)
	}
	switch {
	case d.Subject != nil:
		where := fmt.Sprintf("  on %s line %d", d.Subject.Filename, d.Subject.Start.Line)
		if d.Context != "" {
			where += ", in " + d.Context
		}
		if a, err := addr.Parse(d.Address); err == nil && a.Keyed { // whose text is that of all instances
			where += " (" + d.Address + ")"
		}
		fmt.Fprintln(w, printable(where)+":")
		if excerpt != nil {
			if text := excerpt(*d.Subject); text != "" {
				fmt.Fprintf(w, "  %d: %s\n", d.Subject.Start.Line, escaping(text, "\t"))
			}
		}
	case d.Address != "":
		fmt.Fprintf(w, "  at %s\n", printable(d.Address))
	}
	if d.Detail != "" {
		fmt.Fprintln(w, printableLines(strings.TrimSpace(d.Detail)))
	}
}
