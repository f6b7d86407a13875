package ledger

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
)

// ControlRow is one row of the control table.
type ControlRow struct {
	Table string
	// FinalizedUntil is the verdict, UpdatedAt when it last moved: microseconds
	// UTC, nil when there is no verdict.
	FinalizedUntil, UpdatedAt *int64
	// End is the batch end that last moved the verdict, not the newest one.
	End plugin.Position
	// Position is that of a silver table; zero on other rows.
	Position plugin.TargetPosition
	// Place is of which table of this name the row is; zero when not known.
	Place Place
}

const (
	columnTableName      = "table_name"
	columnFinalizedUntil = "finalized_until"
	columnTablePath      = "table_path"
	columnTableID        = "table_id"
	// columnAction is no column of the table: it tells the sink what to do.
	columnAction = "_action"
)

// controlColumns are in the order in which the table is created: the key, four
// of the verdict, seven of a silver's position, two of the table. The last five are
// pipectl's own; other writers leave them alone.
var controlColumns = []column[ControlRow]{
	text(columnTableName, "Name of the table that the row is about.", func(r *ControlRow) string { return r.Table }),
	moment(columnFinalizedUntil, "The verdict: every period that ends at or before this instant is complete in the table. It only moves forward. Over a recorded gap it says that nothing more arrives, not that nothing is missing.", func(r *ControlRow) *int64 { return r.FinalizedUntil }),
	text("end_lsn", "Position of the batch end that last moved the verdict.", func(r *ControlRow) string { return r.End.Text }),
	moment("end_commit_ts", "Commit time of end_lsn; the verdict is this instant cut to the period.", func(r *ControlRow) *int64 { return commitMicros(r.End) }),
	moment("updated_at", "When the verdict last moved, on the writer's clock.", func(r *ControlRow) *int64 { return r.UpdatedAt }),
	text("applied_lsn", "Silver only: highest change position applied, or the snapshot rebuilt from; the next run reads the changes after it.", func(r *ControlRow) string { return r.Position.Applied }),
	text("snapshot_lsn", "Silver only: the snapshot last rebuilt from.", func(r *ControlRow) string { return r.Position.RebuiltFrom }),
	text("open_snapshot_lsn", "Silver only: the chunked snapshot whose waves are being applied; its rows are not all there yet.", func(r *ControlRow) string { return r.Position.Open }),
	integer("snapshot_wave", "Silver only: last wave of that snapshot applied, NULL before the first.", func(r *ControlRow) *int32 { return r.Position.Wave }),
	long("silver_version", "Silver only: version of the table when the position was stored. A table that is behind it was put back.", func(r *ControlRow) *int64 { return r.Position.Version }),
	long("foreign_version", "Silver only: newest version in which another writer changed rows, until the table is rebuilt or a check compared every row and found it equal.", func(r *ControlRow) *int64 { return r.Position.Foreign }),
	long("silver_merge", "Silver only: number of the last merge in the table when the position was stored, its txn "+plugin.MergesApp+". A table of which the number is lower was put back, whatever version it has.", func(r *ControlRow) *int64 { return r.Position.Merge }),
	text(columnTablePath, "Where the table lies below the root. Another table of this name has no row, and no configuration may write it.", func(r *ControlRow) string { return r.Place.Path }),
	text(columnTableID, "Identity of the table, new when it is created again.", func(r *ControlRow) string { return r.Place.ID }),
}

var (
	verdictColumns  = controlColumns[1:5]
	positionColumns = controlColumns[5:12]
	placeColumns    = controlColumns[12:]
)

// ControlRow reads one row; a zero row with the name when there is none.
func (l *Ledger) ControlRow(ctx context.Context, table string) (ControlRow, error) {
	all, err := l.ControlRows(ctx, table)
	if err != nil {
		return ControlRow{}, err
	}
	row := all[table]
	row.Table = table
	return row, nil
}

// ControlRows reads the rows of the tables named, or all rows when none is. A
// table without a row is absent, and so is every row when there is no control
// table.
func (l *Ledger) ControlRows(ctx context.Context, tables ...string) (map[string]ControlRow, error) {
	state, err := l.look(ctx, l.control)
	if err != nil {
		return nil, err
	}
	return l.controlRows(ctx, state, tables...)
}

// controlRows is ControlRows at the version that state tells.
func (l *Ledger) controlRows(ctx context.Context, state plugin.TableState, tables ...string) (map[string]ControlRow, error) {
	out := map[string]ControlRow{}
	var filter plugin.Filter
	if len(tables) > 0 {
		filter = where(in(columnTableName, tables...))
	}
	err := l.scanAt(ctx, state, nil, filter, func(b batch) error {
		for i := range b.rows() {
			row := ControlRow{
				Table:          b.text(columnTableName, i),
				FinalizedUntil: b.micros(columnFinalizedUntil, i),
				UpdatedAt:      b.micros("updated_at", i),
				End:            b.position("end_lsn", "end_commit_ts", i),
				Position: plugin.TargetPosition{
					Applied: b.text("applied_lsn", i), RebuiltFrom: b.text("snapshot_lsn", i),
					Open: b.text("open_snapshot_lsn", i), Wave: b.int32("snapshot_wave", i),
					Version: b.int64("silver_version", i), Foreign: b.int64("foreign_version", i), Merge: b.int64("silver_merge", i),
				},
				Place: Place{Path: b.text(columnTablePath, i), ID: b.text(columnTableID, i)},
			}
			if len(tables) > 0 && !slices.Contains(tables, row.Table) {
				continue // a scan may answer more than was asked for
			}
			if _, twice := out[row.Table]; twice {
				return fmt.Errorf("table %s has two rows for %q; delete the one that is wrong", l.control.Name, row.Table)
			}
			out[row.Table] = row
		}
		return nil
	})
	return out, err
}

