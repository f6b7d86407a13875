package deltatable

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
)

// writeTarget is what the parts of an append or overwrite write into: the
// table's form, and how to change the schema first if the write must.
type writeTarget struct {
	layout *fileLayout
	rows   *conformer
	// evolved is the table's schema after the write, nil when the write does not
	// change it; added are the columns it adds, widened those that get a wider
	// type, nil when there are none.
	evolved *deltalog.Struct
	added   []deltalog.Field
	widened *deltalog.Struct
}

func newWriteTarget(s *Snapshot, spec WriteSpec) (*writeTarget, error) {
	if spec.Schema == nil {
		return nil, errors.New("a write needs the schema of its rows")
	}
	t := &writeTarget{}
	schema := s.log.Schema()
	if spec.MergeSchema {
		if err := t.evolve(s, spec.Schema); err != nil {
			return nil, err
		}
		if t.evolved != nil {
			schema = t.evolved
		}
	}
	return t, t.bind(s, schema, spec.Schema, nil)
}

// Fits reports, by an ErrSchema, that rows of the schema could never be
// appended: a column has a type here that theirs cannot become. Columns that
// the table lacks are no obstacle.
func (s *Snapshot) Fits(rows *arrow.Schema) error {
	return new(writeTarget).evolve(s, rows)
}

// bind prepares for rows of the schema from, written into a table of the schema
// to. Columns of from in ignore are passed over.
func (t *writeTarget) bind(s *Snapshot, to *deltalog.Struct, from *arrow.Schema, ignore []string) error {
	display, err := deltalog.ToArrow(to, deltalog.ArrowOptions{})
	if err != nil {
		return err
	}
	if t.layout, err = s.newLayout(to); err != nil {
		return err
	}
	if from == nil {
		return nil
	}
	t.rows, err = newConformer(from, display, ignore, s.table.mem())
	return err
}

// newLayout is how data files of the table are written, for a schema of it.
func (s *Snapshot) newLayout(schema *deltalog.Struct) (*fileLayout, error) {
	mode := s.log.MappingMode()
	physical := physicalStruct(schema, mode)
	columns, err := deltalog.ToArrow(physical, deltalog.ArrowOptions{FieldIDs: mode != deltalog.MappingNone})
	if err != nil {
		return nil, err
	}
	opts := s.table.opts
	l := &fileLayout{
		store: s.table.log.Store(), folder: s.table.log.Path(), table: withoutComments(columns),
		mapped: mode != deltalog.MappingNone, spillDir: opts.SpillDir, schema: &deltalog.Struct{},
		options: encodingOptions{deltaPacked: opts.DeltaBinaryPacked},
		target:  opts.TargetFileSize,
		budget:  &rowGroupBudget{limit: opts.RowGroupBytes},
		mem:     s.table.mem(),
		now:     opts.Clock.Now,
	}
	// Partition values are in the order of the partition columns, which need not
	// be that of the table.
	for _, name := range s.log.Metadata().PartitionColumns {
		f, i := schema.Field(name)
		if i < 0 {
			return nil, &SchemaError{Detail: fmt.Sprintf("the partition column %q is not in the table", name)}
		}
		l.partition = append(l.partition, partitionColumn{index: i, field: f})
	}
	var fields []arrow.Field
	for i, f := range physical.Fields {
		l.all = append(l.all, i)
		if slices.ContainsFunc(l.partition, func(p partitionColumn) bool { return p.index == i }) {
			continue
		}
		l.data = append(l.data, i)
		l.schema.Fields = append(l.schema.Fields, f)
		fields = append(fields, l.table.Field(i))
	}
	if len(fields) == 0 {
		return nil, &SchemaError{Detail: "all columns are partition columns, so the files would have none"}
	}
	l.arrow = arrow.NewSchema(fields, nil)
	display := &deltalog.Struct{}
	for _, i := range l.data {
		display.Fields = append(display.Fields, schema.Fields[i])
	}
	if l.leaves, err = statsLeaves(display, s.log.Properties()); err != nil {
		return nil, err
	}
	return l, nil
}

// withoutComments leaves only the field ids of the columns' metadata: nothing
// else belongs into a data file.
func withoutComments(s *arrow.Schema) *arrow.Schema {
	fields := slices.Clone(s.Fields())
	for i, f := range fields {
		if id, ok := f.Metadata.GetValue(parquetFieldID); ok {
			fields[i].Metadata = arrow.NewMetadata([]string{parquetFieldID}, []string{id})
		} else {
			fields[i].Metadata = arrow.Metadata{}
		}
	}
	return arrow.NewSchema(fields, nil)
}

