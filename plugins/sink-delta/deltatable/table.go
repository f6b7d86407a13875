package deltatable

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// Options say how a table is read and written. The zero value is good.
type Options struct {
	// Allocator is where Arrow memory comes from; nil means Go's heap.
	Allocator memory.Allocator
	// Parallel is how many data files are read, or rewritten, at once; 0 means
	// one per processor.
	Parallel int
	// TargetFileSize is the size in bytes at which a data file is finished and
	// the next begun; 0 means 256 MiB.
	TargetFileSize int64
	// RowGroupBytes bounds the Arrow bytes of unfinished row groups over all
	// parts of a write; 0 means 128 MiB.
	RowGroupBytes int64
	// DeltaBinaryPacked writes integers, dates and timestamps in that encoding:
	// smaller and faster, but not proven with every reader.
	DeltaBinaryPacked bool
	// MergeMemory bounds what a merge keeps of its source in memory: half for
	// rows, which then go to SpillDir, half for the index of their keys, which
	// is then built and probed in several passes. 0 means 128 MiB.
	MergeMemory int64
	// SpillDir is the folder for temporary files; empty means the system's.
	SpillDir string
	// Retry bounds how long a write goes on after a conflict, which makes it look
	// at the table again; the zero value means a minute, waiting half a second at
	// first and at most ten. A commit that only lost its version number, as appends
	// do to each other, goes on at the log's pace (deltalog.DefaultRetry) within
	// the same budget.
	Retry deltalog.Retry
	// Clock and Random replace the system's clock and the jitter of waits, for
	// tests.
	Clock  deltalog.Clock
	Random func() float64
	// Log are further options for the Delta log: logger, engine name, opener.
	Log []deltalog.Option
}

