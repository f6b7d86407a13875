package deltatable_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/core/ndjson"
	"github.com/pipectl/pipectl/plugins/sink-delta/deltatable"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
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

// goldenStore unpacks a golden table.
func goldenStore(t *testing.T, folder string) store.Store {
	t.Helper()
	r, err := zip.OpenReader(filepath.Join(folder, "table.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	st := store.NewMemory(time.Now)
	for _, f := range r.File {
		if f.FileInfo().IsDir() {
			continue
		}
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(in)
		if err == nil {
			err = st.Put(t.Context(), strings.TrimPrefix(f.Name, "table/"), data)
		}
		if err != nil {
			t.Fatal(err)
		}
		in.Close()
	}
	return st
}

func expectedLines(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// The maker wrote single-precision floats as 1.0e-45 and doubles as 5e-324.
	text := regexp.MustCompile(`(\d)\.0e`).ReplaceAllString(string(data), "${1}e")
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

// TestGoldenTables reads tables that Spark and delta-rs wrote: exactly the
// expected rows, or a refusal.
func TestGoldenTables(t *testing.T) {
	t.Parallel()
	facts, err := filepath.Glob(filepath.Join(goldenTables, "*", "expected.json"))
	if err != nil || len(facts) < 80 {
		t.Fatalf("found %d golden tables: %v", len(facts), err)
	}
	for _, path := range facts {
		folder := filepath.Dir(path)
		name := filepath.Base(folder)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var expected struct {
				Outcome struct{ Read, RefuseWith string }
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(data, &expected); err != nil {
				t.Fatal(err)
			}
			mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
			defer mem.AssertSize(t, 0)
			read := func(version int64) ([]string, error) {
				st := goldenStore(t, folder)
				table, err := deltatable.Open(t.Context(), st, "", deltatable.Options{Allocator: mem})
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
			if expected.Outcome.Read == "refuse" {
				if err == nil {
					t.Fatalf("read %d rows, want a refusal: %s", len(got), expected.Outcome.RefuseWith)
				}
				t.Logf("refused: %v", err)
				return
			}
			if name == "spark-shallow-clone" {
				// Its files lie outside the table, under absolute paths of the maker's.
				if err == nil {
					t.Fatal("files outside the table's folder were read without a way to open them")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			compareLines(t, got, expectedLines(t, filepath.Join(folder, "expected.ndjson")))
			versions, _ := filepath.Glob(filepath.Join(folder, "expected-v*.ndjson"))
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
