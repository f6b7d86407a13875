package deltalog

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

const (
	checkpointRowGroup = 64 * 1024
	propCodec          = "delta.parquet.compression.codec"
)

// Checkpoint writes a checkpoint of the snapshot, then the hint to it. It is a
// classic one of the V1 kind, which every reader knows and every table may have
// (Delta protocol: Checkpoint Naming Scheme). Commits write checkpoints by
// themselves; see WithoutCheckpoints.
//
// An interrupted checkpoint leaves the table as it was: the file shows when it
// is complete, and the hint, which is written last, is only a hint.
func (t *Table) Checkpoint(ctx context.Context, s *Snapshot) error {
	if err := s.CheckWrite(); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	name := t.object(logDir, fmt.Sprintf("%020d.checkpoint.parquet", s.version))
	w, err := store.Create(ctx, t.store, name)
	if err != nil {
		return fmt.Errorf("checkpoint of table %q: %w", t.path, err)
	}
	defer w.Abort()
	counted := &countingWriter{w: w}
	c, err := newCheckpointWriter(counted, s)
	if err == nil {
		err = c.write(ctx, t.clock.Now().Add(-s.Properties().deletedFileRetention()).UnixMilli())
	}
	if err != nil {
		return fmt.Errorf("checkpoint %s: %w", name, err)
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("checkpoint %s: %w", name, err)
	}
	if h, ok := t.readHint(ctx); ok && h.Version > s.version {
		return nil // another writer is ahead
	}
	h := hint{Version: s.version, Size: c.rows, SizeInBytes: counted.n, NumOfAddFiles: int64(s.NumFiles())}
	data, err := h.encode()
	if err != nil {
		return fmt.Errorf("checkpoint hint of table %q: %w", t.path, err)
	}
	if err := t.store.Put(ctx, t.object(logDir, hintName), data); err != nil {
		return fmt.Errorf("checkpoint hint of table %q: %w", t.path, err)
	}
	return nil
}

type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// checkpointWriter writes actions as rows of optional structs, one of them set
// in each row (Delta protocol: Checkpoint Schema).
type checkpointWriter struct {
	snapshot *Snapshot
	parquet  *pqarrow.FileWriter
	build    *array.RecordBuilder
	tops     map[string]*structBuilder
	stats    *statsColumns // nil unless statistics are also written as a struct
	text     bool          // statistics are written as text
	pending  int
	rows     int64
}

var (
	textType    = arrow.BinaryTypes.String
	longType    = arrow.PrimitiveTypes.Int64
	intType     = arrow.PrimitiveTypes.Int32
	boolType    = arrow.FixedWidthTypes.Boolean
	textMapType = arrow.MapOfFields(arrow.Field{Name: "key", Type: textType}, arrow.Field{Name: "value", Type: textType, Nullable: true})
	textsType   = arrow.ListOfField(arrow.Field{Name: "element", Type: textType, Nullable: true})
	vectorType  = optionalStruct("storageType", textType, "pathOrInlineDv", textType, "offset", intType,
		"sizeInBytes", intType, "cardinality", longType)
)

// optionalStruct is a struct of nullable fields, from names and types in turn.
func optionalStruct(fields ...any) *arrow.StructType {
	var out []arrow.Field
	for i := 0; i < len(fields); i += 2 {
		out = append(out, arrow.Field{Name: fields[i].(string), Type: fields[i+1].(arrow.DataType), Nullable: true})
	}
	return arrow.StructOf(out...)
}

