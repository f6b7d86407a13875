// Package golden loads Delta tables that other implementations wrote, for the
// tests of this plugin. It knows their files and the facts that come with them,
// and must not know how a table is read.
package golden

import (
	"archive/zip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// dir is where the tables lie, seen from a package of this plugin.
const dir = "../testdata/golden"

// Path is the table's folder in the store of a Table.
const Path = "table"

// Facts are what is known of a table. Pointers are nil where the table cannot
// be read.
type Facts struct {
	Table    string   `json:"table"`
	Proves   string   `json:"proves"`
	Key      []string `json:"key"`
	Version  *int64   `json:"version"`
	Protocol *struct {
		MinReaderVersion int      `json:"minReaderVersion"`
		MinWriterVersion int      `json:"minWriterVersion"`
		ReaderFeatures   []string `json:"readerFeatures"`
		WriterFeatures   []string `json:"writerFeatures"`
	} `json:"protocol"`
	Schema           json.RawMessage   `json:"schema"`
	PartitionColumns []string          `json:"partitionColumns"`
	Properties       map[string]string `json:"properties"`
	TableName        *string           `json:"tableName"`
	Description      *string           `json:"description"`
	LiveFiles        *int              `json:"liveFiles"`
	PhysicalRows     *int64            `json:"physicalRows"`
	DeletedByDV      *int64            `json:"deletedByDV"`
	Txns             map[string]int64  `json:"txns"`
	Domains          map[string]any    `json:"domains"`
	OldestCommit     *int64            `json:"oldestCommit"`
	Rows             *int64            `json:"rows"`
	// RowsPerVersion is null for versions that can no longer be read.
	RowsPerVersion map[string]*int64 `json:"rowsPerVersion"`
	LastCommit     struct {
		Version           int64   `json:"version"`
		Operation         string  `json:"operation"`
		UserMetadata      *string `json:"userMetadata"`
		EngineInfo        *string `json:"engineInfo"`
		InCommitTimestamp *int64  `json:"inCommitTimestamp"`
	} `json:"lastCommit"`
	Outcome struct {
		Read          string `json:"read"`
		RefuseWith    string `json:"refuseWith"`
		Write         string `json:"write"`
		WriteFeatures string `json:"writeFeatures"`
	} `json:"outcome"`
}

// Table is one golden table.
type Table struct {
	Name  string
	Facts Facts
	// Store holds the table under Path. It is the test's own.
	Store *store.Memory
}

// Names are the tables there are, sorted.
func Names(tb testing.TB) []string {
	tb.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		tb.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		tb.Fatalf("no golden tables in %s", dir)
	}
	return names
}

// Load reads one table into memory.
func Load(tb testing.TB, name string) *Table {
	tb.Helper()
	t := &Table{Name: name, Store: store.NewMemory(nil)}
	raw, err := os.ReadFile(filepath.Join(dir, name, "expected.json"))
	if err != nil {
		tb.Fatal(err)
	}
	if err := json.Unmarshal(raw, &t.Facts); err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
	z, err := zip.OpenReader(filepath.Join(dir, name, "table.zip"))
	if err != nil {
		tb.Fatal(err)
	}
	defer z.Close()
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			tb.Fatalf("%s: %s: %v", name, f.Name, err)
		}
		data, err := io.ReadAll(r)
		r.Close()
		if err == nil {
			err = t.Store.Put(tb.Context(), f.Name, data)
		}
		if err != nil {
			tb.Fatalf("%s: %s: %v", name, f.Name, err)
		}
	}
	return t
}

// Lines are the lines of one of the table's ndjson files, for example
// "expected.ndjson"; ok is false when the table has no such file.
func Lines(tb testing.TB, name, file string) (lines []string, ok bool) {
	tb.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, name, file))
	if os.IsNotExist(err) {
		return nil, false
	}
	if err != nil {
		tb.Fatal(err)
	}
	text := strings.TrimSuffix(string(raw), "\n")
	if text == "" {
		return nil, true
	}
	return strings.Split(text, "\n"), true
}
