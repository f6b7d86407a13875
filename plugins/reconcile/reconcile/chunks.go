package reconcile

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/pipectl/pipectl/core/plugin"
)

// chunkFinding is something wrong with the records of a chunk.
type chunkFinding struct {
	kind string
	span
	// detail is the report's JSON, text is for people.
	detail, text string
}

// held is what bronze holds of one chunk.
type held struct {
	rows  int64
	stamp string // the lowest
}

// checkChunks checks the records of the newest chunked snapshot: that its
// chunks tile the key space, and that bronze holds what was recorded. Records
// are read before bronze is: rows are committed first, so a wave under way is
// no failure.
func (r *run) checkChunks(ctx context.Context) error {
	if r.view.Open == nil {
		return nil
	}
	snapshot := r.view.Open.Snapshot
	recorded, err := r.host.Ledger.Chunks(ctx, snapshot)
	if err != nil {
		return err
	}
	bronze, err := r.heldChunks(ctx, snapshot)
	if err != nil {
		return err
	}
	// A completed snapshot newer than this one says nothing about it, so
	// whether this one is complete is known only from its own record.
	c := chunkCheck{snapshot: snapshot, complete: r.view.Snapshot == snapshot, bronze: bronze, recorded: map[int32][]plugin.ChunkRow{}, last: -1}
	for _, row := range recorded {
		c.recorded[row.Index] = append(c.recorded[row.Index], row)
		c.last = max(c.last, row.Index)
	}
	if err := c.check(); err != nil {
		return err
	}
	r.chunks = c.found
	for _, f := range r.chunks {
		r.result.Failures[f.kind]++
	}
	return nil
}

// heldChunks counts bronze's rows of the snapshot by chunk.
func (r *run) heldChunks(ctx context.Context, snapshot string) (map[int32]held, error) {
	states, err := r.host.Tables.GetTables(ctx, plugin.GetTablesRequest{Tables: []plugin.TableRef{r.req.Bronze}})
	if err != nil {
		return nil, fmt.Errorf("looking at %s: %w", r.req.Bronze.Name, err)
	}
	bronze := states[0]
	out := map[int32]held{}
	if !bronze.Exists || !bronze.Schema.HasField(plugin.ColumnChunk) || !bronze.Schema.HasField(plugin.ColumnSnapshot) {
		return out, nil
	}
	err = r.scan(ctx, plugin.ScanRequest{
		Table: r.req.Bronze, Version: bronze.Version,
		Columns: []string{plugin.ColumnOperation, plugin.ColumnSnapshot, plugin.ColumnChunk, plugin.ColumnStartLSN},
		Filter: where(
			plugin.Term{Column: plugin.ColumnOperation, Op: plugin.OpEQ, Literals: []plugin.Literal{{Type: plugin.LiteralInt, Int: int64(plugin.OpSnapshot)}}},
			plugin.Term{Column: plugin.ColumnSnapshot, Op: plugin.OpEQ, Literals: []plugin.Literal{text(snapshot)}},
			plugin.Term{Column: plugin.ColumnChunk, Op: plugin.OpNotNull}),
	}, func(batch arrow.RecordBatch) error { return countChunks(batch, snapshot, out) })
	return out, err
}

func countChunks(batch arrow.RecordBatch, snapshot string, out map[int32]held) error {
	operation, err := columnOf[*array.Int32](batch, plugin.ColumnOperation)
	if err != nil {
		return err
	}
	of, err := columnOf[*array.String](batch, plugin.ColumnSnapshot)
	if err != nil {
		return err
	}
	chunk, err := columnOf[*array.Int32](batch, plugin.ColumnChunk)
	if err != nil {
		return err
	}
	stamp, err := columnOf[*array.String](batch, plugin.ColumnStartLSN)
	if err != nil {
		return err
	}
	for i := range int(batch.NumRows()) {
		if operation.Value(i) != plugin.OpSnapshot || of.IsNull(i) || of.Value(i) != snapshot || chunk.IsNull(i) {
			continue
		}
		h := out[chunk.Value(i)]
		if h.rows++; h.stamp == "" || stamp.Value(i) < h.stamp {
			h.stamp = string([]byte(stamp.Value(i))) // the batch does not live on
		}
		out[chunk.Value(i)] = h
	}
	return nil
}

// chunkCheck holds the rules of a chunked snapshot's records.
type chunkCheck struct {
	snapshot string
	complete bool
	recorded map[int32][]plugin.ChunkRow
	bronze   map[int32]held
	// last is the largest index seen.
	last  int32
	found []chunkFinding
}

