package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const pipeline = `pipectl {
  name = "judge"
  required_plugins {
    mssql = { source = "pipectl/source-mssql" }
    delta = { source = "pipectl/sink-delta" }
  }
}
source "mssql" "judged" {
  url = env("JUDGED_MSSQL_URL")
}
sink "delta" "lake" {
  root = "./lake"
}
table "orders" {
  source = source.judged
  object = "dbo.orders"
}
table "lines" {
  source = source.judged
  object = "dbo.lines"
}
table "judged" {
  source = source.judged
  object = "dbo.judged"
}
stream "orders" {
  table  = table.orders
  to     = sink.lake
  target = "bronze.orders"
}
stream "lines" {
  table  = table.lines
  to     = sink.lake
  target = "bronze.lines"
}
stream "judged" {
  table  = table.judged
  to     = sink.lake
  target = "bronze.judged"
}
`

// tail is all changes of the tables as pipectl reads them, in the order of their LSNs.
func (j *judge) tail(ctx context.Context, dir, database string) ([]event, error) {
	if err := os.WriteFile(filepath.Join(dir, "judge.hcl"), []byte(pipeline), 0o600); err != nil {
		return nil, fmt.Errorf("writing a pipeline: %w", err)
	}
	var all []event
	for table := range keyOf {
		var stdout, stderr bytes.Buffer
		cmd := exec.CommandContext(ctx, j.pipectl, "tail", "stream."+table, "-json", "-max", "0", "judge.hcl")
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
		cmd.Env = append(os.Environ(), "JUDGED_MSSQL_URL="+j.url(database))
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("pipectl tail stream.%s: %w: %s", table, err, stderr.String())
		}
		var form map[string]func(any) (string, error)
		if table == typesTable {
			form = j.types.ours()
		}
		changes, err := readTail(table, &stdout, form)
		if err != nil {
			return nil, fmt.Errorf("reading what pipectl tail stream.%s prints: %w", table, err)
		}
		all = append(all, changes...)
	}
	slices.SortStableFunc(all, func(a, b event) int { return cmp.Or(cmp.Compare(a.commit, b.commit), cmp.Compare(a.seq, b.seq)) })
	return all, nil
}

// readTail reads rows of `pipectl tail -json`. An update is two of them, its images.
func readTail(table string, rows *bytes.Buffer, form map[string]func(any) (string, error)) (changes []event, err error) {
	var before *event
	sc := bufio.NewScanner(rows)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var row map[string]any
		if err := readJSON(sc.Bytes(), &row); err != nil {
			return nil, err
		}
		e := event{table: table, commit: lsn(row["_start_lsn"]), seq: lsn(row["_seqval"]), instance: fmt.Sprint(row["_capture_instance"])}
		op := fmt.Sprint(row["_operation"])
		for column := range row {
			if strings.HasPrefix(column, "_") { // pipectl's own
				delete(row, column)
			}
		}
		i, err := newImage(row, form)
		if err != nil {
			return nil, err
		}
		if (before != nil) != (op == "4") || before != nil && (before.commit != e.commit || before.seq != e.seq) {
			return nil, fmt.Errorf("the images of an update are not together: %s", sc.Text())
		}
		switch op { // of __$operation (Microsoft: cdc.<capture_instance>_CT)
		case "1":
			e.op, e.before = "d", i
		case "2":
			e.op, e.after = "c", i
		case "3":
			e.before = i
			before = &e
			continue
		case "4":
			e.op, e.before, e.after = "u", before.before, i
			before = nil
		default:
			return nil, fmt.Errorf("operation %s: %s", op, sc.Text())
		}
		changes = append(changes, e)
	}
	if before != nil {
		return nil, errors.New("the last update has no second image")
	}
	return changes, sc.Err()
}

func lsn(v any) string { return strings.ToLower(strings.TrimPrefix(fmt.Sprint(v), "0x")) }
