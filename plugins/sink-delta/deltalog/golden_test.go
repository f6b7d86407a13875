package deltalog

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/plugins/sink-delta/internal/golden"
)

// refusals is what must stand in the error of a table that must be refused, and
// where: opening it, or reading its deletion vectors. Tables whose data files
// are at fault open here.
var refusals = map[string]struct {
	kind  error
	text  string
	byDVs bool
}{
	"broken-gap":                    {ErrCorrupt, "version 1 is missing", false},
	"broken-empty-log":              {ErrNotTable, "no commit", false},
	"broken-truncated-commit":       {ErrCorrupt, "00000000000000000003.json", false},
	"broken-dv-crc":                 {ErrCorrupt, "checksum mismatch", true},
	"broken-dv-payload":             {ErrCorrupt, "checksum mismatch", true},
	"broken-dv-size":                {ErrCorrupt, "size mismatch", true},
	"broken-dv-missing":             {ErrCorrupt, "is missing", true},
	"broken-unknown-reader-feature": {ErrUnsupported, "notYetInvented", false},
	"broken-reader-version":         {ErrUnsupported, "reader version 4", false},
	"broken-no-metadata":            {ErrCorrupt, "no metaData", false},
	"broken-no-protocol":            {ErrCorrupt, "no protocol", false},
	"broken-schema-json":            {ErrCorrupt, "schema cannot be parsed", false},
	"broken-checkpoint":             {ErrCorrupt, ".checkpoint.parquet", false},
	"broken-sidecar-missing":        {ErrCorrupt, "sidecar", false},
	"spark-variant":                 {ErrUnsupported, "variantType", false},
}

func readVectors(ctx context.Context, t *Table, s *Snapshot) (deleted int64, err error) {
	for a := range s.Files(nil) {
		rows, err := t.ReadDeletionVector(ctx, a.DeletionVector)
		if err != nil {
			return 0, err
		}
		deleted += int64(rows.GetCardinality())
	}
	return deleted, nil
}

func TestGoldenTablesOfOtherWriters(t *testing.T) {
	t.Parallel()
	for _, name := range golden.Names(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			g := golden.Load(t, name)
			table, err := Open(ctx, g.Store, golden.Path, WithOpener(g.Elsewhere))
			refusal, refused := refusals[name]
			if err == nil && refusal.byDVs {
				s, serr := table.Snapshot(ctx)
				if serr != nil {
					t.Fatal(serr)
				}
				_, err = readVectors(ctx, table, s)
			}
			if refused {
				if !errors.Is(err, refusal.kind) || !strings.Contains(err.Error(), refusal.text) {
					t.Fatalf("error %v; want %v with %q", err, refusal.kind, refusal.text)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			checkGolden(t, g, table)
		})
	}
}

func checkGolden(t *testing.T, g *golden.Table, table *Table) {
	ctx, f := t.Context(), g.Facts
	s, err := table.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if f.Version != nil && s.Version() != *f.Version {
		t.Errorf("version %d, want %d", s.Version(), *f.Version)
	}
	p := s.Protocol()
	sorted := func(l []string) []string { return slices.Sorted(slices.Values(l)) }
	if p.MinReaderVersion != f.Protocol.MinReaderVersion || p.MinWriterVersion != f.Protocol.MinWriterVersion ||
		!slices.Equal(sorted(p.ReaderFeatures), sorted(f.Protocol.ReaderFeatures)) ||
		!slices.Equal(sorted(p.WriterFeatures), sorted(f.Protocol.WriterFeatures)) {
		t.Errorf("protocol %+v, want %+v", *p, *f.Protocol)
	}
	want, err := ParseSchema(string(f.Schema))
	if err != nil {
		t.Fatal(err)
	}
	if s.MappingMode() == MappingNone {
		stripMapping(want)
	}
	if !Equal(s.Schema(), want) {
		t.Errorf("schema %v, want %v", s.Schema(), want)
	}
	if !slices.Equal(s.PartitionColumns(), f.PartitionColumns) {
		t.Errorf("partition columns %q, want %q", s.PartitionColumns(), f.PartitionColumns)
	}
	if len(s.Properties()) != len(f.Properties) {
		t.Errorf("properties %v, want %v", s.Properties(), f.Properties)
	}
	for k, v := range f.Properties {
		if s.Properties()[k] != v {
			t.Errorf("property %s is %q, want %q", k, s.Properties()[k], v)
		}
	}
	if f.Description != nil && s.Metadata().Description != *f.Description {
		t.Errorf("description %q, want %q", s.Metadata().Description, *f.Description)
	}
	for id, v := range f.Txns {
		if got, ok := s.Txn(id); !ok || got != v {
			t.Errorf("txn %s is %d, want %d", id, got, v)
		}
	}
	for d := range f.Domains {
		if _, ok := s.Domain(d); !ok {
			t.Errorf("domain %s is missing", d)
		}
	}
	checkGoldenFiles(t, g, table, s)
	checkGoldenVersions(t, g, table)

	err = s.CheckWrite()
	switch {
	case f.Outcome.Write == "ok" && err != nil:
		t.Errorf("a table that may be written is refused: %v", err)
	case err != nil && !namesOne(err.Error(), f.Outcome.WriteFeatures):
		t.Errorf("refused with %v, which names none of %s", err, f.Outcome.WriteFeatures)
	}
	if g.Name == "broken-unknown-writer-feature" || g.Name == "broken-writer-version" || g.Name == "spark-row-tracking" ||
		g.Name == "spark-generated" || g.Name == "spark-identity" || g.Name == "spark-constraints" || g.Name == "spark-clustered" ||
		g.Name == "spark-defaults" || g.Name == "spark-iceberg-compat" || g.Name == "rs-constraints" || g.Name == "spark-mapping-id" {
		if !errors.Is(err, ErrUnsupported) {
			t.Errorf("writing is not refused: %v", err)
		}
	}
}

