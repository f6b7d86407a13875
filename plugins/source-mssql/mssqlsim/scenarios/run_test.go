package scenarios

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/client"
)

// run is a scenario that runs in a database of its own.
type run struct {
	server   target
	database string
	sessions map[string]*session
	current  *session
	names    names
	fence    int // rows of the table that tells how far capture is
}

// session is one connection.
type session struct {
	id   int
	db   *sql.DB
	conn *sql.Conn
	// pending is a batch that waits: where its outcome comes.
	pending chan outcome
}

// notUnderstood is the error of what the simulator does not know.
const notUnderstood = 50001

// errRefused ends a scenario where the simulator does not go on.
var errRefused = errors.New("the simulator refuses the batch")

// outcome is what a batch answered.
type outcome struct {
	results []result
	err     error
}

// result is one result set.
type result struct {
	columns []string
	rows    [][]string
}

func TestScenariosOnTheSimulator(t *testing.T) {
	t.Parallel()
	runAll(t, simulator(t))
}

func TestScenariosOnARealServer(t *testing.T) {
	t.Parallel()
	runAll(t, realServer(t))
}

func runAll(t *testing.T, server target) {
	files, err := filepath.Glob(filepath.Join("*", "*.sql"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 60 {
		t.Errorf("%d scenarios", len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.ToSlash(file), ".sql"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s, err := parse(string(text))
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			r := &run{server: server, database: server.makeDatabase(t), sessions: map[string]*session{}, names: names{}}
			t.Cleanup(r.close)
			if err := r.enter(t.Context(), "1"); err != nil {
				t.Fatal(err)
			}
			for _, step := range s.steps {
				err := r.do(t.Context(), step)
				if errors.Is(err, errRefused) {
					t.Skipf("%s:%d: the simulator refuses this, as it is known to; the rest is for a real server", file, step.line)
				}
				if err != nil {
					t.Fatalf("%s:%d: %v\n%s", file, step.line, err, step.sql)
				}
			}
			for name, s := range r.sessions {
				if s.pending != nil {
					t.Fatalf("%s: the batch that waits in session %s has no -- ends", file, name)
				}
			}
		})
	}
}

func (r *run) close() {
	for _, s := range r.sessions {
		_ = s.conn.Close()
		_ = s.db.Close()
	}
}

// enter makes a session the current one; it is opened when there is none of the name.
func (r *run) enter(ctx context.Context, name string) error {
	if r.current = r.sessions[name]; r.current != nil {
		return nil
	}
	login := ""
	if l, ok := strings.CutPrefix(name, "as "); ok {
		login = r.database + "_" + l
	}
	s, err := connect(ctx, r.server.dsn(r.database, login))
	if err != nil {
		return fmt.Errorf("opening session %s: %w", name, err)
	}
	r.sessions[name], r.current = s, s
	return nil
}

func connect(ctx context.Context, dsn string) (*session, error) {
	db, err := client.Open(dsn)
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s := &session{db: db, conn: conn}
	if err := conn.QueryRowContext(ctx, "SELECT @@SPID").Scan(&s.id); err != nil {
		return nil, errors.Join(err, conn.Close(), db.Close())
	}
	return s, nil
}

func (r *run) do(ctx context.Context, s step) error {
	switch s.does {
	case runCapture:
		return r.capture(ctx)
	case writeIdle:
		return r.idle(ctx)
	case passTime:
		return r.server.pass(ctx, s.wait)
	case makeLogin:
		return r.login(ctx, s.arg)
	case switchSession:
		return r.enter(ctx, s.arg)
	case endBatch:
		if r.current.pending == nil {
			return fmt.Errorf("no batch waits in this session")
		}
		defer func() { r.current.pending = nil }()
		select {
		case got := <-r.current.pending:
			return r.check(s, got)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if r.current.pending != nil {
		return fmt.Errorf("the session has a batch that waits")
	}
	text := strings.NewReplacer("$(DB)", r.database, "$(PASSWORD)", loginPassword).Replace(s.sql)
	switch {
	case s.refused && r.server.simulated:
		if err := checkError([]int32{notUnderstood}, r.current.batch(ctx, text).err); err != nil {
			return fmt.Errorf("the simulator understands this by now; the line -- refused can go: %w", err)
		}
		return errRefused
	case s.waits:
		return r.start(ctx, text)
	case s.eventually:
		return r.until(ctx, func() error { return r.check(s, r.current.batch(ctx, text)) })
	}
	return r.check(s, r.current.batch(ctx, text))
}

// until repeats fn until it succeeds, as long as the server may take; then its error is the scenario's.
func (r *run) until(ctx context.Context, fn func() error) error {
	limited, cancel := context.WithTimeout(ctx, r.server.limit)
	defer cancel()
	for {
		err := fn()
		if err == nil {
			return nil
		}
		if limited.Err() != nil || r.server.polling(limited, r.database) != nil {
			return fmt.Errorf("not within %s: %w", r.server.limit, err)
		}
	}
}

// start runs a batch in the background and comes back when it waits for another session.
func (r *run) start(ctx context.Context, text string) error {
	s, done := r.current, make(chan outcome, 1)
	go func() { done <- s.batch(ctx, text) }()
	s.pending = done
	watch, err := r.admin(ctx)
	if err != nil {
		return err
	}
	for {
		select {
		case got := <-done:
			s.pending = nil
			if got.err != nil {
				return fmt.Errorf("the batch does not wait: %w", got.err)
			}
			return fmt.Errorf("the batch does not wait\n%s", show(got.results))
		default:
		}
		var n int
		if err := watch.conn.QueryRowContext(ctx, fmt.Sprintf("SELECT COUNT(*) FROM sys.dm_exec_requests WHERE session_id = %d AND blocking_session_id <> 0", s.id)).Scan(&n); err != nil || n > 0 {
			return err
		}
	}
}

// batch runs T-SQL and reads all it answers, as text.
func (s *session) batch(ctx context.Context, text string) (out outcome) {
	rows, err := s.conn.QueryContext(ctx, text)
	if err != nil {
		return outcome{err: err}
	}
	defer func() { out.err = errors.Join(out.err, rows.Close()) }()
	for {
		types, err := rows.ColumnTypes()
		if err != nil {
			return outcome{out.results, err}
		}
		var res result
		for _, c := range types {
			res.columns = append(res.columns, c.Name())
		}
		vals, at := make([]any, len(types)), make([]any, len(types))
		for i := range vals {
			at[i] = &vals[i]
		}
		for rows.Next() {
			if err := rows.Scan(at...); err != nil {
				return outcome{out.results, err}
			}
			var row []string
			for i, v := range vals {
				row = append(row, cell(v, types[i].DatabaseTypeName()))
			}
			res.rows = append(res.rows, row)
		}
		if len(types) > 0 {
			out.results = append(out.results, res)
		}
		if err := rows.Err(); err != nil {
			return outcome{out.results, err}
		}
		if !rows.NextResultSet() {
			return outcome{out.results, rows.Err()}
		}
	}
}

// check compares what a batch answered with what is expected. Names that only a failed comparison saw are forgotten.
func (r *run) check(s step, got outcome) error {
	if err := checkError(s.errors, got.err); err != nil {
		return err
	}
	if len(got.results) != len(s.expects) {
		return fmt.Errorf("%d results, %d are expected\n%s", len(got.results), len(s.expects), show(got.results))
	}
	for i, want := range s.expects {
		names, err := want.match(r.names, got.results[i])
		if err != nil {
			return fmt.Errorf("the table of line %d: %w\nthe result is:\n%s", want.line, err, show(got.results[i:i+1]))
		}
		r.names = names
	}
	return nil
}

func checkError(want []int32, err error) error {
	var e mssql.Error
	switch {
	case err == nil && len(want) == 0:
		return nil
	case err == nil:
		return fmt.Errorf("no error, %d is expected", want)
	case len(want) == 0 || !errors.As(err, &e):
		return err
	}
	var all []int32
	for _, x := range append(e.All, e) {
		all = append(all, x.Number)
	}
	for _, n := range want {
		if !slices.Contains(all, n) {
			return fmt.Errorf("the errors %d have no %d: %w", all, n, err)
		}
	}
	return nil
}

func show(results []result) string {
	var b strings.Builder
	for _, res := range results {
		b.WriteString("-- expect " + strings.Join(res.columns, " | ") + "\n")
		for _, row := range res.rows {
			b.WriteString("--   " + strings.Join(row, " | ") + "\n")
		}
		if len(res.rows) == 0 {
			b.WriteString("--   " + noRows + "\n")
		}
	}
	return b.String()
}
