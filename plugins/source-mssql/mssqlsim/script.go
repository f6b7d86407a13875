package mssqlsim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// scriptBatch is what stands between two lines GO of a script.
type scriptBatch struct {
	text  string
	line  int // of the script, that it begins with; from 1
	times int // how often it runs: GO n
}

// runFile runs the batches of a file in one session, as sqlcmd does: what USE and SET say holds for those that follow.
func (d *Database) runFile(ctx context.Context, path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading T-SQL: %w", err)
	}
	list, err := batches(string(data))
	if err != nil {
		return fmt.Errorf("%s, %w", path, err)
	}
	sess, err := d.server.cdc.NewSession("sa", d.name)
	if err != nil {
		return err
	}
	defer sess.Close()
	for i, b := range list {
		for range b.times {
			out := &discard{}
			err := tsql.Exec(ctx, sess, tsql.Request{SQL: b.text}, false, out)
			if err == nil {
				err = out.err
			}
			if err == nil {
				continue
			}
			line := b.line
			var e *sqltype.Error
			if errors.As(err, &e) && e.Line > 0 && e.Procedure == "" {
				line += int(e.Line) - 1
			}
			number := ""
			if e != nil {
				number = fmt.Sprintf("error %d: ", e.Number)
			}
			return fmt.Errorf("%s, line %d (batch %d): %s%w", path, line, i+1, number, err)
		}
	}
	if sess.TranCount() > 0 {
		return fmt.Errorf("%s ends within a transaction, whose changes would be lost: end it with COMMIT or ROLLBACK", path)
	}
	return nil
}

// batches cuts a script at lines that hold GO, as SQL Server's tools do (Microsoft: SQL Server Utilities Statements - GO).
// A line within a text, a quoted name or a comment separates nothing. Commands of sqlcmd are refused.
func batches(script string) (out []scriptBatch, err error) {
	var b strings.Builder
	begin, n := 1, 0
	open := scriptState{}
	for line := range strings.Lines(script) {
		n++
		word := strings.TrimSpace(line)
		if open.end == "" {
			if strings.HasPrefix(word, ":") || strings.HasPrefix(word, "!!") {
				return nil, fmt.Errorf("line %d: %q is a command of sqlcmd; a script here holds T-SQL and lines GO only", n, strings.Fields(word)[0])
			}
			times, is, err := separator(word)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			if is {
				out = append(out, scriptBatch{b.String(), begin, times})
				b.Reset()
				begin = n + 1
				continue
			}
		}
		open.read(line)
		b.WriteString(line)
	}
	return append(out, scriptBatch{b.String(), begin, 1}), nil
}

// separator reads GO and GO n, with or without a comment behind it.
func separator(line string) (times int, is bool, err error) {
	line, _, _ = strings.Cut(line, "--")
	words := strings.Fields(line)
	if len(words) == 0 || !strings.EqualFold(words[0], "GO") {
		return 0, false, nil
	}
	if len(words) == 1 {
		return 1, true, nil
	}
	times, err = strconv.Atoi(words[1])
	if err != nil || times < 1 || len(words) > 2 { // a positive integer, as the page has it
		return 0, false, fmt.Errorf("%q: behind GO stands nothing but how often the batch is to run", line)
	}
	return times, true, nil
}

// scriptState is what a place of a script is within: a text, a quoted name, a comment, or nothing.
type scriptState struct {
	end   string // of it; "" for nothing
	depth int    // of comments within comments
}

// read goes over a line.
func (s *scriptState) read(line string) {
	for line != "" {
		rest := line[1:]
		switch {
		case s.end == "*/" && strings.HasPrefix(line, "/*"):
			s.depth++
			rest = line[2:]
		case s.end == "*/" && strings.HasPrefix(line, "*/"):
			if s.depth--; s.depth == 0 {
				s.end = ""
			}
			rest = line[2:]
		case s.end == "*/":
		case s.end != "":
			if line[:1] == s.end { // one that is doubled opens the text again at once
				s.end = ""
			}
		case strings.HasPrefix(line, "--"):
			return
		case strings.HasPrefix(line, "/*"):
			s.end, s.depth, rest = "*/", 1, line[2:]
		case line[0] == '\'' || line[0] == '"':
			s.end = line[:1]
		case line[0] == '[':
			s.end = "]"
		}
		line = rest
	}
}
