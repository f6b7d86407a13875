package main

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/cdc"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// TestMemoryIsBounded carries a batch through the processes of source and sink that
// is larger than what they may ever hold. The bound is coarse, above what buffers,
// Go's heap and the libraries take, and below the batch: who collects it is found.
func TestMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds pipectl")
	}
	const (
		rows, width = 80_000, 4_000
		batch       = rows * width >> 20 // MiB
		bound       = 250                // MiB
		budget      = "16MiB"
	)
	t.Parallel()
	binary, err := build()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{dir: t.TempDir(), binary: binary}
	server, err := mssqlsim.Start(t.Context(), mssqlsim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	db := server.Database(shopDatabase)
	if err := wideTable(t.Context(), db, rows, width); err != nil {
		t.Fatal(err)
	}
	p, err := b.program("bound", server.DSN(shopDatabase), bootstrapNone)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, r, err := p.one(t.Context(), streamStep, "-memory", budget)
	if err != nil {
		t.Fatal(err)
	}
	if err := wantRows("bronze", s.Result.Rows, rows); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("NOT TESTED HERE: the memory of processes, which this system does not tell: ", err)
	}
	if r.peak["source-mssql"] == 0 || r.peak["sink-delta"] == 0 {
		t.Fatalf("the memory of the processes was not seen: %v", r.peak)
	}
	t.Logf("a batch of %d MiB: %v MiB", batch, r.peak)
	for name, mib := range r.peak {
		if mib > bound {
			t.Errorf("%s held %.0f MiB of a batch of %d; the bound is %d", name, mib, batch, bound)
		}
	}
}

// wideTable is a captured table with rows of one text, which the server holds once.
func wideTable(ctx context.Context, db *mssqlsim.Database, rows, width int) error {
	table := mssqlsim.Table{Name: shopTable, Key: []string{"id"}, Columns: []mssqlsim.Column{{Name: "id", Type: "int"}, {Name: "note", Type: "nvarchar(4000)"}}}
	if err := db.CreateTable(table); err != nil {
		return err
	}
	if err := db.EnableCDC(); err != nil {
		return err
	}
	if err := db.EnableTable(shopTable, mssqlsim.Capture{}); err != nil {
		return err
	}
	text := sqltype.FromString(strings.Repeat("abcdefgh", width/8))
	const perCommit = 1_000
	for first := 0; first < rows; first += perCommit {
		list := make([]sqltype.Row, perCommit)
		for i := range list {
			list[i] = sqltype.Row{sqltype.FromInt(int64(first + i)), text}
		}
		if _, err := db.Model().Write(ctx, func(w *cdc.Writer) error { return w.Insert(shopTable, list...) }); err != nil {
			return err
		}
	}
	return nil
}
