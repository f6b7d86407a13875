package delta_test

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
	"github.com/pipectl/pipectl/plugins/sink-delta/delta"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// noRoom is a local store in which data files find no room. Small ones hear of it
// when they are completed, since what comes before fits into their buffer.
type noRoom struct{ *store.Local }

type noRoomWriter struct{ store.Writer }

func (s noRoom) Create(ctx context.Context, path string) (store.Writer, error) {
	w, err := s.Local.Create(ctx, path)
	return noRoomWriter{w}, err
}

func (w noRoomWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if err == nil {
		err = fmt.Errorf("%w: %w", store.ErrNoSpace, &fs.PathError{Op: "write", Path: "part", Err: syscall.ENOSPC})
	}
	return n, err
}

// open opens a lake over the store that make gives.
func open(t *testing.T, root string, make func(*store.Local) store.Store) plugin.Tables {
	t.Helper()
	p := delta.NewOver("test", store.Schemes{"file": func(_ context.Context, u *url.URL) (store.Store, error) {
		local, err := store.NewLocal(filepath.FromSlash(u.Path))
		if err != nil {
			return nil, err
		}
		return make(local), nil
	}})
	description, err := p.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	body := description.Components[0].Connection.EmptyValue().AsValueMap()
	body["root"] = cty.StringVal(root)
	s, err := p.OpenTables(t.Context(), plugin.OpenRequest{Component: "delta", Config: cty.ObjectVal(body)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// appendOne appends one row, whatever becomes of it.
func appendOne(t *testing.T, tables plugin.Tables) error {
	t.Helper()
	ctx := t.Context()
	begun, err := tables.BeginWrite(ctx, plugin.BeginWriteRequest{Table: orders, Mode: plugin.WriteAppend, Schema: orderSchema, BaseVersion: -1})
	if err != nil {
		t.Fatal(err)
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, orderSchema)
	defer b.Release()
	b.Field(0).(*array.Int32Builder).Append(1)
	b.Field(1).(*array.StringBuilder).Append("a")
	batch := b.NewRecordBatch()
	defer batch.Release()
	part, err := tables.WritePart(ctx, plugin.WritePartRequest{WriteID: begun.WriteID}, rows.FromBatches(orderSchema, batch))
	if err != nil {
		return err
	}
	_, err = tables.Commit(ctx, plugin.CommitRequest{WriteID: begun.WriteID, Tokens: []string{part.Token}})
	return err
}

// dataFiles are the names in the folder of orders but that of its log.
func dataFiles(t *testing.T, root string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(root, "silver", "orders"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.Name() != "_delta_log" {
			names = append(names, e.Name())
		}
	}
	return names
}

// A write that finds no room gives back what room it took: each attempt would
// take more of it, and no VACUUM removes a name that begins with a dot.
func TestAWriteWithoutRoomLeavesNothing(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	tables := open(t, root, func(l *store.Local) store.Store { return noRoom{l} })
	if _, err := tables.ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: orders, Schema: orderSchema}}); err != nil {
		t.Fatal(err)
	}
	if err := appendOne(t, tables); !diag.HasCode(err, "delta.disk_full") {
		t.Error(err)
	}
	if left := dataFiles(t, root); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

// What a writer left that was killed goes with a later write of the table, when it
// is old: a young one may be that of a writer which lives elsewhere.
func TestAWriteRemovesWhatDeadWritersLeft(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	tables := open(t, root, func(l *store.Local) store.Store { return l })
	if _, err := tables.ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: orders, Schema: orderSchema}}); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(root, "silver", "orders")
	for name, age := range map[string]time.Duration{
		".store-0123456789abcdef.tmp": 25 * time.Hour, "_delta_log/.store-0123456789abcdef.tmp": 25 * time.Hour,
		".store-00000000young000.tmp": time.Hour, ".store-of-somebody-else": 25 * time.Hour, "notes.tmp": 25 * time.Hour,
	} {
		file := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.WriteFile(file, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := appendOne(t, tables); err != nil {
		t.Fatal(err)
	}
	left := strings.Join(dataFiles(t, root), " ")
	for name, want := range map[string]bool{".store-0123456789abcdef.tmp": false, ".store-00000000young000.tmp": true, ".store-of-somebody-else": true, "notes.tmp": true} {
		if strings.Contains(left, name) != want {
			t.Errorf("%s: there %v, want %v", name, !want, want)
		}
	}
	if _, err := os.Stat(filepath.Join(folder, "_delta_log", ".store-0123456789abcdef.tmp")); !os.IsNotExist(err) {
		t.Errorf("in the log: %v", err)
	}
}
