package view

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"
)

// Streams are where a command writes.
type Streams struct {
	Out, Err io.Writer
	// JSON asks for the JSON form on Out.
	JSON bool
	// Terminal tells that Err is a terminal, so that lines may be rewritten.
	Terminal bool
	// Color allows colors on Out and Err.
	Color bool

	mu sync.Mutex
	// unwritten is the first error of a write to Out.
	unwritten error
}

// NewStreams returns the streams of a process: colors only on a terminal and
// unless NO_COLOR is set.
func NewStreams(out, err *os.File, noColor bool) *Streams {
	terminal := term.IsTerminal(int(err.Fd()))
	return &Streams{Out: out, Err: err, Terminal: terminal, Color: terminal && !noColor && term.IsTerminal(int(out.Fd()))}
}

// paint wraps text in a color when colors are allowed.
func (s *Streams) paint(code, text string) string {
	if !s.Color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

const (
	red    = "31"
	green  = "32"
	yellow = "33"
	bold   = "1"
)

// Printf writes to Out.
func (s *Streams) Printf(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprint(s.answer(), printableLines(fmt.Sprintf(format, args...)))
}

// Text writes text of the user's own files to Out. Tabs and line ends stay as they
// are, so that a patch can be made of it.
func (s *Streams) Text(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprint(s.answer(), printableText(text))
}

// Logf writes a line to Err.
func (s *Streams) Logf(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprint(s.Err, printableLines(fmt.Sprintf(format, args...)))
}

// WriteJSON writes one JSON document and a line end to Out.
func (s *Streams) WriteJSON(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err = fmt.Fprintf(s.answer(), "%s\n", data)
	return err
}

// columns writes rows with their cells aligned, two blanks between them.
func columns(w io.Writer, indent string, rows [][]string) {
	for _, row := range rows {
		for i, cell := range row {
			row[i] = printable(cell)
		}
	}
	aligned(w, indent, rows)
}

// aligned is columns of cells that are printable, and may be painted.
func aligned(w io.Writer, indent string, rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		b.WriteString(indent)
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-len([]rune(cell))+2))
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}