// namesOne reports whether a text names one of a list of features.
func namesOne(text, list string) bool {
	for _, word := range strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(", /()", r) }) {
		if len(word) > 6 && strings.Contains(text, word) {
			return true
		}
	}
	return false
}

func checkGoldenFiles(t *testing.T, g *golden.Table, table *Table, s *Snapshot) {
	ctx, f := t.Context(), g.Facts
	if f.LiveFiles != nil && s.NumFiles() != *f.LiveFiles {
		t.Errorf("%d live files, want %d", s.NumFiles(), *f.LiveFiles)
	}
	var files int
	var size, physical int64
	for a := range s.Files(nil) {
		files++
		size += a.Size
		if n, ok := a.NumRecords(); ok {
			physical += n
		} else if f.PhysicalRows != nil {
			t.Errorf("%s: no numRecords in %q", a.Path, a.Stats)
		}
		st, object, err := table.Locate(ctx, a.Path)
		if err != nil {
			t.Errorf("locate: %v", err)
			continue
		}
		info, err := st.Head(ctx, object)
		missing := g.Name == "broken-missing-data-file" || g.Name == "broken-data-file-truncated"
		if !missing && (err != nil || info.Size != a.Size) {
			t.Errorf("%s: %v, %d bytes; the log says %d", object, err, info.Size, a.Size)
		}
		if a.Stats != "" {
			if _, err := ParseStats(a.Stats, s.Schema()); err != nil {
				t.Errorf("%s: %v", a.Path, err)
			}
		}
		for _, c := range s.PartitionColumns() {
			if _, err := s.PartitionValue(a, c); err != nil {
				t.Errorf("partition value: %v", err)
			}
		}
	}
	if files != s.NumFiles() || size != s.SizeInBytes() {
		t.Errorf("Files gives %d files of %d bytes, the snapshot counts %d of %d", files, size, s.NumFiles(), s.SizeInBytes())
	}
	if f.PhysicalRows != nil && physical != *f.PhysicalRows {
		t.Errorf("%d physical rows, want %d", physical, *f.PhysicalRows)
	}
	deleted, err := readVectors(ctx, table, s)
	if err != nil {
		t.Fatal(err)
	}
	if f.DeletedByDV != nil && deleted != *f.DeletedByDV {
		t.Errorf("%d rows deleted by deletion vectors, want %d", deleted, *f.DeletedByDV)
	}
}

func checkGoldenVersions(t *testing.T, g *golden.Table, table *Table) {
	ctx, f := t.Context(), g.Facts
	for text, rows := range f.RowsPerVersion {
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		s, err := table.SnapshotAt(ctx, v)
		switch {
		case rows == nil && err == nil && g.Name != "spark-vacuumed":
			t.Errorf("version %d can be read, but should not", v)
		case rows == nil && err != nil:
			if !errors.Is(err, ErrVersionNotFound) && !errors.Is(err, ErrCorrupt) {
				t.Errorf("version %d: %v", v, err)
			}
		case rows != nil && err != nil:
			t.Errorf("version %d: %v", v, err)
		case rows != nil:
			var live int64
			known := true
			for a := range s.Files(nil) {
				n, ok := a.LiveRecords()
				live, known = live+n, known && ok
			}
			if known && live != *rows {
				t.Errorf("version %d has %d rows, want %d", v, live, *rows)
			}
		}
	}
	if f.Version == nil {
		return
	}
	var last *Commit
	for c, err := range table.History(ctx, *f.Version-1) {
		if err != nil {
			t.Fatal(err)
		}
		last = c
	}
	switch {
	case last == nil || last.Version != *f.Version:
		t.Errorf("history ends with %+v, want version %d", last, *f.Version)
	case last.Info.Operation != f.LastCommit.Operation,
		f.LastCommit.UserMetadata != nil && last.UserMetadata() != *f.LastCommit.UserMetadata,
		f.LastCommit.InCommitTimestamp != nil && last.Timestamp.UnixMilli() != *f.LastCommit.InCommitTimestamp:
		t.Errorf("last commit %+v, want %+v", last, f.LastCommit)
	}
	if _, err := table.SnapshotAt(ctx, *f.Version+1); !errors.Is(err, ErrVersionNotFound) {
		t.Errorf("a version that does not exist gives %v", err)
	}
}