func (c *chunkCheck) check() error {
	if c.complete {
		for i := range c.bronze {
			c.last = max(c.last, i)
		}
	}
	var previous *plugin.ChunkRow
	for i := int32(0); i <= c.last; i++ {
		list := c.recorded[i]
		if len(list) == 0 {
			if err := c.unrecorded(i); err != nil {
				return err
			}
			previous = nil
			continue
		}
		row := list[0]
		if err := c.tiles(row, previous, len(list)); err != nil {
			return err
		}
		if err := c.holds(row); err != nil {
			return err
		}
		previous = &row
	}
	if list := c.recorded[c.last]; c.complete && len(list) > 0 && !list[0].Last {
		return c.problem(list[0], "the snapshot is complete, and its highest chunk is not marked as the last")
	}
	return nil
}

// unrecorded is a chunk without a record; of a complete snapshot bronze must
// not hold rows of it either.
func (c *chunkCheck) unrecorded(i int32) error {
	if err := c.problem(plugin.ChunkRow{Index: i}, "no record of this chunk"); err != nil {
		return err
	}
	h, ok := c.bronze[i]
	if !c.complete || !ok {
		return nil
	}
	text := fmt.Sprintf("chunk %d of snapshot %s has no record, and bronze holds %d rows of it", i, c.snapshot, h.rows)
	return c.add(kindChunkRows, plugin.ChunkRow{Index: i}, text, rowsDetail{c.snapshot, i, nil, h.rows})
}

func (c *chunkCheck) tiles(row plugin.ChunkRow, previous *plugin.ChunkRow, records int) error {
	var problems []string
	if records > 1 {
		problems = append(problems, fmt.Sprintf("%d records of one chunk", records))
	}
	switch {
	case row.Index == 0 && row.Lo != "":
		problems = append(problems, "the first chunk does not begin at the open end")
	case previous != nil && previous.Last:
		problems = append(problems, "it follows a chunk that is marked as the last")
	case previous != nil && !sameJSON(previous.Hi, row.Lo):
		problems = append(problems, fmt.Sprintf("it begins at %s, the chunk before it ends at %s", open(row.Lo), open(previous.Hi)))
	}
	for _, p := range problems {
		if err := c.problem(row, p); err != nil {
			return err
		}
	}
	return nil
}

func (c *chunkCheck) holds(row plugin.ChunkRow) error {
	h := c.bronze[row.Index]
	if h.rows != row.Rows {
		text := fmt.Sprintf("chunk %d of snapshot %s was recorded with %d rows, bronze holds %d", row.Index, c.snapshot, row.Rows, h.rows)
		if err := c.add(kindChunkRows, row, text, rowsDetail{c.snapshot, row.Index, &row.Rows, h.rows}); err != nil {
			return err
		}
	}
	lowest := row.Stamp
	if h.stamp != "" && (lowest == "" || h.stamp < lowest) {
		lowest = h.stamp
	}
	if lowest >= c.snapshot {
		return nil
	}
	text := fmt.Sprintf("chunk %d is stamped %s, before its snapshot %s", row.Index, lowest, c.snapshot)
	return c.add(kindChunkStamp, row, text, stampDetail{c.snapshot, row.Index, lowest})
}

// Details of chunk findings, as the report holds them.
type (
	problemDetail struct {
		Snapshot string `json:"snapshot"`
		Chunk    int32  `json:"chunk"`
		Problem  string `json:"problem"`
	}
	rowsDetail struct {
		Snapshot   string `json:"snapshot"`
		Chunk      int32  `json:"chunk"`
		FactsRows  *int64 `json:"facts_rows"`
		BronzeRows int64  `json:"bronze_rows"`
	}
	stampDetail struct {
		Snapshot string `json:"snapshot"`
		Chunk    int32  `json:"chunk"`
		LSN      string `json:"lsn"`
	}
)

func (c *chunkCheck) problem(row plugin.ChunkRow, what string) error {
	text := fmt.Sprintf("chunk %d of snapshot %s: %s", row.Index, c.snapshot, what)
	return c.add(kindChunkTiling, row, text, problemDetail{c.snapshot, row.Index, what})
}

func (c *chunkCheck) add(kind string, row plugin.ChunkRow, text string, detail any) error {
	encoded, err := json.Marshal(detail)
	if err != nil {
		return fmt.Errorf("encoding a finding: %w", err)
	}
	c.found = append(c.found, chunkFinding{kind: kind, span: span{row.Lo, row.Hi}, detail: string(encoded), text: text})
	return nil
}

// sameJSON compares two bounds; blanks in them mean nothing.
func sameJSON(a, b string) bool {
	var x, y bytes.Buffer
	if json.Compact(&x, []byte(a)) != nil || json.Compact(&y, []byte(b)) != nil {
		return a == b
	}
	return x.String() == y.String()
}

func open(bound string) string {
	if bound == "" {
		return "the open end"
	}
	return bound
}