// evolve works out the schema that the table must have for rows of the schema
// from.
func (t *writeTarget) evolve(s *Snapshot, from *arrow.Schema) error {
	incoming, err := deltalog.FromArrow(from)
	if err != nil {
		return err
	}
	var missing []arrow.Field
	widened := &deltalog.Struct{}
	for j, f := range incoming.Fields {
		have, i := s.log.Schema().Field(f.Name)
		if i < 0 {
			missing = append(missing, from.Field(j))
			continue
		}
		display := s.schema.Field(i).Type
		if k := lossless(from.Field(j).Type, display); k != castNone && k != castNanos {
			continue
		}
		if !deltalog.Widens(have.Type, f.Type) {
			return &SchemaError{Detail: fmt.Sprintf("column %q is %s in the table at %s and %s in the rows, which it cannot become; "+
				"write a new table or rewrite this one", have.Name, have.Type, s.place(), f.Type)}
		}
		if !s.log.Properties().TypeWidening() {
			return &SchemaError{Detail: fmt.Sprintf("column %q is %s in the table at %s and %s in the rows; "+
				"set the table property delta.enableTypeWidening = 'true' to let the column become wider, or write a new table", have.Name, have.Type, s.place(), f.Type)}
		}
		widened.Fields = append(widened.Fields, deltalog.Field{Name: have.Name, Type: f.Type})
	}
	if t.added, err = s.missing(missing); err != nil {
		return err
	}
	if len(t.added) == 0 && len(widened.Fields) == 0 {
		return nil
	}
	// The transaction gives new columns their ids and physical names, which the
	// data files need; the commit later takes them as they are.
	tx := s.table.log.Begin(s.log)
	if len(widened.Fields) > 0 {
		if err := tx.WidenColumns(widened); err != nil {
			return err
		}
		t.widened = widened
	}
	if len(t.added) > 0 {
		if err := tx.AddColumns(t.added...); err != nil {
			return err
		}
		all := tx.Schema().Fields
		t.added = all[len(all)-len(t.added):]
	}
	t.evolved = tx.Schema()
	return nil
}

// place names the table in messages.
func (s *Snapshot) place() string {
	if p := s.table.log.Path(); p != "" {
		return p
	}
	return "the store's root"
}

// newPart opens a part that writes data files.
func (t *writeTarget) newPart(ctx context.Context) (partRows, error) {
	return &filePart{rows: t.rows, layout: t.layout, sink: t.layout.newSink(ctx)}, nil
}

// filePart is a part of an append or overwrite: its rows become data files as
// they come.
type filePart struct {
	rows   *conformer
	layout *fileLayout
	sink   rowSink
	closed bool
}

func (p *filePart) write(rec arrow.RecordBatch) error {
	batch, err := p.rows.batch(rec)
	if err != nil {
		return err
	}
	defer batch.Release()
	return p.sink.write(batch)
}

func (p *filePart) close() (rows, bytes int64, err error) {
	if err := p.sink.close(); err != nil {
		return 0, 0, err
	}
	p.closed = true
	return p.sink.written(), totalSize(p.sink.files()), nil
}

func (p *filePart) discard(ctx context.Context) error {
	if !p.closed {
		p.sink.abort()
		p.closed = true
	}
	return p.layout.deleteFiles(ctx, p.sink.files())
}

// commitFiles commits an append or overwrite.
func (w *Write) commitFiles(ctx context.Context, parts []partRows, userMetadata string) (Result, error) {
	var adds []*deltalog.Add
	var rows int64
	for _, p := range parts {
		adds = append(adds, p.(*filePart).sink.files()...)
		rows += p.(*filePart).sink.written()
	}
	if w.spec.Mode == Append && len(adds) == 0 && w.target.evolved == nil {
		return Result{Version: w.base.Version(), Outcome: Nothing}, nil
	}
	s := w.base
	retry := w.table.newRetrier()
	for attempt := 0; ; attempt++ {
		if attempt > 0 || w.unsettled {
			var err error
			if s, err = w.table.Snapshot(ctx); err != nil {
				return Result{}, err
			}
			if w.unsettled && w.settled(s, adds) {
				return Result{Version: s.Version(), Outcome: Committed, Inserted: rows}, nil
			}
			if w.recorded(s) {
				return Result{Version: s.Version(), Outcome: Already}, nil
			}
			if err := w.check(ctx, s); err != nil {
				return Result{}, err
			}
		}
		result, err := w.tryFiles(ctx, s, adds, rows, userMetadata)
		var txn *deltalog.TxnError
		switch {
		case err == nil:
			return result, nil
		case errors.As(err, &txn) && len(w.spec.Txns) == 1:
			return Result{Version: s.Version(), Outcome: Already}, nil
		case errors.As(err, &txn): // looked at once more: all of them, or a part
			continue
		case errors.Is(err, deltalog.ErrCommitUnknown):
			w.unsettled = true
			return Result{}, err
		case !errors.Is(err, deltalog.ErrConflict) || errors.Is(err, deltalog.ErrProtocolChanged):
			return Result{}, err
		}
		more, waitErr := retry.again(ctx)
		if waitErr != nil {
			return Result{}, errors.Join(err, waitErr)
		}
		if !more {
			return Result{}, err
		}
	}
}