func (o Options) withDefaults() Options {
	if o.Allocator == nil {
		o.Allocator = memory.DefaultAllocator
	}
	if o.Parallel <= 0 {
		o.Parallel = runtime.GOMAXPROCS(0)
	}
	if o.TargetFileSize <= 0 {
		o.TargetFileSize = 256 << 20
	}
	if o.RowGroupBytes <= 0 {
		o.RowGroupBytes = 128 << 20
	}
	if o.MergeMemory <= 0 {
		o.MergeMemory = 128 << 20
	}
	if o.SpillDir == "" {
		o.SpillDir = os.TempDir()
	}
	if o.Retry == (deltalog.Retry{}) {
		o.Retry = deltalog.Retry{Budget: time.Minute, Base: 500 * time.Millisecond, Max: 10 * time.Second}
	}
	if o.Clock == nil {
		o.Clock = deltalog.SystemClock()
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	return o
}

// logOptions are the options of the table's log.
func (o Options) logOptions() []deltalog.Option {
	retry := deltalog.DefaultRetry()
	retry.Budget = o.Retry.Budget
	return append([]deltalog.Option{deltalog.WithClock(o.Clock), deltalog.WithRetry(retry), deltalog.WithRandom(o.Random)}, o.Log...)
}

// Table is a Delta table whose rows can be read and written. It is safe for
// concurrent use.
type Table struct {
	log  *deltalog.Table
	opts Options
}

// Open finds the table at path inside st (empty: the store's root is the
// table). It fails with deltalog.ErrNotTable when there is none.
func Open(ctx context.Context, st store.Store, path string, opts Options) (*Table, error) {
	opts = opts.withDefaults()
	log, err := deltalog.Open(ctx, st, path, opts.logOptions()...)
	if err != nil {
		return nil, err
	}
	return &Table{log: log, opts: opts}, nil
}

// Spec says what a new table is.
type Spec struct {
	// Schema holds the columns; a field's metadata key "comment" is the column's
	// description.
	Schema *arrow.Schema
	// PartitionColumns name those columns whose values say in which files a row
	// is; empty means that the table is not partitioned.
	PartitionColumns []string
	// Description is the table's.
	Description string
	// Properties are table properties. Features that they or the schema need are
	// switched on.
	Properties map[string]string
}

// oddNames are the characters that Delta refuses in names of columns without
// column mapping (Delta's own check, DeltaColumnMapping: " ,;{}()\n\t=").
const oddNames = " ,;{}()\n\t="

// CreateIfAbsent makes the table, or opens the one that is there; created says
// which. Of two creators at once, one makes it and the other gets that one. A
// table with a column name that Delta does not allow gets column mapping by
// name, any other does not.
func CreateIfAbsent(ctx context.Context, st store.Store, path string, spec Spec, opts Options) (t *Table, created bool, err error) {
	t, err = Open(ctx, st, path, opts)
	if !errors.Is(err, deltalog.ErrNotTable) {
		return t, false, err
	}
	schema, err := deltalog.FromArrow(spec.Schema)
	if err != nil {
		return nil, false, err
	}
	properties := map[string]string{}
	for k, v := range spec.Properties {
		properties[k] = v
	}
	if _, given := properties[mappingModeProperty]; !given && hasOddName(schema) {
		properties[mappingModeProperty] = string(deltalog.MappingName)
	}
	opts = opts.withDefaults()
	log, err := deltalog.Create(ctx, st, path, deltalog.CreateSpec{
		Schema: schema, PartitionColumns: spec.PartitionColumns, Description: spec.Description, Properties: properties,
	}, opts.logOptions()...)
	if errors.Is(err, deltalog.ErrTableExists) {
		t, err = Open(ctx, st, path, opts)
		return t, false, err
	}
	if err != nil {
		return nil, false, fmt.Errorf("creating the table at %q: %w", path, err)
	}
	return &Table{log: log, opts: opts}, true, nil
}

// Log is the table's log, for what is not about rows: history, checkpoints,
// cleanup.
func (t *Table) Log() *deltalog.Table { return t.log }

func (t *Table) mem() memory.Allocator { return t.opts.Allocator }

// Snapshot pins the newest version.
func (t *Table) Snapshot(ctx context.Context) (*Snapshot, error) {
	log, err := t.log.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return t.newSnapshot(log)
}

// SnapshotAt pins one version; deltalog.ErrVersionNotFound when it does not
// exist or can no longer be read.
func (t *Table) SnapshotAt(ctx context.Context, version int64) (*Snapshot, error) {
	log, err := t.log.SnapshotAt(ctx, version)
	if err != nil {
		return nil, err
	}
	return t.newSnapshot(log)
}

// Snapshot is one version of a table. It does not change and is safe for
// concurrent use.
type Snapshot struct {
	table  *Table
	log    *deltalog.Snapshot
	schema *arrow.Schema
	all    []tableColumn
}

func (t *Table) newSnapshot(log *deltalog.Snapshot) (*Snapshot, error) {
	schema, err := deltalog.ToArrow(log.Schema(), deltalog.ArrowOptions{})
	if err != nil {
		return nil, err
	}
	s := &Snapshot{table: t, log: log, schema: schema}
	partition := map[string]bool{}
	for _, name := range log.Metadata().PartitionColumns {
		partition[name] = true
	}
	for i, f := range log.Schema().Fields {
		s.all = append(s.all, tableColumn{field: f, arrow: schema.Field(i), partition: partition[f.Name]})
	}
	return s, nil
}

// Log is the snapshot's log: version, properties, txn versions, files.
func (s *Snapshot) Log() *deltalog.Snapshot { return s.log }

// CheckWrite says whether rows can be written into the table: nil or a
// [deltalog.ErrUnsupported].
func (s *Snapshot) CheckWrite() error { return s.log.CheckWrite() }

// Schema is the table's schema; comments are under the metadata key "comment".
func (s *Snapshot) Schema() *arrow.Schema { return s.schema }

// Version is the table version that is pinned.
func (s *Snapshot) Version() int64 { return s.log.Version() }
