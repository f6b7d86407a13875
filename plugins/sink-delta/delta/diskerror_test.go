package delta_test

import (
	"context"
	"io/fs"
	"net/url"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/sink-delta/delta"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// A disk may break at any call of the store, log and files, reads and writes:
// whoever uses a table hears of the surroundings, and not of a fault of the table.
func TestADiskThatBreaksIsTheSurroundings(t *testing.T) {
	t.Parallel()
	broken := &fs.PathError{Op: "read", Path: "part", Err: syscall.EIO}
	told := map[string]int{}
	for nth := 1; ; nth++ {
		var faulty *store.Faulty
		p := delta.NewOver("test", store.Schemes{"file": func(_ context.Context, u *url.URL) (store.Store, error) {
			local, err := store.NewLocal(filepath.FromSlash(u.Path))
			faulty = store.NewFaulty(local, store.Fault{Nth: nth, Effect: store.Fail, Err: broken})
			return faulty, err
		}})
		description, err := p.Describe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		body := description.Components[0].Connection.EmptyValue().AsValueMap()
		body["root"] = cty.StringVal(t.TempDir())
		tables, err := p.OpenTables(t.Context(), plugin.OpenRequest{Component: "delta", Config: cty.ObjectVal(body), MemoryBudget: 16 << 20})
		if err != nil {
			t.Fatal(err)
		}
		defer tables.Close()
		_, err = tables.ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: orders, Schema: orderSchema, Layout: plugin.LayoutMerge}})
		for range 2 {
			if err == nil {
				err = merge(t, tables)
			}
		}
		if len(faulty.Calls()) < nth { // nothing broke
			break
		}
		if err == nil {
			continue // at a call that may be left out, such as a removal
		}
		list := diag.FromError(err)
		if told[list[0].Code]++; list[0].Kind != diag.KindUnavailable && list[0].Kind != diag.KindTransient {
			t.Errorf("call %d: %+v", nth, list)
		}
	}
	if told["delta.disk_error"] == 0 {
		t.Errorf("told %v", told)
	}
}
