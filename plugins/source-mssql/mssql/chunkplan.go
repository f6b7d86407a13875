package mssql

import (
	"context"
	"encoding/json"
	"math/big"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

// PlanChunks cuts the key space: into Parts pieces for a whole snapshot, whose
// first is open below (it takes NULL keys) and whose last is open above, or
// into chunks of ChunkRows rows, whose last ends above the extent's greatest
// key: what is inserted beyond it belongs to the stream.
func (s *session) PlanChunks(ctx context.Context, req plugin.PlanChunksRequest) ([]plugin.Chunk, error) {
	cfg, st, err := s.parse(req.Table)
	if err != nil {
		return nil, err
	}
	whole := []plugin.Chunk{{Last: true}}
	if req.ChunkRows <= 0 && req.Parts <= 1 || req.Extent == "" || len(req.Keys) == 0 {
		return whole, nil
	}
	var e extent
	if err := json.Unmarshal([]byte(req.Extent), &e); err != nil {
		return nil, diag.Errorf(diag.KindInternal, codeKey, "", "The extent of a snapshot cannot be read: %s", err).Err()
	}
	isInt := e.Kind == extentInt && e.Lo != nil && e.Hi != nil
	if !isInt && (e.Kind != extentKeyset || len(e.Max) == 0) {
		return nil, diag.Errorf(diag.KindInternal, codeKey, "", "The extent of a snapshot has the kind %q", e.Kind).Err()
	}
	if isInt && req.ChunkRows <= 0 {
		return chunksAt(integerBounds(*e.Lo, *e.Hi, req.Parts)), nil
	}
	lock, err := s.locking(req.Isolation, 0)
	if err != nil {
		return nil, err
	}
	var out []plugin.Chunk
	err = s.sourceCall(ctx, "plan chunks", cfg, func(c *conn) error {
		t, err := s.target(ctx, c, cfg, st, req.Keys)
		if err != nil {
			return err
		}
		switch {
		case t.cols == nil || isInt && !t.isInteger():
			return diag.Errorf(diag.KindSchemaChanged, codeKey, "Take a new snapshot.", "The key of %s is not the one that the snapshot was opened with: %s", cfg.label(), t.reason).Err()
		case req.ChunkRows > 0:
			out, err = s.rowChunks(ctx, c, t, lock, e, req.ChunkRows)
			return err
		}
		k := &keyset{conn: c, read: tsql.TableRead{Table: t.table, Locking: lock}, target: t}
		bounds, err := k.bounds(ctx, req.Parts)
		out = chunksAt(bounds)
		return err
	})
	return out, err
}

// chunksAt are the chunks between bounds, JSON keys.
func chunksAt(bounds []string) []plugin.Chunk {
	out := make([]plugin.Chunk, len(bounds)+1)
	for i := range out {
		out[i].Index = int32(i)
		if i > 0 {
			out[i].Lo = bounds[i-1]
		}
		if i < len(bounds) {
			out[i].Hi = bounds[i]
		}
	}
	out[len(bounds)].Last = true
	return out
}

// integerBounds are the inner bounds of n equal pieces of [lo, hi]; keys may
// span all of bigint.
func integerBounds(lo, hi int64, n int) []string {
	first := big.NewInt(lo)
	width := new(big.Int).Sub(big.NewInt(hi), first)
	width.Add(width, big.NewInt(1))
	parts := big.NewInt(int64(n))
	if width.Cmp(parts) < 0 {
		parts.Set(width)
	}
	var out []string
	for i := int64(1); i < parts.Int64(); i++ {
		b := new(big.Int).Mul(width, big.NewInt(i))
		out = append(out, b.Add(first, b.Div(b, parts)).String())
	}
	return out
}
