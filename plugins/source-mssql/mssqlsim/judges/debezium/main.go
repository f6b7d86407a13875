// Command debezium compares what Debezium's SQL Server connector makes of a live workload with what pipectl reads of the
// same changes: LSN pairs, operations, before and after images, and their order. It also holds that Debezium's snapshot
// and its changes fit: a change begins from the row that the ones before it left.
//
// It makes a database of its own on the server, judge_ENCRYPTION, and leaves it there to be looked at. It must not know that
// the server is a simulator.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	_ "github.com/microsoft/go-mssqldb"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// judge is one run.
type judge struct {
	server  *url.URL
	java    []string // the command that runs judge.Debezium
	pipectl string
	encrypt string // of Debezium's connections
	ca      string
	types   *types
	changes int
	wait    time.Duration
	log     io.Writer // what Debezium logs
}

// run is the program: 0 when both say the same, 1 when not, 2 for wrong arguments. It prints one JSON object a line, for
// each test, then a summary.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("debezium", flag.ContinueOnError)
	fs.SetOutput(stderr)
	server := fs.String("server", "", "`URL` of the server: sqlserver://user:password@host:port?...")
	classes := fs.String("classes", "", "class `path` of the judges in Java")
	list := fs.String("values", "", "`file` with the values of all types")
	j := judge{log: stderr}
	fs.StringVar(&j.pipectl, "pipectl", "", "`program` pipectl")
	fs.StringVar(&j.encrypt, "encrypt", "false", "encryption of Debezium's connections: false, true or strict")
	fs.StringVar(&j.ca, "ca", "", "`file` with the server's certificate, for strict")
	fs.IntVar(&j.changes, "changes", 10_000, "rows that the workload changes")
	fs.DurationVar(&j.wait, "wait", 5*time.Minute, "longest wait for Debezium")
	if err := fs.Parse(args); err != nil {
		return 2
	}
	var err error
	if j.server, err = url.Parse(*server); err != nil || j.server.Host == "" || *classes == "" || j.pipectl == "" || *list == "" || j.changes < 100 {
		fmt.Fprintln(stderr, "debezium: -server, a URL, -classes, -pipectl and -values are needed; -changes is at least 100")
		return 2
	}
	if j.types, err = newTypes(*list); err != nil {
		fmt.Fprintln(stderr, "debezium:", err)
		return 2
	}
	j.java = []string{"java", "-cp", *classes, "judge.Debezium"}
	out := json.NewEncoder(stdout)
	out.SetEscapeHTML(false)
	name := "changes with encryption " + j.encrypt
	detail, err := j.run(ctx)
	if err != nil {
		_ = out.Encode(result{Judge: "debezium", Test: name, Detail: err.Error()})
		return 1
	}
	if err := out.Encode(result{Judge: "debezium", Test: name, OK: true, Detail: detail}); err != nil {
		fmt.Fprintln(stderr, "debezium:", err)
		return 1
	}
	return 0
}

// result is a line of the output.
type result struct {
	Judge  string `json:"judge"`
	Test   string `json:"test"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

func (j *judge) run(ctx context.Context) (_ string, err error) {
	ctx, cancel := context.WithTimeout(ctx, j.wait)
	defer cancel()
	dir, err := os.MkdirTemp("", "debezium-judge-")
	if err != nil {
		return "", fmt.Errorf("making a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	database := "judge_" + j.encrypt
	db, err := j.create(ctx, database)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	w := newWorkload(db, j.changes)
	if err := w.load(ctx); err != nil {
		return "", err
	}
	if err := j.types.load(ctx, w); err != nil {
		return "", err
	}
	w.loaded += rowsOfSnapshot
	c, err := j.connect(ctx, database, filepath.Join(dir, "debezium"))
	if err != nil {
		return "", err
	}
	theirs, err := j.follow(ctx, c, w)
	if err := errors.Join(err, c.close()); err != nil {
		return "", err
	}
	snapshot, theirs := split(theirs)
	if len(snapshot) != w.loaded {
		return "", fmt.Errorf("the snapshot of Debezium has %d rows, %d were loaded", len(snapshot), w.loaded)
	}
	ours, err := j.tail(ctx, dir, database)
	if err != nil {
		return "", err
	}
	if err := compare(ours, theirs); err != nil {
		return "", err
	}
	if err := continues(snapshot, theirs); err != nil {
		return "", err
	}
	if err := j.types.check(slices.Concat(snapshot, theirs)); err != nil {
		return "", err
	}
	// Both are the same by now; only pipectl tells the capture instance.
	seen := count(ours)
	if err := seen.complete(j.changes); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d rows of a snapshot, then %s; %d values of all types in both, without %s", len(snapshot), seen,
		len(j.types.values), strings.Join(j.types.left, ", ")), nil
}

// create makes the database and opens it.
func (j *judge) create(ctx context.Context, name string) (db *sql.DB, err error) {
	master, err := sql.Open("sqlserver", j.server.String())
	if err != nil {
		return nil, fmt.Errorf("opening the server: %w", err)
	}
	defer func() { err = errors.Join(err, master.Close()) }()
	for _, statement := range []string{"CREATE DATABASE " + name, "ALTER DATABASE " + name + " SET ALLOW_SNAPSHOT_ISOLATION ON"} {
		if _, err := master.ExecContext(ctx, statement); err != nil {
			return nil, fmt.Errorf("%s: %w", statement, err)
		}
	}
	if db, err = sql.Open("sqlserver", j.url(name)); err != nil {
		return nil, fmt.Errorf("opening the database: %w", err)
	}
	return db, nil
}

func (j *judge) url(database string) string {
	u := *j.server
	q := u.Query()
	q.Set("database", database)
	u.RawQuery = q.Encode()
	return u.String()
}

// follow waits for the snapshot, runs the workload, and reads events up to its last change.
func (j *judge) follow(ctx context.Context, c *connector, w *workload) (all []event, err error) {
	working := false
	done := make(chan error, 1)
	defer func() {
		if working {
			err = errors.Join(err, <-done)
		}
	}()
	for {
		e, err := c.next()
		if err != nil {
			return nil, fmt.Errorf("after %d events: %w", len(all), err)
		}
		all = append(all, e)
		switch {
		case e.last && !working:
			working = true
			go func() { // ends when the statement in hand has been answered
				err := j.types.insert(ctx, w, 1+rowsOfSnapshot)
				if err == nil {
					err = w.run(ctx)
				}
				done <- err
			}()
		case e.table == "orders" && e.after[keyOf[e.table][0]] == lastKey:
			return all, nil
		}
	}
}
