package mssql

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/lsn"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

// Read reads one range of changes or one chunk of a snapshot, on a connection
// of its own.
func (s *session) Read(ctx context.Context, req plugin.ReadRequest) (plugin.FrameReader, error) {
	if (req.Range == nil) == (req.Chunk == nil) {
		return nil, diag.Errorf(diag.KindInternal, codeRange, "", "A read names a range or a chunk, not both and not neither").Err()
	}
	if req.Chunk != nil {
		return s.readChunk(ctx, req)
	}
	cfg, list := parseRead(req.Table.Read)
	if err := list.Err(); err != nil {
		return nil, err
	}
	spec, from, to, err := decodeRange(req.Range)
	if err != nil {
		return nil, diag.Errorf(diag.KindInternal, codeRange, "", "%s", err).Err()
	}
	sh, err := spec.shape()
	if err != nil {
		return nil, diag.Errorf(diag.KindInternal, codeRange, "", "%s", err).Err()
	}
	r := &rangeRead{session: s, spec: spec, shape: sh, from: from, to: to, columns: req.Columns, maxRows: cfg.batchRows,
		clock: clock{zone: spec.Zone, offset: spec.Offset}}
	r.schema = sh.arrow(req.Columns)
	return rows.Produce(ctx, r.schema, r.produce), nil
}

// rangeRead is one read of a range.
type rangeRead struct {
	*session
	spec     rangeSpec
	shape    shape
	from, to lsn.LSN
	schema   *arrow.Schema
	columns  []string
	maxRows  int
	clock    clock
}

func (r *rangeRead) produce(ctx context.Context, w *rows.Writer) error {
	c, err := r.pool.open(ctx)
	if err != nil {
		return r.config.diagnose(err)
	}
	defer r.pool.drop(c)
	if err := r.read(ctx, c, w); err != nil {
		if cancelled(err) || ctx.Err() != nil {
			return err
		}
		return r.config.diagnose(r.denied(ctx, c, r.spec.Instance, err))
	}
	return nil
}

func (r *rangeRead) read(ctx context.Context, c *conn, w *rows.Writer) error {
	metrics := &plugin.ReadMetrics{From: r.spec.From, To: r.spec.To, Last: r.spec.Last}
	began := r.now()
	metrics.RTTMillis = r.ping(ctx, c, began)
	waited, waitKnown := networkWait(ctx, c)

	if err := r.caughtUp(ctx, c, r.to, true); err != nil {
		return err
	}
	times, err := r.clock.forRange(ctx, c, r.from, r.to)
	if err != nil {
		return err
	}
	b, err := newBatcher(w, r.schema, r.maxRows)
	if err != nil {
		return err
	}
	seen, err := r.rows(ctx, c, b, times)
	if err != nil {
		return err
	}
	end := w.End()
	end.Operations, end.Least, end.Greatest = seen.operations(), seen.least, seen.greatest

	// Cleanup moves the watermark before it deletes: when it is not past the
	// range now, nothing was deleted while it was read.
	m, err := minLSN(ctx, c, r.spec.Instance)
	if err != nil {
		return err
	}
	if m.IsZero() {
		return diag.Errorf(diag.KindTransient, codeInstanceGone, "It was disabled while it was read. What was read is not used; planning again follows the table's newer instance.",
			"The capture instance %s is gone", r.spec.Instance).Err()
	}
	if r.from.Less(m) {
		if err := r.possibleLoss(ctx, c, m, end); err != nil {
			return err
		}
	}
	metrics.Rows, metrics.Bytes = seen.rows, b.totalBytes
	metrics.Seconds = r.now().Sub(began).Seconds()
	if after, ok := networkWait(ctx, c); ok && waitKnown {
		grown := after - waited
		metrics.NetworkWaitMs = &grown
	}
	if r.spec.Last {
		r.measureSource(ctx, c, m, metrics)
	}
	end.Metrics = metrics
	return nil
}

