package store_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pipectl/pipectl/plugins/sink-delta/store"
	"github.com/pipectl/pipectl/plugins/sink-delta/store/storetest"
)

func TestStoresBehaveAlike(t *testing.T) {
	t.Parallel()
	local := func(t *testing.T) *store.Local {
		l, err := store.NewLocal(filepath.Join(t.TempDir(), "not", "there", "yet"))
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	stores := map[string]func(t *testing.T) store.Store{
		"memory":                func(*testing.T) store.Store { return store.NewMemory(nil) },
		"local":                 func(t *testing.T) store.Store { return local(t) },
		"faulty without faults": func(*testing.T) store.Store { return store.NewFaulty(store.NewMemory(nil)) },
	}
	probe := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(probe, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if store.RenamesExclusively(probe, probe+"b") {
		stores["local without links"] = func(t *testing.T) store.Store {
			l := local(t)
			store.WithoutLinks(l)
			return l
		}
	}
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, open)
		})
	}
}