// Verdict asks to move one table's verdict.
type Verdict struct {
	Table string
	// End is where the newest batch ended that is committed to the table.
	End         plugin.Position
	Granularity Granularity
	// Place is of which table of this name it is; zero when not known.
	Place Place
}

// Advance moves the verdict of a table forward, never back, and returns the one
// stored afterwards: microseconds UTC, nil when there is none. Call it only
// after the batch behind the position is committed. A control table that is not
// there, or of an older release, is refused even when the position proves nothing.
func (l *Ledger) Advance(ctx context.Context, table string, end plugin.Position, g Granularity) (*int64, error) {
	stored, err := l.AdvanceAll(ctx, Verdict{Table: table, End: end, Granularity: g})
	return stored[table], err
}

// AdvanceAll is Advance for several tables in one commit, none when no verdict
// moves and every row says where its table lies. The result has an entry for every table that has a verdict.
func (l *Ledger) AdvanceAll(ctx context.Context, verdicts ...Verdict) (map[string]*int64, error) {
	if err := l.ensure(ctx, l.controlSpec()); err != nil {
		return nil, err
	}
	names := make([]string, len(verdicts))
	for i, v := range verdicts {
		names[i] = v.Table
	}
	var stored map[string]ControlRow
	err := l.retryAlone(ctx, l.controlTurn, func() (err error) {
		if stored, err = l.ControlRows(ctx, names...); err != nil {
			return err
		}
		for _, v := range verdicts {
			if err := stored[v.Table].Names(v.Table, v.Place, l.control.Name); err != nil {
				return err
			}
		}
		due := l.moved(verdicts, stored)
		if placed := unplaced(verdicts, stored, due); len(placed) > 0 {
			if err := l.merge(ctx, "", nil, -1, placed); err != nil {
				return err
			}
		}
		if len(due) == 0 {
			return nil
		}
		if err := l.merge(ctx, columnFinalizedUntil, verdictColumns, -1, due); err != nil {
			return err
		}
		// Another writer may have been further: then the guard kept its verdict.
		stored, err = l.ControlRows(ctx, names...)
		return err
	})
	out := map[string]*int64{}
	for name, row := range stored {
		out[name] = row.FinalizedUntil
	}
	return out, err
}

// moved returns the rows whose verdict moves, one per table.
func (l *Ledger) moved(verdicts []Verdict, stored map[string]ControlRow) []ControlRow {
	now := l.clock().UnixMicro()
	var out []ControlRow
	for _, v := range verdicts {
		candidate, ok := v.Granularity.Candidate(v.End)
		if !ok {
			continue
		}
		if at := stored[v.Table].FinalizedUntil; at != nil && candidate <= *at {
			continue
		}
		row := ControlRow{Table: v.Table, FinalizedUntil: &candidate, End: v.End, UpdatedAt: &now, Place: v.Place}
		i := slices.IndexFunc(out, func(r ControlRow) bool { return r.Table == v.Table })
		switch {
		case i < 0:
			out = append(out, row)
		case candidate > *out[i].FinalizedUntil:
			out[i] = row
		}
	}
	return out
}

// unplaced returns rows that say nothing of their table, or where it was before:
// they are of an older release, or it was moved. Those that are due say it anyway.
func unplaced(verdicts []Verdict, stored map[string]ControlRow, due []ControlRow) []ControlRow {
	var out []ControlRow
	for _, v := range verdicts {
		row, known := stored[v.Table]
		is := func(r ControlRow) bool { return r.Table == v.Table }
		if known && v.Place.ID != "" && row.Place != v.Place && !slices.ContainsFunc(due, is) && !slices.ContainsFunc(out, is) {
			out = append(out, ControlRow{Table: v.Table, Place: v.Place})
		}
	}
	return out
}

// merge writes the key and some columns of rows, in one commit or none. With a
// base version (-1 = none), a commit that came after it is a conflict. Which tables
// they are is written with them, unless that is not known of one.
func (l *Ledger) merge(ctx context.Context, guard string, columns []column[ControlRow], base int64, due []ControlRow) error {
	columns = append([]column[ControlRow]{controlColumns[0]}, columns...)
	if !slices.ContainsFunc(due, func(r ControlRow) bool { return r.Place.ID == "" }) {
		columns = append(columns, placeColumns...)
	}
	target := schemaOf(columns)
	update := make([]string, len(columns)-1)
	for i, c := range columns[1:] {
		update[i] = c.name
	}
	begun, err := l.tables.BeginWrite(ctx, plugin.BeginWriteRequest{
		Table: l.control, Mode: plugin.WriteMerge, Schema: target, BaseVersion: base,
		Merge: &plugin.Merge{Keys: []string{columnTableName}, Guard: guard, Action: columnAction, UpdateColumns: update},
	})
	if err != nil {
		return fmt.Errorf("merging into %s: %w", l.control.Name, err)
	}
	fields := append(target.Fields(), arrow.Field{Name: columnAction, Type: arrow.BinaryTypes.String, Nullable: true})
	source := arrow.NewSchema(fields, nil)
	record := batchOf(source, columns, due, func(b *array.RecordBuilder) {
		b.Field(len(columns)).(*array.StringBuilder).Append("U")
	})
	defer record.Release()
	return l.finish(ctx, l.control, begun.WriteID, rows.FromBatches(source, record))
}
