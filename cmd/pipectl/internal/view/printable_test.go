package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/run"
)

// hostile is a name as another program may give one: it would take a line of the
// terminal back, paint it and begin another.
const hostile = "a\x1b[1A\x1b[2K\x1b[31mb\nc\td\x00\u202ee"

// escaped is how it is shown.
const escaped = `a\x1b[1A\x1b[2K\x1b[31mb\nc\td\x00\u202ee`

// Whatever names and texts hold, a line stays a line, and none of them reaches the
// terminal but as text.
func TestNamesReachATerminalAsText(t *testing.T) {
	t.Parallel()
	stream := addr.New(addr.Stream, "orders")
	range1 := &diag.Range{Filename: hostile, Start: diag.Pos{Line: 3}}
	message := diag.Diagnostic{Severity: diag.Error, Code: "x.y", Summary: "no " + hostile, Detail: "because " + strings.ReplaceAll(hostile, "\n", ""), Context: hostile, Subject: range1}
	schema := arrow.NewSchema([]arrow.Field{{Name: hostile, Type: arrow.BinaryTypes.String, Metadata: arrow.NewMetadata([]string{"comment"}, []string{hostile})}}, nil)
	for name, c := range map[string]struct {
		show  func(*Streams)
		lines int
	}{
		"status": {func(s *Streams) {
			_ = s.Status([]StatusRow{{Address: hostile, Table: hostile, Position: hostile, LastError: hostile, Lost: "l" + hostile, Astray: "a" + hostile,
				Checks: []CheckState{{Address: hostile, Outcome: CheckFailed, Summary: hostile}}}}, time.Now())
		}, 2},
		"final": {func(s *Streams) { _ = s.Final([]FinalRow{{Table: hostile, Reason: hostile, Version: -1}}, time.Now()) }, 1},
		"plan": {func(s *Streams) {
			_ = s.Plan(&plan.Plan{Config: hostile, Places: []plan.Place{{Display: hostile, NoState: hostile}},
				Tables:  []plan.Table{{Ref: plugin.TableRef{Name: hostile}, Action: plugin.TableAlter, Changes: []string{hostile}}},
				Steps:   []plan.Step{{Address: stream, Detail: []string{hostile, hostile}, Kind: plan.Changes}},
				Removed: []plan.Removed{{Address: stream, Target: hostile}}}, "pipectl apply "+hostile)
		}, 15},
		"message": {func(s *Streams) {
			s.Diagnostics(diag.List{message}, func(diag.Range) string { return strings.ReplaceAll(hostile, "\t", "") })
		}, 5},
		"run": {func(s *Streams) {
			r := s.NewRun(nil, time.Now)
			r.Event(run.Event{Kind: run.TableReady, Table: &plan.Table{Ref: plugin.TableRef{Name: hostile}, Action: plugin.TableCreate}})
			r.Event(run.Event{Kind: run.StepStarted, Address: stream, Step: &run.StepResult{Kind: plan.Changes}})
			r.logged[stream] = time.Time{}
			r.Event(run.Event{Kind: run.StepProgress, Address: stream, Stage: hostile, Batch: -1})
			r.Event(run.Event{Kind: run.StepFailing, Address: stream, Step: &run.StepResult{Diagnostics: diag.List{message}}})
			r.Event(run.Event{Kind: run.StepFinding, Address: stream, Finding: &plugin.Finding{Kind: plugin.FindingMismatch, Key: hostile, Detail: hostile, Columns: []string{hostile}}})
		}, 5},
		"show": {func(s *Streams) {
			_ = s.Show(Item{Address: hostile, File: hostile, Arguments: []Argument{{Name: hostile, Value: hostile}}})
		}, 2},
		"plugins": {func(s *Streams) { _ = s.Plugins([]PluginRow{{Name: hostile, Source: hostile}}) }, 1},
		"lock":    {func(s *Streams) { _ = s.Released([]ReleasedLock{{Name: hostile, Host: hostile}}) }, 1},
		"table": {func(s *Streams) {
			_ = s.Table(plugin.TableState{Schema: schema, Description: hostile, Properties: map[string]string{hostile: hostile}, Writable: hostile})
		}, 12},
		"history": {func(s *Streams) { _ = s.History([]plugin.Commit{{Operation: hostile, UserMetadata: hostile}}) }, 2},
		"rows": {func(s *Streams) {
			b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
			defer b.Release()
			b.Field(0).(*array.StringBuilder).Append(hostile)
			batch := b.NewRecordBatch()
			defer batch.Release()
			_, _ = s.Rows(0).Batch(batch)
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			c.show(&Streams{Out: &out, Err: &out})
			text := out.String()
			if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && unicode.IsControl(r) || r == '\u202e' }); i >= 0 {
				t.Errorf("as it is: %q", text)
			}
			if !strings.Contains(text, escaped) && name != "rows" {
				t.Errorf("it does not say what the name is: %s", text)
			}
			if n := strings.Count(text, "\n"); n != c.lines {
				t.Errorf("%d lines, want %d: %s", n, c.lines, text)
			}
			out.Reset()
			c.show(&Streams{Out: &out, Err: &out, JSON: true})
			for line := range strings.Lines(out.String()) {
				if name != "lock" && !json.Valid([]byte(line)) {
					t.Errorf("no JSON: %s", line)
				}
			}
		})
	}
}

// Text of a file keeps its tabs and line ends, so that a patch can be made of it.
func TestTextOfAFileKeepsItsTabsAndLineEnds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"-\ta = 1\n+  a = 1\n": "-\ta = 1\n+  a = 1\n",
		"-\ta = 1\r\n\r\n\n":   "-\ta = 1\r\n\r\n\n",
		"a\rb\r\r\n":           "a\\rb\\r\r\n",
		"a\r":                  `a\r`,
		"\x1b[2K\u202e\xff\n":  `\x1b[2K\u202e\xff` + "\n",
		"no end":               "no end",
		"":                     "",
	} {
		var out bytes.Buffer
		(&Streams{Out: &out}).Text(text)
		if out.String() != want {
			t.Errorf("%q is %q, want %q", text, out.String(), want)
		}
	}
}

// The characters of Unicode Standard Annex #9 that turn the direction of text are
// shown as escapes, all of them.
func TestNoCharacterTurnsTheDirectionOfText(t *testing.T) {
	t.Parallel()
	for _, r := range []rune{0x061c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069} {
		if got, want := printable("a"+string(r)), fmt.Sprintf(`a\u%04x`, r); got != want {
			t.Errorf("%q, want %s", got, want)
		}
	}
}
