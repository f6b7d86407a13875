package deltalog

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/pipectl/pipectl/plugins/sink-delta/parquetfile"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// checkpointBatch is how many actions are decoded at once.
const checkpointBatch = 8192

// readCheckpoint replays a checkpoint into s. What is wrong with its content is
// ErrCorrupt and names the file.
func (t *Table) readCheckpoint(ctx context.Context, s *state, c checkpointFiles) error {
	sidecars, err := t.readTop(ctx, s, c)
	if err != nil {
		return err
	}
	for _, sc := range sidecars {
		st, object, err := t.sidecar(ctx, sc)
		if err == nil {
			_, err = t.readParquetCheckpoint(ctx, s, st, object, nil)
		}
		if err != nil {
			return fmt.Errorf("sidecar %s of checkpoint %s: %w", sc.Path, c.files[0].Path, err)
		}
	}
	return nil
}

// readTop replays the files of a checkpoint itself, and returns the sidecars that they
// name.
func (t *Table) readTop(ctx context.Context, s *state, c checkpointFiles) (sidecars []sidecar, err error) {
	for _, f := range c.files {
		if strings.HasSuffix(f.Path, ".json") {
			sidecars, err = t.readJSONCheckpoint(ctx, s, f.Path, sidecars)
		} else {
			sidecars, err = t.readParquetCheckpoint(ctx, s, t.store, f.Path, sidecars)
		}
		if err != nil {
			return nil, fmt.Errorf("checkpoint %s: %w", f.Path, err)
		}
	}
	return sidecars, nil
}

// sidecarsOf are the sidecars that a checkpoint names.
func (t *Table) sidecarsOf(ctx context.Context, c checkpointFiles) ([]sidecar, error) {
	return t.readTop(ctx, newState(t), c)
}

// sidecar says where a sidecar lies: its path is a name in the folder of
// sidecars, or absolute.
func (t *Table) sidecar(ctx context.Context, sc sidecar) (store.Store, string, error) {
	if location, _, err := decodePath(sc.Path); err != nil || location != "" {
		if err != nil {
			return nil, "", err
		}
		return t.Locate(ctx, sc.Path)
	}
	name, err := url.PathUnescape(sc.Path)
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	object := t.object(logDir, sidecarDir, name)
	if err := store.CheckPath(object); err != nil {
		return nil, "", fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return t.store, object, nil
}

func (t *Table) readJSONCheckpoint(ctx context.Context, s *state, path string, sidecars []sidecar) ([]sidecar, error) {
	data, err := t.store.Get(ctx, path)
	if err != nil {
		return nil, missingIsCorrupt(err)
	}
	b := &batch{}
	err = parseActions(path, data, func(a *Action) error {
		if a.Sidecar != nil {
			sidecars = append(sidecars, *a.Sidecar)
		}
		b.put(a)
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.apply(b)
	return sidecars, nil
}

// missingIsCorrupt turns the absence of an object that the log names into
// ErrCorrupt, so that another way to the same state is tried.
func missingIsCorrupt(err error) error {
	if errors.Is(err, store.ErrNotExist) {
		return fmt.Errorf("%w: the file is missing: %w", ErrCorrupt, err)
	}
	return err
}

func (t *Table) readParquetCheckpoint(ctx context.Context, s *state, st store.Store, path string, sidecars []sidecar) (out []sidecar, err error) {
	src, err := store.Open(ctx, st, path)
	if err != nil {
		return nil, missingIsCorrupt(err)
	}
	defer src.Close()
	// arrow-go panics on some files that are no Parquet files.
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, fmt.Errorf("%w: %s cannot be read as Parquet: %v", ErrCorrupt, path, p)
		}
	}()
	failed := func(err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, parquetfile.ErrDamaged):
			return fmt.Errorf("%w: %s %w", ErrCorrupt, path, err)
		}
		return fmt.Errorf("reading %s: %w", path, missingIsCorrupt(err))
	}
	pf, err := parquetfile.Open(src, parquet.NewReaderProperties(memory.DefaultAllocator))
	if err != nil {
		return nil, failed(err)
	}
	defer pf.Close()
	fr, err := pqarrow.NewFileReader(pf.Reader, pqarrow.ArrowReadProperties{BatchSize: checkpointBatch}, memory.DefaultAllocator)
	if err != nil {
		return nil, failed(pf.Cause(err))
	}
	columns := checkpointColumns(pf.MetaData())
	if len(columns) == 0 {
		return nil, failed(fmt.Errorf("%w: it has none of the columns of a checkpoint", parquetfile.ErrDamaged))
	}
	rr, err := fr.GetRecordReader(ctx, columns, nil)
	if err != nil {
		return nil, failed(pf.Cause(err))
	}
	defer rr.Release()
	rows := int64(0)
	for rr.Next() {
		rows += rr.RecordBatch().NumRows()
		b := &batch{}
		if sidecars, err = decodeCheckpoint(rr.RecordBatch(), b, sidecars); err != nil {
			return nil, failed(pf.Cause(err))
		}
		s.apply(b)
	}
	if err := rr.Err(); err != nil && !isEOF(err) {
		return nil, failed(pf.Cause(err))
	}
	if want := pf.NumRows(); rows != want {
		return nil, failed(pf.Cause(fmt.Errorf("%d of its %d rows came", rows, want)))
	}
	return sidecars, nil
}

