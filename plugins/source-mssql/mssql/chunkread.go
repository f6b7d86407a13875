package mssql

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/lsn"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

// readChunk reads the rows of a key range as operation 0.
func (s *session) readChunk(ctx context.Context, req plugin.ReadRequest) (plugin.FrameReader, error) {
	cfg, st, err := s.parse(req.Table)
	if err != nil {
		return nil, err
	}
	stamped, err := lsn.Parse(req.Stamp.Text)
	if err != nil {
		return nil, diag.Errorf(diag.KindInternal, codePosition, "", "The stamp of a chunk: %s", err).Err()
	}
	lock, err := s.locking(req.Isolation, req.LockTimeoutMillis)
	if err != nil {
		return nil, err
	}
	r := &chunkRead{session: s, cfg: cfg, stamped: stamped, stamp: plugin.Position{Text: stamped.String(), CommitMicros: req.Stamp.CommitMicros, HasCommit: req.Stamp.HasCommit}}
	err = s.plan(ctx, "read chunk", func(c *conn) error {
		t, err := s.target(ctx, c, cfg, st, req.Keys)
		if err != nil {
			return err
		}
		key, err := keyRange(t.keys, t.cols, t.reason, req.Chunk.Lo, req.Chunk.Hi)
		if err != nil {
			return err
		}
		r.instance = t.reader().name
		r.columns, r.names = nil, nil
		for _, col := range t.shape.columns {
			if req.Columns != nil && !slices.Contains(req.Columns, col.name) {
				continue
			}
			if name, ok := present(t.instances, t.live, col.name); ok {
				r.columns, r.names = append(r.columns, col), append(r.names, name)
			}
		}
		r.schema = t.shape.arrow(req.Columns)
		r.query, err = tsql.TableRead{Table: t.table, Locking: lock}.Rows(r.names, key)
		return err
	})
	if err != nil {
		return nil, err
	}
	return rows.Produce(ctx, r.schema, r.produce), nil
}

// chunkRead is one read of a chunk.
type chunkRead struct {
	*session
	cfg      tableConfig
	stamped  lsn.LSN
	stamp    plugin.Position
	instance string
	schema   *arrow.Schema
	// columns are those that the table still has, names their spelling there.
	columns []outColumn
	names   []string
	query   tsql.Query
}

func (r *chunkRead) produce(ctx context.Context, w *rows.Writer) error {
	c, err := r.pool.open(ctx)
	if err != nil {
		return r.config.diagnose(err)
	}
	defer r.pool.drop(c)
	if err := r.read(ctx, c, w); err != nil {
		if cancelled(err) || ctx.Err() != nil {
			return err
		}
		if n := sqlNumber(err); n == errSelectDenied || n == errColumnDenied {
			err = r.sourceGrant(ctx, c, r.cfg, err)
		}
		return r.config.diagnose(err)
	}
	return nil
}

func (r *chunkRead) read(ctx context.Context, c *conn, w *rows.Writer) error {
	began := r.now()
	maxRows := defaultBatchRows
	if cfg := r.cfg.read.batchRows; cfg > 0 {
		maxRows = cfg
	}
	b, err := newBatcher(w, r.schema, maxRows)
	if err != nil {
		return err
	}
	// A stamp that is no commit's may lie ahead of capture.
	if r.stamp.HasCommit {
		if err := r.caughtUp(ctx, c, r.stamped, false); err != nil {
			return err
		}
	}
	result, err := c.open(ctx, r.query)
	if err != nil {
		return err
	}
	defer result.Close()
	if err := r.bind(result, b); err != nil {
		return err
	}
	values := make([]driver.Value, len(result.Columns()))
	n := int64(0)
	for {
		if err := result.Next(values); err != nil {
			// The driver also says EOF when the link ended in the middle.
			if errors.Is(err, io.EOF) && c.usable() {
				break
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return c.fail(r.query, err)
		}
		if err := b.add(values); err != nil {
			return unreadable("A row of "+r.cfg.label(), "chunk", err)
		}
		n++
	}
	if err := result.Close(); err != nil {
		return c.fail(r.query, err)
	}
	if err := b.flush(); err != nil {
		return err
	}
	end := w.End()
	if n > 0 {
		end.Operations = map[int32]int64{plugin.OpSnapshot: n}
		end.Least, end.Greatest = r.stamp, r.stamp
	}
	high, err := maxLSN(ctx, c)
	if err != nil {
		return err
	}
	if !high.IsZero() {
		end.High = plugin.Position{Text: high.String()}
	}
	end.Metrics = &plugin.ReadMetrics{From: r.stamp.Text, To: r.stamp.Text, Rows: n, Bytes: b.totalBytes, Seconds: r.now().Sub(began).Seconds()}
	return nil
}

// bind gives the metadata columns their constants and the others their source.
func (r *chunkRead) bind(result driver.Rows, b *batcher) error {
	types, ok := result.(driver.RowsColumnTypeDatabaseTypeName)
	if !ok {
		return errors.New("the driver does not tell the types of a result")
	}
	for i := range r.schema.NumFields() {
		switch name := r.schema.Field(i).Name; name {
		case plugin.ColumnCaptureInstance:
			b.constant(i, r.instance)
		case plugin.ColumnStartLSN:
			b.constant(i, r.stamp.Text)
		case plugin.ColumnOperation:
			b.repeat(i, func(buf buffer) { buf.(*fixedBuffer[int32]).append(plugin.OpSnapshot) })
		case plugin.ColumnCommitTS:
			if r.stamp.HasCommit {
				b.repeat(i, func(buf buffer) { buf.(*fixedBuffer[arrow.Timestamp]).append(arrow.Timestamp(r.stamp.CommitMicros)) })
			}
		default:
			for j, col := range r.columns {
				if col.name != name {
					continue
				}
				if err := b.bind(i, j, types.ColumnTypeDatabaseTypeName(j), col.typ); err != nil {
					return diag.Errorf(diag.KindSchemaChanged, codeSchemaChanged, "Its type changed after the snapshot was planned. Start again.", "%s: %s", r.cfg.label(), err).Err()
				}
			}
		}
	}
	return nil
}
