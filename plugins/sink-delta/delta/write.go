package delta

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/google/uuid"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
	"github.com/pipectl/pipectl/plugins/sink-delta/deltatable"
)

// write is one write of a session between BeginWrite and its end.
type write struct {
	table  plugin.TableRef
	schema *arrow.Schema // of the rows, constants and action included
	inner  *deltatable.Write

	mu sync.Mutex
	// unknown: a commit's answer was lost, so its files must stay.
	unknown bool
}

func (w *write) abort(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.unknown {
		return nil
	}
	return w.inner.Abort(ctx)
}

var modes = map[plugin.WriteMode]deltatable.Mode{
	plugin.WriteAppend: deltatable.Append, plugin.WriteOverwrite: deltatable.Overwrite, plugin.WriteMerge: deltatable.Merge,
}

// BeginWrite opens a write, or finds that its key is recorded already.
func (s *session) BeginWrite(ctx context.Context, req plugin.BeginWriteRequest) (plugin.BeginWriteResponse, error) {
	t, err := s.table(ctx, req.Table)
	if err == nil && t == nil {
		_, err = s.existing(ctx, req.Table, -1)
	}
	if err != nil {
		return plugin.BeginWriteResponse{}, err
	}
	spec := deltatable.WriteSpec{Mode: modes[req.Mode], Schema: req.Schema, MergeSchema: req.MergeSchema, TableID: req.RequireID}
	for _, txn := range req.Txns {
		spec.Txns = append(spec.Txns, deltatable.Txn{AppID: txn.AppID, Version: txn.Version})
	}
	if req.BaseVersion >= 0 {
		spec.BaseVersion = &req.BaseVersion
	}
	if m := req.Merge; m != nil {
		spec.Merge = &deltatable.MergeSpec{Keys: m.Keys, Guard: m.Guard, Action: m.Action, UpdateColumns: m.UpdateColumns, DeleteAbsent: m.DeleteAbsent}
		spec.Schema = withColumn(req.Schema, m.Action, arrow.BinaryTypes.String)
	}
	inner, err := t.Begin(ctx, spec)
	if err != nil {
		return plugin.BeginWriteResponse{}, s.failed(ctx, req.Table, "writing", err)
	}
	w := &write{table: req.Table, schema: spec.Schema, inner: inner}
	s.sweep(ctx, req.Table)
	id := uuid.NewString()
	s.mu.Lock()
	s.writes[id] = w
	s.mu.Unlock()
	return plugin.BeginWriteResponse{WriteID: id, Already: inner.Already(), Version: inner.Base().Version()}, nil
}

func withColumn(schema *arrow.Schema, name string, t arrow.DataType) *arrow.Schema {
	if schema.HasField(name) {
		return schema
	}
	return arrow.NewSchema(append(schema.Fields(), arrow.Field{Name: name, Type: t, Nullable: true}), nil)
}

func (s *session) write(id string) (*write, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.writes[id]
	if w == nil {
		return nil, diag.Errorf(diag.KindTransient, "delta.no_write", "The process was started anew meanwhile; the step is repeated.", "There is no open write %q", id).Err()
	}
	return w, nil
}

// WritePart writes the rows of a stream to data files.
func (s *session) WritePart(ctx context.Context, req plugin.WritePartRequest, frames plugin.FrameReader) (plugin.Part, error) {
	w, err := s.write(req.WriteID)
	if err != nil {
		return plugin.Part{}, errors.Join(err, frames.Close())
	}
	part, err := w.inner.Part(ctx)
	if err != nil {
		return plugin.Part{}, errors.Join(s.failed(ctx, w.table, "writing", err), frames.Close())
	}
	if err := w.fill(part, req.Constants, frames); err != nil {
		// What the part wrote is waste that no commit names.
		_ = part.Abort(context.WithoutCancel(ctx))
		return plugin.Part{}, s.failed(ctx, w.table, "writing", err)
	}
	done, err := part.Close()
	if err != nil {
		_ = part.Abort(context.WithoutCancel(ctx))
		return plugin.Part{}, s.failed(ctx, w.table, "writing", err)
	}
	return plugin.Part{Token: done.Token, Rows: done.Rows, Bytes: done.Bytes}, nil
}

// fill writes every batch, constants added. Nothing of a stream that breaks is
// kept.
func (w *write) fill(part *deltatable.Part, constants []plugin.Constant, frames plugin.FrameReader) error {
	reader, err := rows.NewReader(frames, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	defer reader.Close()
	values, err := newConstants(constants, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	defer values.release()
	for {
		batch, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		whole, err := values.extend(batch, w.schema)
		batch.Release()
		if err != nil {
			return err
		}
		err = part.Write(whole)
		whole.Release()
		if err != nil {
			return err
		}
	}
}

var outcomes = map[deltatable.Outcome]plugin.CommitOutcome{
	deltatable.Committed: plugin.Committed, deltatable.Already: plugin.Already, deltatable.Nothing: plugin.Nothing,
}

// Commit makes the named parts part of the table.
func (s *session) Commit(ctx context.Context, req plugin.CommitRequest) (plugin.CommitResult, error) {
	w, err := s.write(req.WriteID)
	if err != nil {
		return plugin.CommitResult{}, err
	}
	result, err := w.inner.Commit(ctx, req.Tokens, req.UserMetadata)
	if err != nil {
		w.mu.Lock()
		w.unknown = w.unknown || errors.Is(err, deltalog.ErrCommitUnknown)
		w.mu.Unlock()
		return plugin.CommitResult{}, s.failed(ctx, w.table, "committing to", err)
	}
	outcome, ok := outcomes[result.Outcome]
	if !ok {
		return plugin.CommitResult{}, fmt.Errorf("a commit ended as %s", result.Outcome)
	}
	return plugin.CommitResult{Outcome: outcome, Version: result.Version, Inserted: result.Inserted, Updated: result.Updated, Deleted: result.Deleted}, nil
}

// Abort gives a write up; one that is unknown is none.
func (s *session) Abort(ctx context.Context, id string) error {
	s.mu.Lock()
	w := s.writes[id]
	delete(s.writes, id)
	s.mu.Unlock()
	if w == nil {
		return nil
	}
	return s.failed(ctx, w.table, "giving up a write to", w.abort(ctx))
}