// checkpointColumns picks the leaf columns to read: all but the parsed copies
// of what is there as text. Parsed statistics are read when there is no text,
// except timestamps stored as INT96, whose range arrow-go cannot hold.
func checkpointColumns(m *metadata.FileMetaData) []int {
	var columns, parsed []int
	haveText := false
	for i := 0; i < m.Schema.NumColumns(); i++ {
		c := m.Schema.Column(i)
		path := c.Path()
		top, rest, _ := strings.Cut(path, ".")
		switch top {
		case "add", "remove", "metaData", "protocol", "txn", "domainMetadata", "sidecar", "checkpointMetadata":
		default:
			continue
		}
		switch {
		case top == "add" && strings.HasPrefix(rest, "stats_parsed."):
			if c.PhysicalType().String() != "INT96" {
				parsed = append(parsed, i)
			}
			continue
		case strings.HasPrefix(rest, "partitionValues_parsed."), top == "remove" && strings.HasPrefix(rest, "stats"):
			continue
		case path == "add.stats":
			haveText = hasValues(m, i)
		}
		columns = append(columns, i)
	}
	if !haveText {
		columns = append(columns, parsed...)
	}
	return columns
}

// hasValues reports whether a column has any value that is not null, as far as
// the file's own statistics tell.
func hasValues(m *metadata.FileMetaData, column int) bool {
	for i := range m.RowGroups {
		chunk, err := m.RowGroup(i).ColumnChunk(column)
		if err != nil {
			return true
		}
		st, err := chunk.Statistics()
		if err != nil || st == nil || !st.HasNullCount() || st.NullCount() != chunk.NumValues() {
			return true
		}
	}
	return false
}

// decodeCheckpoint turns the rows of a checkpoint into actions.
func decodeCheckpoint(rec arrow.RecordBatch, b *batch, sidecars []sidecar) ([]sidecar, error) {
	for i, f := range rec.Schema().Fields() {
		col, ok := rec.Column(i).(*array.Struct)
		if !ok {
			return nil, fmt.Errorf("the column %s is a %s, not a struct", f.Name, f.Type)
		}
		if col.NullN() == col.Len() {
			continue
		}
		r := newRows(col)
		var err error
		switch f.Name {
		case "add":
			err = decodeAdds(r, b)
		case "remove":
			err = decodeRemoves(r, b)
		case "metaData":
			r.each(func(i int) { b.metadata = decodeMetadata(r, i) })
		case "protocol":
			r.each(func(i int) { b.protocol = decodeProtocol(r, i) })
		case "txn":
			r.each(func(i int) {
				b.txns = append(b.txns, &Txn{AppID: r.text("appId", i), Version: r.int("version", i), LastUpdated: r.optInt("lastUpdated", i)})
			})
		case "domainMetadata":
			r.each(func(i int) {
				b.domains = append(b.domains, &DomainMetadata{
					Domain: r.text("domain", i), Configuration: r.text("configuration", i), Removed: r.bool("removed", i),
				})
			})
		case "sidecar":
			r.each(func(i int) { sidecars = append(sidecars, sidecar{Path: r.text("path", i)}) })
		}
		if err == nil {
			err = r.err
		}
		if err != nil {
			return nil, fmt.Errorf("the column %s: %w", f.Name, err)
		}
	}
	return sidecars, nil
}

