package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

const (
	// keptLines is how many lines of standard error are kept, shownLines how
	// many of them a crash shows.
	keptLines  = 60
	shownLines = 12
	// maxLine bounds one kept line in bytes.
	maxLine = 2000
)

// tail keeps the last lines that a plugin wrote to standard error. It is an
// io.Writer that takes text in any pieces.
type tail struct {
	mask *mask

	mu      sync.Mutex
	partial []byte
	lines   []string
	// panicAt is the index in lines of the line that began a panic, -1 if none.
	panicAt int
}

func newTail(m *mask) *tail { return &tail{mask: m, panicAt: -1} }

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	rest := p
	for {
		line, after, found := bytes.Cut(rest, []byte{'\n'})
		if len(t.partial) < maxLine {
			t.partial = append(t.partial, line...)
		}
		if !found {
			return len(p), nil
		}
		t.add(string(t.partial))
		t.partial = t.partial[:0]
		rest = after
	}
}

func (t *tail) add(line string) {
	line = strings.TrimRight(line, "\r")
	if strings.TrimSpace(line) == "" {
		return
	}
	line = t.mask.text(readable(line))
	if len(line) > maxLine {
		line = line[:maxLine] + "…"
	}
	if t.panicAt < 0 && (strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")) {
		t.panicAt = len(t.lines)
	}
	t.lines = append(t.lines, line)
	// The beginning of a panic tells more than its end: it is kept.
	if len(t.lines) > keptLines && (t.panicAt < 0 || t.panicAt > 0) {
		t.lines = t.lines[1:]
		t.panicAt = max(t.panicAt-1, -1)
	} else if len(t.lines) > keptLines {
		t.lines = t.lines[:keptLines]
	}
}

// last returns what a crash shows: the beginning of a panic, else the last lines.
func (t *tail) last() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := t.lines
	if len(t.partial) > 0 {
		lines = append(slices.Clone(lines), t.mask.text(readable(string(t.partial))))
	}
	if t.panicAt >= 0 {
		return slices.Clone(lines[t.panicAt:min(len(lines), t.panicAt+shownLines)])
	}
	return slices.Clone(lines[max(0, len(lines)-shownLines):])
}

// readable turns a log line of hclog's JSON form into text.
func readable(line string) string {
	if !strings.HasPrefix(line, "{") {
		return line
	}
	var entry map[string]any
	if json.Unmarshal([]byte(line), &entry) != nil || entry["@message"] == nil {
		return line
	}
	out := fmt.Sprintf("[%v] %v", entry["@level"], entry["@message"])
	for _, key := range slices.Sorted(maps.Keys(entry)) {
		if !strings.HasPrefix(key, "@") {
			out += fmt.Sprintf(" %s=%v", key, entry[key])
		}
	}
	return out
}

// lineWriter hands whole lines to a function.
type lineWriter struct {
	mu      sync.Mutex
	partial []byte
	line    func(string)
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.partial = append(w.partial, p...)
	for {
		line, after, found := bytes.Cut(w.partial, []byte{'\n'})
		if !found {
			if len(w.partial) > 1<<16 { // a line without end is cut, not kept
				w.line(string(w.partial))
				w.partial = nil
			}
			return len(p), nil
		}
		w.line(string(line))
		w.partial = after
	}
}
