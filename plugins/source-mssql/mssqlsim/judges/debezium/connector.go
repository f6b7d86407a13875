package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// connector is Debezium's, running in a process of Java.
type connector struct {
	cmd   *exec.Cmd
	stdin io.Closer // it works until this ends
	lines *bufio.Scanner
	types map[string]func(any) (string, error) // forms of the columns of all types
}

func (j *judge) connect(ctx context.Context, database, state string) (*connector, error) {
	password, _ := j.server.User.Password()
	args := append(j.java[1:len(j.java):len(j.java)],
		"--host="+j.server.Hostname(), "--port="+j.server.Port(), "--user="+j.server.User.Username(), "--password="+password,
		"--database="+database, "--tables=dbo.orders,dbo.lines,dbo."+typesTable, "--encrypt="+j.encrypt, "--ca="+j.ca, "--state="+state)
	c := &connector{types: j.types.theirs(), cmd: exec.CommandContext(ctx, j.java[0], args...)}
	c.cmd.Stderr = j.log
	stdout, err := c.cmd.StdoutPipe()
	if err == nil {
		c.stdin, err = c.cmd.StdinPipe()
	}
	if err == nil {
		err = c.cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("starting Debezium: %w", err)
	}
	c.lines = bufio.NewScanner(stdout)
	c.lines.Buffer(nil, 1<<20)
	return c, nil
}

// next is the next event; an error when Debezium has ended.
func (c *connector) next() (event, error) {
	if !c.lines.Scan() {
		return event{}, errors.Join(errors.New("the connector has ended; its log says why"), c.lines.Err())
	}
	return decode(c.lines.Bytes(), c.types)
}

func (c *connector) close() error {
	_ = c.stdin.Close()
	for c.lines.Scan() { // what comes before it notices
		continue
	}
	if err := c.cmd.Wait(); err != nil {
		return fmt.Errorf("ending Debezium: %w", err)
	}
	return nil
}

// decode reads a line of judge.Debezium; types has the forms of the table of all types.
func decode(line []byte, types map[string]func(any) (string, error)) (event, error) {
	var l struct {
		Snapshot any            `json:"snapshot"`
		Table    string         `json:"table"`
		Commit   string         `json:"commit_lsn"`
		Seq      string         `json:"change_lsn"`
		Op       string         `json:"op"`
		Before   map[string]any `json:"before"`
		After    map[string]any `json:"after"`
	}
	if err := readJSON(line, &l); err != nil {
		return event{}, err
	}
	e := event{table: l.Table, op: l.Op, last: l.Snapshot == "last", commit: strings.ReplaceAll(l.Commit, ":", ""), seq: strings.ReplaceAll(l.Seq, ":", "")}
	form := form
	if e.table == typesTable {
		form = types
	}
	var err error
	if e.before, err = newImage(l.Before, form); err == nil {
		e.after, err = newImage(l.After, form)
	}
	if err != nil {
		return event{}, fmt.Errorf("reading %.500s: %w", line, err)
	}
	return e, nil
}

// form turns values from Debezium's form into that of `pipectl tail -json` (Debezium connector for SQL Server: data type
// mappings, with time.precision.mode adaptive). Columns that are not here have the same in both.
var form = map[string]func(any) (string, error){
	"placed_at":  instant(time.Microsecond, "2006-01-02T15:04:05.000000"),
	"changed_at": instant(time.Millisecond, "2006-01-02T15:04:05.000000"),
	"old_time":   instant(time.Millisecond, "2006-01-02T15:04:05.000000"),
	"due":        instant(24*time.Hour, time.DateOnly),
	"at_door":    instant(time.Nanosecond, "15:04:05.000000000"),
	"seen":       zoned,
	"photo":      hexadecimal,
}

// instant reads a number of units since 1970.
func instant(unit time.Duration, layout string) func(any) (string, error) {
	return func(v any) (string, error) {
		n, ok := v.(json.Number)
		if !ok {
			return "", fmt.Errorf("%v is no number of %s", v, unit)
		}
		units, err := n.Int64()
		return time.Unix(0, 0).UTC().Add(time.Duration(units) * unit).Format(layout), err
	}
}

func zoned(v any) (string, error) {
	t, err := time.Parse(time.RFC3339Nano, fmt.Sprint(v))
	return t.UTC().Format("2006-01-02T15:04:05.000000Z"), err
}

func hexadecimal(v any) (string, error) {
	b, err := base64.StdEncoding.DecodeString(fmt.Sprint(v))
	return hex.EncodeToString(b), err
}
