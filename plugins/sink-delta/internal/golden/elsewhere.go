package golden

import (
	"context"
	"fmt"
	"strings"

	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// Elsewhere opens what the table refers to by absolute paths: the source of the
// shallow clone lay in a folder of the machine that made it, and lies beside
// the table here. It can be read only.
func (t *Table) Elsewhere(_ context.Context, location string) (store.Store, error) {
	i := strings.Index(location, t.Name+"/source/")
	if i < 0 {
		return nil, fmt.Errorf("%s has nothing at %s", t.Name, location)
	}
	return &folder{t.Store, strings.TrimSuffix(location[i+len(t.Name)+1:], "/")}, nil
}

// folder is a folder of a store, as far as reading goes.
type folder struct {
	store.Store
	dir string
}

func (f *folder) Get(ctx context.Context, p string) ([]byte, error) {
	return f.Store.Get(ctx, f.dir+"/"+p)
}

func (f *folder) GetRange(ctx context.Context, p string, off, n int64) ([]byte, error) {
	return f.Store.GetRange(ctx, f.dir+"/"+p, off, n)
}

func (f *folder) Head(ctx context.Context, p string) (store.Info, error) {
	return f.Store.Head(ctx, f.dir+"/"+p)
}