func decodeAdds(r *rows, b *batch) error {
	stats := r.struct_("stats_parsed")
	dvs := r.struct_("deletionVector")
	paths, texts := r.shared("path"), r.shared("stats")
	var err error
	r.each(func(i int) {
		a := &Add{
			Path: paths.at(i), PartitionValues: r.nullableMap("partitionValues", i),
			Size: r.int("size", i), ModificationTime: r.int("modificationTime", i),
			Stats: texts.at(i), Tags: r.textMap("tags", i), DeletionVector: decodeVectorColumn(dvs, i),
			BaseRowID: r.optInt("baseRowId", i), DefaultRowCommitVersion: r.optInt("defaultRowCommitVersion", i),
			ClusteringProvider: r.text("clusteringProvider", i),
		}
		if a.Path == "" && err == nil {
			err = errors.New("a file without a path")
		}
		if a.Stats == "" && stats != nil && stats.valid(i) {
			text, e := statsFromStruct(stats, i)
			if e != nil && err == nil {
				err = e
			}
			a.Stats = text
		}
		b.adds = append(b.adds, a)
	})
	return err
}

func decodeRemoves(r *rows, b *batch) error {
	dvs := r.struct_("deletionVector")
	paths := r.shared("path")
	var err error
	r.each(func(i int) {
		rm := &Remove{
			Path: paths.at(i), DeletionTimestamp: r.optInt("deletionTimestamp", i), DataChange: r.bool("dataChange", i),
			ExtendedFileMetadata: r.bool("extendedFileMetadata", i), Size: r.optInt("size", i),
			DeletionVector: decodeVectorColumn(dvs, i), BaseRowID: r.optInt("baseRowId", i),
			DefaultRowCommitVersion: r.optInt("defaultRowCommitVersion", i),
		}
		if r.has("partitionValues", i) {
			rm.PartitionValues = r.nullableMap("partitionValues", i)
		}
		if rm.Path == "" && err == nil {
			err = errors.New("a file without a path")
		}
		b.removes = append(b.removes, rm)
	})
	return err
}

func decodeVectorColumn(r *rows, i int) *DeletionVector {
	if r == nil || !r.valid(i) {
		return nil
	}
	dv := &DeletionVector{
		StorageType: r.text("storageType", i), PathOrInlineDV: r.text("pathOrInlineDv", i),
		SizeInBytes: int32(r.int("sizeInBytes", i)), Cardinality: r.int("cardinality", i),
	}
	if off := r.optInt("offset", i); off != nil {
		o := int32(*off)
		dv.Offset = &o
	}
	return dv
}

func decodeMetadata(r *rows, i int) *Metadata {
	m := &Metadata{
		ID: r.text("id", i), Name: r.text("name", i), Description: r.text("description", i),
		SchemaString: r.text("schemaString", i), PartitionColumns: r.texts("partitionColumns", i),
		Configuration: nonNil(r.textMap("configuration", i)), CreatedTime: r.optInt("createdTime", i),
	}
	if f := r.struct_("format"); f != nil && f.valid(i) {
		m.Format = Format{Provider: f.text("provider", i), Options: f.textMap("options", i)}
	}
	return m
}

func decodeProtocol(r *rows, i int) *Protocol {
	return &Protocol{
		MinReaderVersion: int(r.int("minReaderVersion", i)), MinWriterVersion: int(r.int("minWriterVersion", i)),
		ReaderFeatures: r.texts("readerFeatures", i), WriterFeatures: r.texts("writerFeatures", i),
	}
}