func newCheckpointWriter(w io.Writer, s *Snapshot) (*checkpointWriter, error) {
	c := &checkpointWriter{snapshot: s, tops: map[string]*structBuilder{}}
	props := s.Properties()
	c.text = props.Bool(propStatsAsJSON, true)
	add := []any{
		"path", textType, "partitionValues", textMapType, "size", longType, "modificationTime", longType,
		"dataChange", boolType, "tags", textMapType, "baseRowId", longType, "defaultRowCommitVersion", longType,
		"clusteringProvider", textType,
	}
	if c.text {
		add = append(add, "stats", textType)
	}
	remove := []any{
		"path", textType, "deletionTimestamp", longType, "dataChange", boolType, "extendedFileMetadata", boolType,
		"partitionValues", textMapType, "size", longType, "baseRowId", longType, "defaultRowCommitVersion", longType,
	}
	if s.protocol.supports(featDV) {
		add, remove = append(add, "deletionVector", vectorType), append(remove, "deletionVector", vectorType)
	}
	if props.Bool(propStatsAsStruct, false) {
		var err error
		if c.stats, err = newStatsColumns(s); err != nil {
			return nil, err
		}
		add = append(add, "stats_parsed", c.stats.stats)
		if c.stats.partition != nil {
			add = append(add, "partitionValues_parsed", c.stats.partition)
		}
	}
	top := []any{
		"txn", optionalStruct("appId", textType, "version", longType, "lastUpdated", longType),
		"add", optionalStruct(add...),
		"remove", optionalStruct(remove...),
		"metaData", optionalStruct("id", textType, "name", textType, "description", textType,
			"format", optionalStruct("provider", textType, "options", textMapType), "schemaString", textType,
			"partitionColumns", textsType, "configuration", textMapType, "createdTime", longType),
		"protocol", optionalStruct("minReaderVersion", intType, "minWriterVersion", intType,
			"readerFeatures", textsType, "writerFeatures", textsType),
	}
	if s.protocol.supports(featDomain) {
		top = append(top, "domainMetadata", optionalStruct("domain", textType, "configuration", textType, "removed", boolType))
	}
	schema := arrow.NewSchema(optionalStruct(top...).Fields(), nil)
	// No dictionaries: Fabric documents run-length encoded checkpoints as not
	// readable.
	writer, err := pqarrow.NewFileWriter(schema, w,
		parquet.NewWriterProperties(
			parquet.WithDictionaryDefault(false),
			parquet.WithCompression(codec(props[propCodec])),
			parquet.WithMaxRowGroupLength(checkpointRowGroup),
			parquet.WithCreatedBy(s.table.engine),
		),
		pqarrow.NewArrowWriterProperties())
	if err != nil {
		return nil, err
	}
	c.parquet = writer
	c.build = array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for i, f := range schema.Fields() {
		c.tops[f.Name] = newStructBuilder(c.build.Field(i).(*array.StructBuilder))
	}
	return c, nil
}

// codec is the compression that a table asks for; the default and the answer to
// what is not known here is zstd (Delta protocol: Table Properties).
func codec(name string) compress.Compression {
	switch strings.ToLower(name) {
	case "uncompressed", "none":
		return compress.Codecs.Uncompressed
	case "snappy":
		return compress.Codecs.Snappy
	case "gzip":
		return compress.Codecs.Gzip
	case "lz4_raw":
		return compress.Codecs.Lz4Raw
	}
	return compress.Codecs.Zstd
}

// write writes the whole state. Tombstones up to cutoff (milliseconds since
// 1970) have expired.
func (c *checkpointWriter) write(ctx context.Context, cutoff int64) (err error) {
	defer c.build.Release()
	defer func() {
		if err != nil {
			c.parquet.Close() // what it says does not matter any more
		}
	}()
	s := c.snapshot
	if err := c.row("protocol", c.putProtocol); err != nil {
		return err
	}
	if err := c.row("metaData", c.putMetadata); err != nil {
		return err
	}
	for t := range s.Txns() {
		err := c.row("txn", func(b *structBuilder) {
			b.text("appId", t.AppID)
			b.long("version", t.Version)
			b.optLong("lastUpdated", t.LastUpdated)
		})
		if err != nil {
			return err
		}
	}
	if s.protocol.supports(featDomain) {
		for _, name := range s.Domains() {
			err := c.row("domainMetadata", func(b *structBuilder) {
				b.text("domain", name)
				b.text("configuration", s.domains[name].Configuration)
				b.bool("removed", false)
			})
			if err != nil {
				return err
			}
		}
	}
	for _, t := range s.tombs.live(s.files, cutoff) {
		if err := c.row("remove", func(b *structBuilder) { putTombstone(b, &t) }); err != nil {
			return err
		}
	}
	for r := range s.files.all() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.row("add", func(b *structBuilder) { c.putAdd(b, r) }); err != nil {
			return err
		}
	}
	if err := c.flush(); err != nil {
		return err
	}
	return c.parquet.Close()
}

