package delta_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/ndjson"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
	"github.com/pipectl/pipectl/plugins/sink-delta/delta"
	"github.com/pipectl/pipectl/plugins/sink-delta/internal/golden"
)

// A shallow clone has rows, and deletion vectors, of the table that it was
// cloned from: its log names them by absolute paths.
func TestAShallowClone(t *testing.T) {
	t.Parallel()
	const name = "spark-shallow-clone"
	g := golden.Load(t, name)
	lake := t.TempDir()
	for info, err := range g.Store.List(t.Context(), "", "") {
		if err != nil {
			t.Fatal(err)
		}
		data, err := g.Store.Get(t.Context(), info.Path)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(lake, filepath.FromSlash(info.Path))
		switch {
		case path.Ext(file) == ".parquet" && strings.Contains(info.Path, "_delta_log"), path.Base(info.Path) == "_last_checkpoint":
			continue // which names the maker's folder too
		case path.Ext(file) == ".json":
			data = bytes.ReplaceAll(data, []byte("file:/tmp/golden-delta/"+name), []byte("file:"+filepath.ToSlash(lake)))
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, data, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	p := delta.New("test")
	description, err := p.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	body := description.Components[0].Connection.EmptyValue().AsValueMap()
	body["root"] = cty.StringVal(lake)
	tables, err := p.OpenTables(context.Background(), plugin.OpenRequest{Component: "delta", Config: cty.ObjectVal(body)})
	if err != nil {
		t.Fatal(err)
	}
	defer tables.Close()
	got, err := scanned(t, tables, plugin.TableRef{Name: "table"})
	if err != nil {
		t.Fatal(err)
	}
	want, _ := golden.Lines(t, name, "expected.ndjson")
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// scanned are the rows of a table as sorted lines.
func scanned(t *testing.T, tables plugin.Tables, ref plugin.TableRef) ([]string, error) {
	t.Helper()
	frames, err := tables.Scan(t.Context(), plugin.ScanRequest{Table: ref, Version: -1})
	if err != nil {
		return nil, err
	}
	reader, err := rows.NewReader(frames, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	enc, err := ndjson.NewEncoder(&out, reader.Schema())
	if err != nil {
		return nil, err
	}
	_, err = reader.ForEach(func(batch arrow.RecordBatch) error { return enc.Encode(batch) })
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	slices.Sort(lines)
	return lines, nil
}
