package scenarios

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// script is a scenario: what it stands on, and its steps.
type script struct {
	sources []string
	steps   []step
}

// step is one thing that a scenario does.
type step struct {
	line int
	does action
	arg  string // login's name, or the session that is switched to
	wait time.Duration

	// Of batches and of the ends of batches that wait:
	sql        string
	expects    []table
	errors     []int32
	waits      bool // goes on in the background: it is held up by another session
	eventually bool // is run again until it answers what is expected
	refused    bool // the simulator does not understand it, and says so
}

type action int

const (
	runBatch action = iota
	endBatch        // of a batch that waits, in the current session
	runCapture
	writeIdle
	passTime
	makeLogin
	switchSession
)

// table is an expected result.
type table struct {
	line      int
	columns   []string // by name; nil is all
	unordered bool
	rows      [][]string
}

// noRows is the row of a result that has none.
const noRows = "(no rows)"

// parse reads a scenario. What it does not understand is an error: a misspelt line would expect nothing.
func parse(text string) (*script, error) {
	p := &parser{script: &script{}}
	for i, line := range strings.Split(text, "\n") {
		p.line = i + 1
		if err := p.read(strings.TrimRight(line, " \t\r")); err != nil {
			return nil, fmt.Errorf("line %d: %w", p.line, err)
		}
	}
	if p.open() {
		return nil, fmt.Errorf("line %d: the last batch has no GO", p.line)
	}
	if len(p.script.sources) == 0 {
		return nil, fmt.Errorf(`no line -- source: "Microsoft: <title>, <section>" says where this is documented`)
	}
	return p.script, nil
}

type parser struct {
	script *script
	line   int
	sql    []string
	batch  step
	rows   bool // the line before is part of a table
}

// comment is a comment alone, which may also stand between batches.
var comment = regexp.MustCompile(`(?s)^(\s*/\*.*?\*/)*\s*$`)

// open tells whether a batch has begun that has not ended.
func (p *parser) open() bool {
	return !comment.MatchString(strings.Join(p.sql, "\n")) || p.batch.does == endBatch || p.batch.expects != nil || p.batch.errors != nil
}

func (p *parser) read(line string) error {
	rows := p.rows
	p.rows = false
	switch {
	case line == "GO":
		return p.end()
	case !strings.HasPrefix(line, "--"):
		if p.batch.expects != nil || p.batch.errors != nil {
			if line == "" {
				return nil
			}
			return fmt.Errorf("statements after what is expected of their batch; GO comes first")
		}
		open := p.open()
		if p.sql = append(p.sql, line); !open && p.open() {
			p.batch.line = p.line
		}
		return nil
	case strings.HasPrefix(line, "--   "):
		if !rows {
			return fmt.Errorf("a row belongs below -- expect")
		}
		p.rows = true
		return p.row(strings.TrimSpace(line[2:]))
	}
	word, rest, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(line, "--"), " "), " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "source:":
		return p.source(rest)
	case "seen:": // what was seen on a server and is not documented: a note
		return nil
	case "expect", "unordered":
		return p.expect(word, rest)
	case "error":
		for _, f := range strings.Fields(rest) {
			n, err := strconv.ParseInt(f, 10, 32)
			if err != nil {
				return fmt.Errorf("-- error: %q is not an error number", f)
			}
			p.batch.errors = append(p.batch.errors, int32(n))
		}
		if rest == "" {
			return fmt.Errorf("-- error without a number")
		}
		return nil
	case "waits":
		p.batch.waits = true
		return nil
	case "eventually":
		p.batch.eventually = true
		return nil
	case "refused":
		if rest != "by the simulator" {
			return fmt.Errorf("-- refused by the simulator is the whole line")
		}
		p.batch.refused = true
		return nil
	case "ends":
		p.batch.does, p.batch.line = endBatch, p.line
		return nil
	}
	if p.open() {
		return fmt.Errorf("-- %s inside a batch, or none of its lines", word)
	}
	s := step{line: p.line, arg: rest}
	switch word {
	case "capture":
		s.does = runCapture
	case "idle":
		s.does = writeIdle
	case "pass":
		d, err := time.ParseDuration(rest)
		if err != nil {
			return fmt.Errorf("-- pass: %w", err)
		}
		s.does, s.wait = passTime, d
	case "login":
		s.does = makeLogin
	case "as":
		s.does, s.arg = switchSession, "as "+rest
	case "session":
		s.does = switchSession
	default:
		return fmt.Errorf("-- %s is no line of a scenario; comments are written /* like this */", word)
	}
	if (s.does == makeLogin || s.does == switchSession) && rest == "" {
		return fmt.Errorf("-- %s without a name", word)
	}
	p.sql = nil
	p.script.steps = append(p.script.steps, s)
	return nil
}

// source takes the title of a page and its section.
func (p *parser) source(text string) error {
	s, err := strconv.Unquote(text)
	title, ok := strings.CutPrefix(s, "Microsoft: ")
	if err != nil || !ok || len(title) < 8 {
		return fmt.Errorf(`-- source: %s is not of the form "Microsoft: <title>, <section>"`, text)
	}
	p.script.sources = append(p.script.sources, s)
	return nil
}

func (p *parser) expect(word, columns string) error {
	t := table{line: p.line, unordered: word == "unordered"}
	if columns != "" {
		t.columns = cells(columns)
	}
	p.batch.expects = append(p.batch.expects, t)
	p.rows = true
	return nil
}

func (p *parser) row(text string) error {
	t := &p.batch.expects[len(p.batch.expects)-1]
	if text == noRows {
		t.rows = [][]string{}
		return nil
	}
	row := cells(text)
	if len(t.rows) > 0 && len(t.rows[0]) != len(row) || t.columns != nil && len(t.columns) != len(row) {
		return fmt.Errorf("the row %q has %d cells, which others have not", text, len(row))
	}
	t.rows = append(t.rows, row)
	return nil
}

// end is GO.
func (p *parser) end() error {
	b := p.batch
	if !p.open() {
		return fmt.Errorf("GO without a batch")
	}
	if b.line == 0 {
		return fmt.Errorf("something is expected of no statement")
	}
	if b.does == endBatch && !comment.MatchString(strings.Join(p.sql, "\n")) {
		return fmt.Errorf("-- ends stands alone: the statements are those of the batch that waits")
	}
	if b.waits && (b.expects != nil || b.errors != nil) {
		return fmt.Errorf("what a batch that waits answers is expected where it -- ends")
	}
	for _, t := range b.expects {
		if t.rows == nil {
			return fmt.Errorf("the table of line %d has no row; no rows are written %s", t.line, noRows)
		}
	}
	b.sql = strings.TrimSpace(strings.Join(p.sql, "\n"))
	p.script.steps = append(p.script.steps, b)
	p.sql, p.batch = nil, step{}
	return nil
}

// cells cuts a row at its bars, but not at those inside quotes.
func cells(row string) (out []string) {
	quoted, from := false, 0
	for i := range len(row) {
		switch row[i] {
		case '\'':
			quoted = !quoted
		case '|':
			if !quoted {
				out, from = append(out, strings.TrimSpace(row[from:i])), i+1
			}
		}
	}
	return append(out, strings.TrimSpace(row[from:]))
}