// row appends a row in which only the named struct is set.
func (c *checkpointWriter) row(name string, fill func(b *structBuilder)) error {
	for n, b := range c.tops {
		if n != name {
			b.build.AppendNull()
			continue
		}
		b.begin()
		fill(b)
		b.end()
	}
	c.rows++
	c.pending++
	if c.pending < checkpointBatch {
		return nil
	}
	return c.flush()
}

func (c *checkpointWriter) flush() error {
	if c.pending == 0 {
		return nil
	}
	c.pending = 0
	rec := c.build.NewRecordBatch()
	defer rec.Release()
	return c.parquet.WriteBuffered(rec)
}

func (c *checkpointWriter) putProtocol(b *structBuilder) {
	p := c.snapshot.protocol
	b.integer("minReaderVersion", int32(p.MinReaderVersion))
	b.integer("minWriterVersion", int32(p.MinWriterVersion))
	// The lists must not be null where the versions have them, and must be null
	// where they do not (Delta protocol: Checkpoint Schema).
	if p.MinReaderVersion == 3 {
		b.texts("readerFeatures", p.ReaderFeatures)
	}
	if p.MinWriterVersion == 7 {
		b.texts("writerFeatures", p.WriterFeatures)
	}
}

func (c *checkpointWriter) putMetadata(b *structBuilder) {
	m := c.snapshot.metadata
	b.text("id", m.ID)
	b.optText("name", m.Name)
	b.optText("description", m.Description)
	b.sub("format", func(f *structBuilder) {
		f.text("provider", m.Format.Provider)
		f.textMap("options", m.Format.Options)
	})
	b.text("schemaString", m.SchemaString)
	b.texts("partitionColumns", m.PartitionColumns)
	b.textMap("configuration", m.Configuration)
	b.optLong("createdTime", m.CreatedTime)
}

func putVector(b *structBuilder, dv *DeletionVector) {
	if dv == nil {
		return
	}
	b.sub("deletionVector", func(d *structBuilder) {
		d.text("storageType", dv.StorageType)
		d.text("pathOrInlineDv", dv.PathOrInlineDV)
		if dv.Offset != nil {
			d.integer("offset", *dv.Offset)
		}
		d.integer("sizeInBytes", dv.SizeInBytes)
		d.long("cardinality", dv.Cardinality)
	})
}

func putTombstone(b *structBuilder, t *tombstone) {
	b.text("path", t.path)
	b.long("deletionTimestamp", t.deleted)
	b.bool("dataChange", t.dataChange)
	b.bool("extendedFileMetadata", t.extended)
	if t.extended {
		b.nullableMap("partitionValues", t.partition)
	}
	if t.size >= 0 {
		b.long("size", t.size)
	}
	putVector(b, t.dv)
	b.optLong("baseRowId", t.baseRowID)
	b.optLong("defaultRowCommitVersion", t.rowVersion)
}

func (c *checkpointWriter) putAdd(b *structBuilder, r *fileRecord) {
	b.text("path", r.path)
	b.nullableMap("partitionValues", r.partition)
	b.long("size", r.size)
	b.long("modificationTime", r.modified)
	b.bool("dataChange", false) // as Spark writes it: nothing changes here
	if c.text {
		b.optText("stats", r.stats)
	}
	if x := r.rare; x != nil {
		if len(x.tags) > 0 {
			b.textMap("tags", x.tags)
		}
		b.optLong("baseRowId", x.baseRowID)
		b.optLong("defaultRowCommitVersion", x.rowVersion)
		b.optText("clusteringProvider", x.clustering)
		putVector(b, x.dv)
	}
	if c.stats != nil {
		c.stats.put(b, r, c.snapshot.schema)
	}
}
