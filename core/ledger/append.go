package ledger

import (
	"context"
	"fmt"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
)

// entry is rows of the facts table that are recorded together under one key.
// The zero txn is no key.
type entry struct {
	txn  plugin.Txn
	rows []fact
}

// RecordBatches writes the rows of micro-batches, of one stream or of several,
// in one commit. A batch that is recorded already is left out, so the call may
// be repeated.
func (l *Ledger) RecordBatches(ctx context.Context, batches ...Batch) error {
	entries := make([]entry, len(batches))
	for i, b := range batches {
		entries[i] = entry{txn: plugin.Txn{AppID: FactsApp(b.AppID), Version: b.Number}, rows: b.facts()}
	}
	return l.append(ctx, entries)
}

func (l *Ledger) append(ctx context.Context, entries []entry) error {
	if err := l.ensure(ctx, l.factsSpec()); err != nil {
		return err
	}
	return l.retryAlone(ctx, l.factsTurn, func() error { return l.appendOnce(ctx, entries) })
}

func (l *Ledger) appendOnce(ctx context.Context, entries []entry) error {
	entries, err := l.missing(ctx, entries)
	if err != nil || len(entries) == 0 {
		return err
	}
	var (
		schema  = schemaOf(factsColumns)
		txns    []plugin.Txn
		facts   []fact
		written = l.clock().UnixMicro()
	)
	for _, e := range entries {
		if e.txn.AppID != "" {
			txns = append(txns, e.txn)
		}
		facts = append(facts, e.rows...)
	}
	for i := range facts {
		facts[i].writtenAt = written
	}
	begun, err := l.tables.BeginWrite(ctx, plugin.BeginWriteRequest{
		Table: l.facts, Mode: plugin.WriteAppend, Schema: schema, Txns: txns, BaseVersion: -1,
	})
	if err != nil {
		return fmt.Errorf("writing to %s: %w", l.facts.Name, err)
	}
	if begun.Already {
		return nil
	}
	batch := batchOf(schema, factsColumns, facts, nil)
	defer batch.Release()
	return l.finish(ctx, l.facts, begun.WriteID, rows.FromBatches(schema, batch))
}

// missing drops entries whose key is recorded. One entry alone needs no look:
// BeginWrite answers for it.
func (l *Ledger) missing(ctx context.Context, entries []entry) ([]entry, error) {
	if len(entries) < 2 {
		return entries, nil
	}
	var ids []string
	for _, e := range entries {
		if e.txn.AppID != "" {
			ids = append(ids, e.txn.AppID)
		}
	}
	states, err := l.tables.GetTables(ctx, plugin.GetTablesRequest{Tables: []plugin.TableRef{l.facts}, AppIDs: ids})
	if err != nil {
		return nil, fmt.Errorf("looking at table %s: %w", l.facts.Name, err)
	}
	var out []entry
	for _, e := range entries {
		if newest, ok := states[0].Txns[e.txn.AppID]; e.txn.AppID == "" || !ok || newest < e.txn.Version {
			out = append(out, e)
		}
	}
	return out, nil
}

// finish writes one part and commits it.
func (l *Ledger) finish(ctx context.Context, table plugin.TableRef, writeID string, frames plugin.FrameReader) error {
	part, err := l.tables.WritePart(ctx, plugin.WritePartRequest{WriteID: writeID}, frames)
	if err != nil {
		_ = l.tables.Abort(context.WithoutCancel(ctx), writeID) // the write's own error is the one to tell
		return fmt.Errorf("writing to %s: %w", table.Name, err)
	}
	if _, err := l.tables.Commit(ctx, plugin.CommitRequest{WriteID: writeID, Tokens: []string{part.Token}}); err != nil {
		return fmt.Errorf("committing to %s: %w", table.Name, err)
	}
	return nil
}
