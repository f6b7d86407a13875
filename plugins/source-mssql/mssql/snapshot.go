package mssql

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

// Kinds of extents.
const (
	extentInt    = "int"
	extentKeyset = "keyset"
)

// extent is where the keys of a table lay when a snapshot was opened.
type extent struct {
	Kind string `json:"kind"`
	// Lo and Hi are the smallest and greatest integer key, Rows an estimate.
	Lo   *int64 `json:"lo,omitempty"`
	Hi   *int64 `json:"hi,omitempty"`
	Rows *int64 `json:"rows,omitempty"`
	// Max is the last key of a keyset.
	Max json.RawMessage `json:"max,omitempty"`
}

// target is a source table as snapshots and aggregates read it.
type target struct {
	resolved
	instances []captured
	shape     shape
	live      []liveColumn
	// keys are spelled as captured; cols is nil when the key cannot be cut,
	// for the reason given.
	keys   []string
	cols   []tsql.KeyColumn
	reason string
}

// target finds a table for a read of its rows. wanted are the key columns;
// none means the user's choice, else the unique index.
func (s *session) target(ctx context.Context, c *conn, cfg tableConfig, st *tableState, wanted []string) (target, error) {
	r, err := s.discover(ctx, c, cfg, st)
	if err != nil {
		return target{}, err
	}
	t := target{resolved: r}
	if t.instances, err = s.columns(ctx, c, st, r, false); err != nil {
		return target{}, err
	}
	if t.shape, err = s.shape(st, t.instances, cfg); err != nil {
		return target{}, err
	}
	if t.live, err = liveColumns(ctx, c, r.table); err != nil {
		return target{}, err
	}
	chosen := wanted
	if len(chosen) == 0 {
		chosen = cfg.chosenKeys()
	}
	if len(chosen) == 0 {
		chosen = r.reader().keys
	}
	ci := r.readerOf(t.instances)
	for _, k := range chosen {
		if col, ok := ci.find(k); ok {
			k = col.name
		}
		t.keys = append(t.keys, k)
	}
	cols, reason, ok := keyColumns(ci, t.live, t.keys)
	if ok {
		t.cols = cols
	} else {
		t.reason = reason
	}
	return t, nil
}

// isInteger reports whether the key is one integer column.
func (t target) isInteger() bool { return len(t.cols) == 1 && t.keyType().isInteger() }

// keyType is the type of the first key column.
func (t target) keyType() sqlType {
	if col, ok := t.readerOf(t.instances).find(t.keys[0]); ok {
		return col.sql
	}
	return sqlType{}
}

// snapshotKeyProblems says why snapshots cannot be cut on the columns that the
// user chose for that; none when they can, or when there is no such choice.
func snapshotKeyProblems(instances []captured, live []liveColumn, r resolved, cfg tableConfig) diag.List {
	if len(cfg.snapshotKeys) == 0 {
		return nil
	}
	ci := r.readerOf(instances)
	var list diag.List
	for i, k := range cfg.snapshotKeys {
		if _, ok := ci.find(k); !ok {
			d := unknownColumn(k, []captured{ci}).At(argSnapshotKeys, i)
			d.Code = plugin.CodeSnapshotKeys
			list = append(list, d)
		}
	}
	if list != nil {
		return list
	}
	if _, reason, ok := keyColumns(ci, live, cfg.snapshotKeys); !ok {
		return diag.List{diag.Errorf(diag.KindConfiguration, plugin.CodeSnapshotKeys, "Name captured columns of a type that SQL Server sorts, or leave snapshot_keys out.",
			"Snapshots of %s cannot be cut on %s: %s", cfg.label(), strings.Join(cfg.snapshotKeys, ", "), reason).At(argSnapshotKeys)}
	}
	return nil
}

// locking is how a read of the source table meets writers.
func (s *session) locking(isolation string, timeoutMillis int64) (tsql.Locking, error) {
	l := s.config.locking
	if isolation != "" {
		level, err := parseIsolation(isolation)
		if err != nil {
			return l, configError("isolation", `Write "read_committed" or "snapshot".`, "%s", err).Err()
		}
		l.Isolation = level
	}
	if timeoutMillis > 0 {
		l.TimeoutMillis = timeoutMillis
	}
	return l, nil
}

// sourceCall runs a planner call that also reads the source table, on a
// connection whose settings nobody inherits.
func (s *session) sourceCall(ctx context.Context, method string, cfg tableConfig, call func(*conn) error) error {
	err := s.retry.do(ctx, method, s.config.mask, func() error {
		c, err := s.pool.open(ctx)
		if err != nil {
			return err
		}
		defer s.pool.drop(c)
		err = call(c)
		if err != nil && (sqlNumber(err) == errSelectDenied || sqlNumber(err) == errColumnDenied) {
			return s.sourceGrant(ctx, c, cfg, err)
		}
		return err
	})
	return s.config.diagnose(err)
}

