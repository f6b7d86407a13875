package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
)

// write is one open write: parts are stored in it and in no table.
type write struct {
	req     plugin.BeginWriteRequest
	parts   map[string]part
	done    *plugin.CommitResult
	aborted bool
}

// part is the rows of one WritePart; their columns stand in schema.
type part struct {
	schema *arrow.Schema
	rows   [][]cell
}

func (s *session) BeginWrite(_ context.Context, req plugin.BeginWriteRequest) (plugin.BeginWriteResponse, error) {
	s.lake.mu.Lock()
	defer s.lake.mu.Unlock()
	t, err := s.lake.existing(req.Table.Name)
	if err != nil {
		return plugin.BeginWriteResponse{}, err
	}
	if err := s.writable(req.Table.Name); err != nil {
		return plugin.BeginWriteResponse{}, err
	}
	if err := checkWrite(t, req); err != nil {
		return plugin.BeginWriteResponse{}, err
	}
	newest := t.newest()
	switch already, err := recorded(newest, req); {
	case err != nil:
		return plugin.BeginWriteResponse{}, err
	case already:
		return plugin.BeginWriteResponse{Already: true, Version: newest.commit.Version}, nil
	}
	if req.Mode == plugin.WriteOverwrite && req.BaseVersion < 0 {
		req.BaseVersion = newest.commit.Version // what it replaces
	}
	s.opened++
	id := fmt.Sprintf("write-%d", s.opened)
	s.writes[id] = &write{req: req, parts: map[string]part{}}
	return plugin.BeginWriteResponse{WriteID: id, Version: newest.commit.Version}, nil
}

// recorded reports whether every idempotency key is in the table already; some
// but not all of them are a conflict.
func recorded(v version, req plugin.BeginWriteRequest) (bool, error) {
	there := 0
	for _, txn := range req.Txns {
		if n, ok := v.txns[txn.AppID]; ok && n >= txn.Version {
			there++
		}
	}
	if there > 0 && there < len(req.Txns) {
		return false, diag.Errorf(diag.KindConflict, "memory.txns", "",
			"%d of %d idempotency keys of a write to table %q are recorded already", there, len(req.Txns), req.Table.Name).Err()
	}
	return there > 0, nil
}

// checkWrite holds what a write demands of its table, at its begin and again
// at its commit.
func checkWrite(t *table, req plugin.BeginWriteRequest) error {
	name, newest := req.Table.Name, t.newest()
	if err := requireID(name, req.RequireID, t.id); err != nil {
		return err
	}
	if req.BaseVersion >= 0 {
		for _, v := range t.versions {
			if v.commit.Version > req.BaseVersion && v.commit.DataChange {
				return diag.Errorf(diag.KindConflict, "memory.conflict", "",
					"Table %q changed: version %d came after version %d", name, v.commit.Version, req.BaseVersion).Err()
			}
		}
	}
	_, added, err := mergeFields(name, newest.schema, req.Schema, false)
	if err != nil {
		return err
	}
	if len(added) > 0 && !req.MergeSchema {
		return diag.Errorf(diag.KindSchemaChanged, "memory.columns_absent", "",
			"Table %q lacks columns of the rows: %v", name, added).Err()
	}
	if (req.Mode == plugin.WriteMerge) != (req.Merge != nil) {
		return diag.Errorf(diag.KindInternal, "memory.merge", "", "A write of mode %q to table %q and its merge clause do not fit", req.Mode, name).Err()
	}
	if req.Merge != nil {
		return checkMerge(req)
	}
	if req.Mode != plugin.WriteAppend && req.Mode != plugin.WriteOverwrite {
		return diag.Errorf(diag.KindInternal, "memory.mode", "", "There is no write mode %q", req.Mode).Err()
	}
	return nil
}

func (s *session) WritePart(_ context.Context, req plugin.WritePartRequest, frames plugin.FrameReader) (plugin.Part, error) {
	w, err := s.open(req.WriteID)
	if err != nil {
		frames.Close()
		return plugin.Part{}, err
	}
	reader, err := rows.NewReader(frames, memory.DefaultAllocator)
	if err != nil {
		return plugin.Part{}, fmt.Errorf("writing part %d of table %q: %w", req.Part, w.req.Table.Name, err)
	}
	p := part{schema: reader.Schema()}
	constants := make([]cell, len(req.Constants))
	for i, c := range req.Constants {
		p.schema, err = p.schema.AddField(p.schema.NumFields(), arrow.Field{Name: c.Name, Type: c.Type, Nullable: true})
		if err != nil {
			reader.Close()
			return plugin.Part{}, fmt.Errorf("adding the constant column %q: %w", c.Name, err)
		}
		if c.Value != nil {
			constants[i] = literalCell(c.Type, *c.Value)
		}
	}
	if err := checkPart(w.req, p.schema); err != nil {
		reader.Close()
		return plugin.Part{}, err
	}
	_, err = reader.ForEach(func(batch arrow.RecordBatch) error {
		for _, row := range cellsOf(batch) {
			p.rows = append(p.rows, append(row, constants...))
		}
		return nil
	})
	if err != nil {
		return plugin.Part{}, fmt.Errorf("writing part %d of table %q: %w", req.Part, w.req.Table.Name, err)
	}
	s.lake.mu.Lock()
	defer s.lake.mu.Unlock()
	if w.aborted || w.done != nil {
		return plugin.Part{}, diag.Errorf(diag.KindInternal, "memory.write_unknown", "", "Write %q ended while part %d was written", req.WriteID, req.Part).Err()
	}
	token := fmt.Sprintf("%s/part-%d/attempt-%d", req.WriteID, req.Part, req.Attempt)
	w.parts[token] = p
	return plugin.Part{Token: token, Rows: int64(len(p.rows)), Bytes: int64(len(p.rows)) * int64(p.schema.NumFields()) * 8}, nil
}