// possibleLoss is what the watermark past the range's start means.
func (r *rangeRead) possibleLoss(ctx context.Context, c *conn, m lsn.LSN, end *plugin.End) error {
	if !r.spec.SkipLost {
		return lost(r.spec.Instance, r.from, m, nil)
	}
	when, known, err := r.clock.time(ctx, c, m)
	if err != nil {
		return err
	}
	var start plugin.Position
	if r.spec.StartCommit != nil {
		start = plugin.Position{CommitMicros: *r.spec.StartCommit, HasCommit: true}
	}
	e, err := skipped(m, when, known, r.from, false, "cleanup moved the watermark past the range's start while it was read", start)
	if err != nil {
		return err
	}
	r.log.Warn("changes may have been purged while they were read", "capture_instance", r.spec.Instance, "from", r.spec.From, "min_lsn", m.String())
	end.Events = append(end.Events, e)
	return nil
}

// tally counts what was read.
type tally struct {
	rows            int64
	byOperation     [5]int64
	least, greatest plugin.Position
}

func (t *tally) operations() map[int32]int64 {
	out := map[int32]int64{}
	for op, n := range t.byOperation {
		if n > 0 {
			out[int32(op)] = n
		}
	}
	return out
}

// rows streams the change rows of the range into b.
func (r *rangeRead) rows(ctx context.Context, c *conn, b *batcher, times rangeClock) (*tally, error) {
	q := tsql.Changes{Instance: r.spec.Instance, From: r.spec.From, To: r.spec.To, CommandID: r.spec.CommandID}
	if times.perRow {
		q.Zone = r.clock.zone
	}
	wanted := map[string]int{}
	for i, field := range b.schema.Fields() {
		wanted[field.Name] = i
	}
	var read []rangeColumn
	for _, col := range r.spec.Columns {
		if _, ok := wanted[col.Name]; ok && col.Source != "" {
			read = append(read, col)
			q.Columns = append(q.Columns, col.Source)
		}
	}
	statement, err := q.Query()
	if err != nil {
		return nil, err
	}
	result, err := c.open(ctx, statement)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	cur, err := r.bind(result, b, read, wanted, times)
	if err != nil {
		return nil, err
	}
	values := make([]driver.Value, len(result.Columns()))
	for {
		if err := result.Next(values); err != nil {
			// The driver also says EOF when the link ended in the middle.
			if errors.Is(err, io.EOF) && c.usable() {
				break
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, c.fail(statement, err)
		}
		if err := cur.add(values); err != nil {
			return nil, err
		}
	}
	if err := result.Close(); err != nil {
		return nil, c.fail(statement, err)
	}
	return &cur.tally, b.flush()
}

// cursor carries the metadata columns of change rows.
type cursor struct {
	tally
	// start is the LSN of the row in hand and startText its text, which rows of
	// one commit share.
	start     []byte
	startText string
	b         *batcher
	times     rangeClock
	local     int
	utc       int
	off3      int
	op        int
	// micros is the commit time of the row in hand.
	micros int64
}

// bind chooses where each column of the output comes from. The result's
// columns stand in the order in which tsql.Changes lists them.
func (r *rangeRead) bind(result driver.Rows, b *batcher, read []rangeColumn, wanted map[string]int, times rangeClock) (*cursor, error) {
	types, ok := result.(driver.RowsColumnTypeDatabaseTypeName)
	if !ok {
		return nil, errors.New("the driver does not tell the types of a result")
	}
	cur := &cursor{b: b, times: times}
	at := map[string]int{}
	for i, name := range result.Columns()[:len(result.Columns())-len(read)] {
		at[name] = i
	}
	cur.local, cur.op = at["_commit_local"], at[plugin.ColumnOperation]
	cur.utc, cur.off3 = at["_commit_utc"], at["_commit_off_3"]
	b.constant(wanted[plugin.ColumnCaptureInstance], r.spec.Instance)
	meta := []struct {
		name string
		typ  outType
	}{{plugin.ColumnOperation, outType{kind: kindInt32}}}
	if r.spec.CommandID {
		meta = append(meta, struct {
			name string
			typ  outType
		}{plugin.ColumnCommandID, outType{kind: kindInt32}})
	}
	for _, m := range meta {
		if err := b.bind(wanted[m.name], at[m.name], types.ColumnTypeDatabaseTypeName(at[m.name]), m.typ); err != nil {
			return nil, err
		}
	}
	start := wanted[plugin.ColumnStartLSN]
	starts := b.columns[start].buffer.(*bytesBuffer)
	b.fill(start, at[plugin.ColumnStartLSN], func(driver.Value) error { starts.appendString(cur.startText); return nil })
	seqval := wanted[plugin.ColumnSeqval]
	b.fill(seqval, at[plugin.ColumnSeqval], appendLSN(b.columns[seqval].buffer.(*bytesBuffer)))
	b.fixed += 2 * lsn.TextLen
	commit := wanted[plugin.ColumnCommitTS]
	commits := b.columns[commit].buffer.(*fixedBuffer[arrow.Timestamp])
	b.fill(commit, cur.local, func(driver.Value) error { commits.append(arrow.Timestamp(cur.micros)); return nil })
	first := len(result.Columns()) - len(read)
	for i, col := range read {
		out, ok := r.shape.find(col.Name)
		if !ok {
			return nil, fmt.Errorf("no column %s in the range", col.Name)
		}
		if err := b.bind(wanted[col.Name], first+i, types.ColumnTypeDatabaseTypeName(first+i), out.typ); err != nil {
			return nil, diag.Errorf(diag.KindSchemaChanged, codeSchemaChanged, "Its type changed after the batch was planned. "+startAgain, "%s: %s", r.spec.Instance, err).Err()
		}
	}
	return cur, nil
}

// add appends one change row.
func (cur *cursor) add(values []driver.Value) error {
	start, _ := values[0].([]byte)
	if !bytes.Equal(start, cur.start) || cur.rows == 0 {
		l, err := lsn.FromBytes(start)
		if err != nil {
			return fmt.Errorf("a change row: %w", err)
		}
		cur.start, cur.startText = start, l.String()
	}
	if err := cur.convert(values); err != nil {
		return err
	}
	op, _ := values[cur.op].(int64)
	if op < 1 || op > 4 {
		return fmt.Errorf("a change row has the operation %d", op)
	}
	if err := cur.b.add(values); err != nil {
		return unreadable("A change at "+cur.startText, "range", err)
	}
	if cur.rows == 0 {
		cur.least = plugin.Position{Text: cur.startText, CommitMicros: cur.micros, HasCommit: true}
	}
	if cur.startText != cur.greatest.Text {
		cur.greatest = plugin.Position{Text: cur.startText, CommitMicros: cur.micros, HasCommit: true}
	}
	cur.rows++
	cur.byOperation[op]++
	return nil
}

// convert finds the row's commit time in UTC.
func (cur *cursor) convert(values []driver.Value) error {
	local, ok := values[cur.local].(time.Time)
	if !ok {
		return fmt.Errorf("a change row has no commit time but %T", values[cur.local])
	}
	cur.micros = local.UnixMicro()
	if !cur.times.perRow {
		cur.micros -= minutes(cur.times.minutes)
		return nil
	}
	if cur.utc == 0 {
		return nil // no zone, no rows
	}
	if len(cur.times.drops) > 0 {
		if off3, ok := values[cur.off3].(int64); ok && second(cur.times.drops, lsn.LSN(cur.start), cur.micros) {
			cur.micros -= minutes(off3)
			return nil
		}
	}
	utc, ok := values[cur.utc].(time.Time)
	if !ok {
		return fmt.Errorf("a change row has no commit time in UTC but %T", values[cur.utc])
	}
	cur.micros = utc.UnixMicro()
	return nil
}

// denied looks whether an error means that the login may not read a change
// table, whatever the language of the message, and not that it is gone.
func (s *session) denied(ctx context.Context, c *conn, instance string, err error) error {
	if !c.usable() || sqlNumber(err) == 0 || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(instance+"_CT")) {
		return err
	}
	m, mErr := minLSN(ctx, c, instance)
	if mErr != nil || m.IsZero() {
		return err
	}
	q, qErr := tsql.ChangeTableState(instance)
	if qErr != nil {
		return err
	}
	r, ok, rErr := c.one(ctx, q)
	if rErr != nil || !ok || r.null("allowed") || r.integer("allowed") != 0 {
		return err
	}
	return changeGrant(instance, r.text("login_user"))
}

func changeGrant(instance, user string) error {
	table, err := tsql.ChangeTable(instance)
	if err != nil {
		table = instance
	}
	quoted, err := tsql.Quote(user)
	if err != nil {
		quoted = "[the login's user]"
	}
	d := diag.Errorf(diag.KindPermission, codeChangeGrant,
		fmt.Sprintf("GRANT SELECT ON %s TO %s lets it. Every capture instance has its own change table and needs its own grant.", table, quoted),
		"The login may not read the change table of %s", instance)
	d.Data = map[string]string{"capture_instance": instance}
	return d.Err()
}
