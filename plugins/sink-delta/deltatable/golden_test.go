package deltatable_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/ndjson"
	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
	"github.com/pipectl/pipectl/plugins/sink-delta/deltatable"
	"github.com/pipectl/pipectl/plugins/sink-delta/internal/golden"
)

const goldenTables = "../testdata/golden"

// refusesVariant: tables that this package may refuse by the feature's name.
var refusesVariant = map[string]string{"spark-variant": "variantType"}

// dump reads all rows of a snapshot as sorted lines of NDJSON.
func dump(ctx context.Context, s *deltatable.Snapshot, spec deltatable.ScanSpec) ([]string, error) {
	rows, err := s.Scan(ctx, spec)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out bytes.Buffer
	enc, err := ndjson.NewEncoder(&out, rows.Schema())
	if err != nil {
		return nil, err
	}
	for {
		rec, err := rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		err = enc.Encode(rec)
		rec.Release()
		if err != nil {
			return nil, err
		}
	}
	lines := strings.SplitAfter(out.String(), "\n")
	lines = lines[:len(lines)-1]
	slices.Sort(lines)
	return lines, nil
}

// goldenTable opens a golden table, or says why not.
func goldenTable(ctx context.Context, g *golden.Table, opts deltatable.Options) (*deltatable.Table, error) {
	opts.Log = append(opts.Log, deltalog.WithOpener(g.Elsewhere))
	return deltatable.Open(ctx, g.Store, golden.Path, opts)
}

func expectedLines(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// The maker wrote single-precision floats as 1.0e-45 and doubles as 5e-324.
	return sorted(regexp.MustCompile(`(\d)\.0e`).ReplaceAllString(string(data), "${1}e"))
}

// sorted are the lines of a text, sorted.
func sorted(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool { return l == "" })
	slices.Sort(lines)
	return lines
}

func compareLines(t *testing.T, got, want []string) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	for i := range max(len(got), len(want)) {
		g, w := "(nothing)", "(nothing)"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Fatalf("%d rows, want %d; the first that differs is\n got %s\nwant %s", len(got), len(want), g, w)
		}
	}
}

// brokenFiles is what must stand in the error of tables whose log is well and
// whose data files or deletion vectors are not.
var brokenFiles = map[string][]string{
	"broken-missing-data-file":   {"part-00000-65be0ea4-373e-4f1a-851c-0e6767efff7f-c000.snappy.parquet", "does not exist"},
	"broken-data-file-truncated": {"part-00000-65be0ea4-373e-4f1a-851c-0e6767efff7f-c000.snappy.parquet", "it has 1141 bytes, the log says 2282"},
	"broken-dv-crc":              {"deletion_vector_1d3b2fa3-5ef6-4dc4-a5e7-ff17a4308b95.bin", "checksum mismatch"},
	"broken-dv-payload":          {"deletion_vector_1d3b2fa3-5ef6-4dc4-a5e7-ff17a4308b95.bin", "checksum mismatch"},
	"broken-dv-size":             {"deletion_vector_", ".bin", "size mismatch"},
	"broken-dv-missing":          {"deletion_vector_c3da3945-38e8-42f9-b3fb-1ce7faa1efd4.bin", "is missing"},
}

// TestGoldenTables reads tables that Spark and delta-rs wrote: exactly the
// expected rows, or a refusal.
func TestGoldenTables(t *testing.T) {
	t.Parallel()
	names := golden.Names(t)
	if len(names) < 80 {
		t.Fatalf("found %d golden tables", len(names))
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := golden.Load(t, name)
			mem := checkedMemory(t)
			read := func(version int64) ([]string, error) {
				table, err := goldenTable(t.Context(), g, deltatable.Options{Allocator: mem})
				if err != nil {
					return nil, err
				}
				s, err := table.Snapshot(t.Context())
				if version >= 0 {
					s, err = table.SnapshotAt(t.Context(), version)
				}
				if err != nil {
					return nil, err
				}
				return dump(t.Context(), s, deltatable.ScanSpec{})
			}
			got, err := read(-1)
			if feature := refusesVariant[name]; feature != "" {
				if err == nil || !strings.Contains(err.Error(), feature) {
					t.Fatalf("got error %v, want a refusal that names %s", err, feature)
				}
				return
			}
			if g.Facts.Outcome.Read == "refuse" {
				if err == nil {
					t.Fatalf("read %d rows, want a refusal: %s", len(got), g.Facts.Outcome.RefuseWith)
				}
				for _, text := range brokenFiles[name] {
					if !strings.Contains(err.Error(), text) {
						t.Errorf("the error says nothing of %q: %v", text, err)
					}
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			compareLines(t, got, expectedLines(t, filepath.Join(goldenTables, name, "expected.ndjson")))
			versions, _ := filepath.Glob(filepath.Join(goldenTables, name, "expected-v*.ndjson"))
			for _, v := range versions {
				text := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(v), "expected-v"), ".ndjson")
				n, err := strconv.ParseInt(text, 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				got, err := read(n)
				if err != nil {
					t.Errorf("version %d: %v", n, err)
					continue
				}
				compareLines(t, got, expectedLines(t, v))
			}
		})
	}
}
