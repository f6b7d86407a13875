package silver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
)

// snapshotRows is what bronze's own rows say of snapshots newer than the known
// ones.
type snapshotRows struct {
	// whole is the newest whole snapshot, "" when there is none.
	whole string
	// again tells that there are rows of a whole snapshot at the known position,
	// when it was asked for.
	again bool
	// chunks counts rows of chunked snapshots.
	chunks int64
}

// findSnapshotRows scans the snapshot rows above the known position, and with
// again those at it, too. Older ones cannot change the result, so file
// statistics skip them.
func findSnapshotRows(ctx context.Context, host plugin.Host, bronze plugin.TableState, shape bronzeShape, instances []string, known string, again bool) (snapshotRows, error) {
	above := plugin.OpGT
	if again {
		above = plugin.OpGE
	}
	terms := []plugin.Term{{Column: plugin.ColumnOperation, Op: plugin.OpEQ, Literals: []plugin.Literal{integer(int64(plugin.OpSnapshot))}}}
	if known != "" {
		terms = append(terms, plugin.Term{Column: plugin.ColumnStartLSN, Op: above, Literals: []plugin.Literal{text(known)}})
	}
	var found snapshotRows
	frames, err := host.Tables.Scan(ctx, plugin.ScanRequest{
		Table: bronze.Table, Version: bronze.Version, Columns: snapshotColumns(shape),
		Filter: plugin.Filter{Any: []plugin.Clause{{All: terms}}},
	})
	if err != nil {
		return found, fmt.Errorf("looking for snapshots in %s: %w", bronze.Table.Name, err)
	}
	reader, err := rows.NewReader(frames, memory.DefaultAllocator)
	if err != nil {
		return found, fmt.Errorf("looking for snapshots in %s: %w", bronze.Table.Name, err)
	}
	_, err = reader.ForEach(func(batch arrow.RecordBatch) error {
		c, err := newRowColumns(batch)
		if err != nil {
			return err
		}
		for i := range int(batch.NumRows()) {
			if c.operation.Value(i) != plugin.OpSnapshot || c.position.Value(i) < known ||
				!slices.Contains(instances, strings.ToLower(c.instance.Value(i))) {
				continue
			}
			switch s := c.snapshotOf(i); {
			case c.position.Value(i) == known:
				found.again = found.again || again && !c.chunked(i) && s == known
			case c.chunked(i):
				found.chunks++
			case s > found.whole:
				found.whole = strings.Clone(s)
			}
		}
		return nil
	})
	if err != nil {
		return found, fmt.Errorf("looking for snapshots in %s: %w", bronze.Table.Name, err)
	}
	return found, nil
}

func snapshotColumns(shape bronzeShape) []string {
	names := []string{plugin.ColumnCaptureInstance, plugin.ColumnStartLSN, plugin.ColumnOperation}
	if shape.snapshots {
		names = append(names, plugin.ColumnSnapshot)
	}
	if shape.chunks {
		names = append(names, plugin.ColumnChunk)
	}
	return names
}