// checkPart compares the columns of a part with those announced.
func checkPart(req plugin.BeginWriteRequest, have *arrow.Schema) error {
	for _, f := range have.Fields() {
		if req.Merge != nil && f.Name == req.Merge.Action {
			continue
		}
		index := req.Schema.FieldIndices(f.Name)
		if len(index) == 0 || !arrow.TypeEqual(req.Schema.Field(index[0]).Type, f.Type) {
			return diag.Errorf(diag.KindSchemaChanged, "memory.part_schema", "",
				"A part of table %q has a column %q of type %s that the write did not announce", req.Table.Name, f.Name, f.Type).Err()
		}
	}
	return nil
}

func (s *session) open(id string) (*write, error) {
	s.lake.mu.Lock()
	defer s.lake.mu.Unlock()
	w, ok := s.writes[id]
	if !ok || w.aborted {
		return nil, diag.Errorf(diag.KindInternal, "memory.write_unknown", "", "There is no open write %q", id).Err()
	}
	return w, nil
}

func (s *session) Commit(_ context.Context, req plugin.CommitRequest) (plugin.CommitResult, error) {
	w, err := s.open(req.WriteID)
	if err != nil {
		return plugin.CommitResult{}, err
	}
	s.lake.mu.Lock()
	defer s.lake.mu.Unlock()
	if w.done != nil {
		return *w.done, nil
	}
	t, err := s.lake.existing(w.req.Table.Name)
	if err != nil {
		return plugin.CommitResult{}, err
	}
	var parts []part
	for _, token := range req.Tokens {
		p, ok := w.parts[token]
		if !ok {
			return plugin.CommitResult{}, diag.Errorf(diag.KindInternal, "memory.token_unknown", "",
				"Write %q of table %q has no part %q", req.WriteID, w.req.Table.Name, token).Err()
		}
		parts = append(parts, p)
	}
	result, err := s.lake.carryOut(t, w.req, parts, req.UserMetadata)
	if err != nil {
		return plugin.CommitResult{}, err
	}
	w.done, w.parts = &result, nil
	return result, nil
}

// carryOut commits the parts of a write, or finds that there is nothing to do.
func (l *Lake) carryOut(t *table, req plugin.BeginWriteRequest, parts []part, metadata string) (plugin.CommitResult, error) {
	current := t.newest()
	switch already, err := recorded(current, req); {
	case err != nil:
		return plugin.CommitResult{}, err
	case already:
		return plugin.CommitResult{Outcome: plugin.Already, Version: current.commit.Version}, nil
	}
	if err := checkWrite(t, req); err != nil {
		return plugin.CommitResult{}, err
	}
	fields, added, err := mergeFields(req.Table.Name, current.schema, req.Schema, false)
	if err != nil {
		return plugin.CommitResult{}, err
	}
	next := current
	next.schema = arrow.NewSchema(fields, nil)
	next.rows = widen(current.rows, len(fields))
	result := plugin.CommitResult{Outcome: plugin.Committed, Version: current.commit.Version}
	operation := "WRITE"
	switch req.Mode {
	case plugin.WriteMerge:
		operation = "MERGE"
		next.rows, err = merge(&result, req, next.schema, next.rows, parts)
		if err != nil {
			return plugin.CommitResult{}, err
		}
	case plugin.WriteOverwrite:
		result.Deleted = int64(len(next.rows))
		next.rows = place(nil, next.schema, parts)
		result.Inserted = int64(len(next.rows))
	default:
		before := len(next.rows)
		next.rows = place(next.rows, next.schema, parts)
		result.Inserted = int64(len(next.rows) - before)
	}
	unchanged := result.Inserted+result.Updated+result.Deleted == 0 && len(added) == 0 && req.Mode != plugin.WriteOverwrite
	if unchanged && (req.Mode != plugin.WriteMerge || len(req.Txns) == 0) {
		result.Outcome = plugin.Nothing
		return result, nil
	}
	next.txns = record(current.txns, req.Txns)
	result.Version = l.commit(t, next, operation, metadata, !unchanged, result.Inserted+result.Updated)
	return result, nil
}

// place appends the rows of parts, their columns put where the table has them.
func place(to [][]cell, schema *arrow.Schema, parts []part) [][]cell {
	to = slices.Clip(to) // versions share rows: never write into a shared array
	for _, p := range parts {
		for _, row := range p.rows {
			wide := make([]cell, schema.NumFields())
			for i, f := range p.schema.Fields() {
				wide[schema.FieldIndices(f.Name)[0]] = row[i]
			}
			to = append(to, wide)
		}
	}
	return to
}

func record(old map[string]int64, txns []plugin.Txn) map[string]int64 {
	out := make(map[string]int64, len(old)+len(txns))
	for app, n := range old {
		out[app] = n
	}
	for _, txn := range txns {
		if n, ok := out[txn.AppID]; !ok || txn.Version > n {
			out[txn.AppID] = txn.Version
		}
	}
	return out
}

func (s *session) Abort(_ context.Context, writeID string) error {
	s.lake.mu.Lock()
	defer s.lake.mu.Unlock()
	if w, ok := s.writes[writeID]; ok && w.done == nil {
		w.aborted, w.parts = true, nil
	}
	return nil
}
