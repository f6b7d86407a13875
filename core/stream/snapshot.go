package stream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
)

// SnapshotQuery asks for the newest whole snapshot that a bronze table holds.
type SnapshotQuery struct {
	AppID  string
	Bronze plugin.TableState
	// Recorded is what facts say of snapshots of the table.
	Recorded []ledger.SnapshotRow
	// Instances are the names whose rows are the table's, lower case.
	Instances []string
	// Begun tells that the stream has gone on from its snapshot: one row of it
	// is proof enough, and looking at all of them would cost every run a scan of
	// the table.
	Begun bool
}

// Completion is the newest completion that facts record for the stream, nil
// when none.
func (q SnapshotQuery) Completion() *ledger.SnapshotRow {
	var newest *ledger.SnapshotRow
	for i, r := range q.Recorded {
		if r.Event == ledger.EventBootstrap && ledger.Family(q.AppID, r.AppID) && (newest == nil || r.Stamp.Text > newest.Stamp.Text) {
			newest = &q.Recorded[i]
		}
	}
	return newest
}

// stamps are the positions of the stream's whole snapshots that facts name, the
// newest first.
func (q SnapshotQuery) stamps() []string {
	var out []string
	for _, r := range q.Recorded {
		if ledger.Family(q.AppID, r.AppID) && r.Mode != ledger.ModeChunked && !slices.Contains(out, r.Stamp.Text) {
			out = append(out, r.Stamp.Text)
		}
	}
	slices.Sort(out)
	slices.Reverse(out)
	return out
}

// FindSnapshot returns the position of that snapshot, none when there is none.
func FindSnapshot(ctx context.Context, tables plugin.Tables, q SnapshotQuery) (plugin.Position, error) {
	event := q.Completion()
	if event != nil && event.Rows != nil && *event.Rows == 0 {
		return event.Stamp, nil // of an empty table: it left no row to be found
	}
	if !q.Bronze.Exists || !q.changeLog() {
		return plugin.Position{}, nil
	}
	if event != nil && q.Begun {
		// The newest first: the rows of an older one may have been deleted, and
		// the table read again.
		for _, at := range q.stamps() {
			found, err := q.scan(ctx, tables, at)
			if err != nil || !found.IsZero() {
				return found, err
			}
		}
	}
	return q.scan(ctx, tables, "")
}

// changeLog reports whether the table has the columns of one: another program's,
// that is yet to be taken over, holds no snapshot.
func (q SnapshotQuery) changeLog() bool {
	for _, name := range []string{plugin.ColumnCaptureInstance, plugin.ColumnStartLSN, plugin.ColumnOperation} {
		if !q.Bronze.Schema.HasField(name) {
			return false
		}
	}
	return true
}

// ours reports whether rows of a snapshot are the stream's. Facts vouch for the
// snapshots that it has opened or found, whatever the name under which they were
// read: the source forgets the name of a capture instance that was dropped.
func (q SnapshotQuery) ours(stamp, instance string) bool {
	return slices.Contains(q.Instances, strings.ToLower(instance)) ||
		slices.ContainsFunc(q.Recorded, func(r ledger.SnapshotRow) bool {
			return r.Stamp.Text == stamp && ledger.Family(q.AppID, r.AppID)
		})
}

// scan looks for rows of whole snapshots: the newest, or any row of the one at a
// position.
func (q SnapshotQuery) scan(ctx context.Context, tables plugin.Tables, at string) (plugin.Position, error) {
	has := func(column string) bool { return len(q.Bronze.Schema.FieldIndices(column)) > 0 }
	columns := []string{plugin.ColumnCaptureInstance, plugin.ColumnStartLSN, plugin.ColumnOperation}
	if has(plugin.ColumnCommitTS) {
		columns = append(columns, plugin.ColumnCommitTS)
	}
	terms := []plugin.Term{{Column: plugin.ColumnOperation, Op: plugin.OpEQ, Literals: []plugin.Literal{{Type: plugin.LiteralInt, Int: int64(plugin.OpSnapshot)}}}}
	if has(plugin.ColumnSnapshot) {
		columns = append(columns, plugin.ColumnSnapshot)
	}
	if has(plugin.ColumnChunk) {
		columns = append(columns, plugin.ColumnChunk)
		terms = append(terms, plugin.Term{Column: plugin.ColumnChunk, Op: plugin.OpIsNull})
	}
	if at != "" {
		terms = append(terms, plugin.Term{Column: plugin.ColumnStartLSN, Op: plugin.OpEQ, Literals: []plugin.Literal{{Type: plugin.LiteralString, Text: at}}})
	}
	frames, err := tables.Scan(ctx, plugin.ScanRequest{
		Table: q.Bronze.Table, Version: -1, Columns: columns, Filter: plugin.Filter{Any: []plugin.Clause{{All: terms}}},
	})
	if err == nil {
		var reader *rows.Reader
		if reader, err = rows.NewReader(frames, memory.DefaultAllocator); err == nil {
			var newest plugin.Position
			_, err = reader.ForEach(func(b arrow.RecordBatch) error { return q.newest(b, at, &newest) })
			if err == nil || errors.Is(err, errFound) {
				return newest, nil
			}
		}
	}
	return plugin.Position{}, fmt.Errorf("looking for a snapshot in %s: %w", q.Bronze.Table.Name, err)
}

var errFound = errors.New("found")

// newest raises newest to the newest snapshot among the rows of a batch.
func (q SnapshotQuery) newest(b arrow.RecordBatch, at string, newest *plugin.Position) error {
	instances, starts := textColumn(b, plugin.ColumnCaptureInstance), textColumn(b, plugin.ColumnStartLSN)
	snapshots := textColumn(b, plugin.ColumnSnapshot)
	operations, ok := columnOf(b, plugin.ColumnOperation).(*array.Int32)
	if instances == nil || starts == nil || !ok {
		return fmt.Errorf("the columns of %s do not have the types of a change log", q.Bronze.Table.Name)
	}
	commits, _ := columnOf(b, plugin.ColumnCommitTS).(*array.Timestamp)
	chunks := columnOf(b, plugin.ColumnChunk)
	for i := range int(b.NumRows()) {
		if operations.IsNull(i) || operations.Value(i) != plugin.OpSnapshot || chunks != nil && chunks.IsValid(i) {
			continue
		}
		if at != "" && starts.Value(i) != at {
			continue
		}
		// Rows older than the column _snapshot carry the position as their own.
		stamp := starts.Value(i)
		if snapshots != nil && snapshots.IsValid(i) {
			stamp = snapshots.Value(i)
		}
		if stamp <= newest.Text || !q.ours(stamp, instances.Value(i)) {
			continue
		}
		*newest = plugin.Position{Text: strings.Clone(stamp)}
		if commits != nil && commits.IsValid(i) {
			newest.CommitMicros, newest.HasCommit = int64(commits.Value(i)), true
		}
		if at != "" {
			return errFound
		}
	}
	return nil
}

func columnOf(b arrow.RecordBatch, name string) arrow.Array {
	index := b.Schema().FieldIndices(name)
	if len(index) == 0 {
		return nil
	}
	return b.Column(index[0])
}

func textColumn(b arrow.RecordBatch, name string) array.StringLike {
	column, _ := columnOf(b, name).(array.StringLike)
	return column
}