// settled says whether the commit that was left open is in this version.
func (w *Write) settled(s *Snapshot, adds []*deltalog.Add) bool {
	if len(adds) == 0 { // nothing to know it by, but an overwrite left nothing
		return w.spec.Mode == Overwrite && s.log.NumFiles() == 0
	}
	return s.holds(adds[0])
}

// holds says whether the file is live in this version.
func (s *Snapshot) holds(add *deltalog.Add) bool {
	for a := range s.log.Files(nil) {
		if a.Path == add.Path {
			return true
		}
	}
	return false
}

// tryFiles makes one attempt to commit on s.
func (w *Write) tryFiles(ctx context.Context, s *Snapshot, adds []*deltalog.Add, rows int64, userMetadata string) (Result, error) {
	tx := w.table.log.Begin(s.log)
	result := Result{Outcome: Committed, Inserted: rows}
	if err := w.target.apply(tx, s); err != nil {
		return Result{}, err
	}
	for _, a := range adds {
		tx.AddFile(a)
	}
	if w.spec.Mode == Overwrite {
		removed := 0
		for a := range s.log.Files(nil) {
			tx.RemoveFile(a, true)
			removed++
			if n, ok := a.LiveRecords(); ok && result.Deleted >= 0 {
				result.Deleted += n
			} else {
				result.Deleted = -1
			}
		}
		if removed == 0 && len(adds) == 0 && w.target.evolved == nil {
			return Result{Version: s.Version(), Outcome: Nothing}, nil
		}
	}
	if w.spec.BaseVersion != nil {
		tx.ReadTable()
	}
	w.describe(tx, userMetadata, map[string]int64{"numFiles": int64(len(adds)), "numOutputRows": rows, "numOutputBytes": totalSize(adds)})
	version, err := tx.Commit(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("committing the write: %w", err)
	}
	result.Version = version
	return result, nil
}

// apply makes the schema changes of the write, as far as the table still needs
// them, and fails when the files that were written no longer suit the table.
func (t *writeTarget) apply(tx *deltalog.Transaction, s *Snapshot) error {
	if t.widened != nil {
		// Another commit may have made a column as wide, or wider, meanwhile.
		left := &deltalog.Struct{}
		for _, f := range t.widened.Fields {
			if have, i := s.log.Schema().Field(f.Name); i >= 0 && deltalog.Widens(have.Type, f.Type) {
				left.Fields = append(left.Fields, f)
			}
		}
		if len(left.Fields) > 0 {
			if err := tx.WidenColumns(left); err != nil {
				return err
			}
		}
	}
	var add []deltalog.Field
	for _, f := range t.added {
		if _, i := s.log.Schema().Field(f.Name); i < 0 {
			add = append(add, f)
		}
	}
	if len(add) > 0 {
		if err := tx.AddColumns(add...); err != nil {
			return err
		}
	}
	now := physicalStruct(tx.Schema(), s.log.MappingMode())
	for _, p := range t.layout.partition {
		if g, i := tx.Schema().Field(p.field.Name); i < 0 || !deltalog.EqualData(p.field.Type, g.Type) || p.field.Nullable && !g.Nullable {
			return &SchemaError{Detail: fmt.Sprintf("partition column %q was changed by another commit while the rows were written; write them again", p.field.Name)}
		}
	}
	for _, f := range t.layout.schema.Fields {
		g, i := now.Field(f.Name)
		if i < 0 || !deltalog.EqualData(f.Type, g.Type) && lossless(arrowOf(f), arrowOf(g)) == castNone {
			return &SchemaError{Detail: fmt.Sprintf("column %q was changed by another commit while the rows were written; write them again", f.Name)}
		}
		if !g.Nullable && f.Nullable {
			return &SchemaError{Detail: fmt.Sprintf("column %q became NOT NULL while the rows were written; write them again", f.Name)}
		}
	}
	return nil
}

// arrowOf is the Arrow type of a column, Arrow's null type for one that has
// none.
func arrowOf(f deltalog.Field) arrow.DataType {
	s, err := deltalog.ToArrow(&deltalog.Struct{Fields: []deltalog.Field{f}}, deltalog.ArrowOptions{})
	if err != nil {
		return arrow.Null
	}
	return s.Field(0).Type
}

// describe sets what every commit of a write carries.
func (w *Write) describe(tx *deltalog.Transaction, userMetadata string, metrics map[string]int64) {
	parameters := map[string]string{}
	switch w.spec.Mode {
	case Append:
		parameters["mode"] = "Append"
	case Overwrite:
		parameters["mode"] = "Overwrite"
	}
	tx.SetOperation(w.spec.Mode.String(), parameters)
	tx.SetMetrics(metrics)
	if userMetadata != "" {
		tx.SetUserMetadata(userMetadata)
	}
	for _, txn := range w.spec.Txns {
		tx.SetTxn(txn.AppID, txn.Version)
	}
}

func totalSize(adds []*deltalog.Add) (n int64) {
	for _, a := range adds {
		n += a.Size
	}
	return n
}