// sourceGrant is the error of a source table that the login may not read.
func (s *session) sourceGrant(ctx context.Context, c *conn, cfg tableConfig, err error) error {
	user := "[the login's user]"
	if r, ok, uErr := c.one(ctx, tsql.Database()); uErr == nil && ok {
		if q, qErr := tsql.Quote(r.text("login_user")); qErr == nil {
			user = q
		}
	}
	name := cfg.label()
	if cfg.instance == "" {
		name, _ = cfg.object.Quoted()
	}
	return diag.Errorf(diag.KindPermission, codeSourceGrant, fmt.Sprintf("GRANT SELECT ON %s TO %s lets it. The server says: %s", name, user, s.config.mask.text(firstLine(err))),
		"The login may not read the rows of %s", cfg.label()).At(cfg.path()).Err()
}

// OpenSnapshot records a position, then looks where the keys lie.
func (s *session) OpenSnapshot(ctx context.Context, req plugin.OpenSnapshotRequest) (plugin.SnapshotInfo, error) {
	cfg, st, err := s.parse(req.Table)
	if err != nil {
		return plugin.SnapshotInfo{}, err
	}
	var out plugin.SnapshotInfo
	err = s.sourceCall(ctx, "open snapshot", cfg, func(c *conn) error {
		t, err := s.target(ctx, c, cfg, st, nil)
		if err != nil {
			return err
		}
		if err := snapshotKeyProblems(t.instances, t.live, t.resolved, cfg).Err(); err != nil {
			return err
		}
		l, err := stamp(ctx, c, t.reader())
		if err != nil {
			return err
		}
		out = plugin.SnapshotInfo{Keys: t.keys, CaptureInstance: t.reader().name, Schema: t.shape.arrow(nil)}
		if out.Extent, err = s.extent(ctx, c, t); err != nil {
			return err
		}
		out.Stamp, err = s.position(ctx, c, l)
		return err
	})
	return out, err
}

// extent is the JSON of where the keys lie, "" when the key cannot be cut or
// there is none.
func (s *session) extent(ctx context.Context, c *conn, t target) (string, error) {
	if t.cols == nil {
		return "", nil
	}
	// Under READ COMMITTED, whatever level the rows are read at.
	read := tsql.TableRead{Table: t.table, Locking: tsql.Locking{TimeoutMillis: s.config.locking.TimeoutMillis}}
	var e extent
	if t.isInteger() {
		q, err := read.Bounds(t.cols[0].Name, tsql.Range{})
		if err != nil {
			return "", err
		}
		r, ok, err := c.one(ctx, q)
		if err != nil || !ok || r.null("lo") {
			return "", err
		}
		lo, hi := r.integer("lo"), r.integer("hi")
		n, err := rowEstimate(ctx, c, t.table)
		if err != nil {
			return "", err
		}
		e = extent{Kind: extentInt, Lo: &lo, Hi: &hi, Rows: &n}
	} else {
		key, ok, err := s.endKey(ctx, c, read, t, false)
		if err != nil || !ok || !readsBack(key) {
			return "", err
		}
		e = extent{Kind: extentKeyset, Max: json.RawMessage(key)}
	}
	data, err := json.Marshal(e)
	if err != nil {
		return "", fmt.Errorf("encoding an extent: %w", err)
	}
	return string(data), nil
}

// endKey is the last or first key as JSON; ok is false for an empty table.
func (s *session) endKey(ctx context.Context, c *conn, read tsql.TableRead, t target, first bool) (key string, ok bool, err error) {
	names := make([]string, len(t.cols))
	for i, k := range t.cols {
		names[i] = k.Name
	}
	q, err := read.EndKey(names, first)
	if err != nil {
		return "", false, err
	}
	return c.key(ctx, q, len(names))
}

// key runs a statement whose first row begins with a key of n columns.
func (c *conn) key(ctx context.Context, q tsql.Query, n int) (key string, ok bool, err error) {
	err = c.keys(ctx, q, n, func(text string, _ []driver.Value) error {
		if !ok {
			key, ok = text, true
		}
		return nil
	})
	return key, ok, err
}

// keys runs a statement whose rows begin with a key of n columns.
func (c *conn) keys(ctx context.Context, q tsql.Query, n int, use func(key string, rest []driver.Value) error) (err error) {
	result, err := c.open(ctx, q)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := result.Close(); err == nil && cerr != nil {
			err = c.fail(q, cerr)
		}
	}()
	named, ok := result.(driver.RowsColumnTypeDatabaseTypeName)
	if !ok || len(result.Columns()) < n {
		return c.fail(q, errors.New("the driver does not tell the types of a result"))
	}
	types := make([]string, n)
	for i := range types {
		types[i] = named.ColumnTypeDatabaseTypeName(i)
	}
	values := make([]driver.Value, len(result.Columns()))
	for {
		if err := result.Next(values); err != nil {
			if errors.Is(err, io.EOF) && c.usable() {
				return nil
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return c.fail(q, err)
		}
		text, err := encodeKey(values[:n], types)
		if err != nil {
			return err
		}
		if err := use(text, values[n:]); err != nil {
			return err
		}
	}
}

// rowEstimate is the number of rows by the server's metadata. It sizes, it
// does not count.
func rowEstimate(ctx context.Context, c *conn, t tsql.Table) (int64, error) {
	q, err := tsql.RowEstimate(t)
	if err != nil {
		return 0, err
	}
	r, ok, err := c.one(ctx, q)
	if err != nil || !ok {
		return 0, err
	}
	n, err := strconv.ParseInt(strings.TrimSpace(r.text("rows")), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: the server answered no number", q.Name)
	}
	return n, nil
}
