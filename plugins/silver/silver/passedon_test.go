package silver_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/pipectl/pipectl/core/plugin"
	fake "github.com/pipectl/pipectl/core/plugin/memory"
)

// A snapshot is read while a commit goes on that lets three rows pass their keys
// on: each row is read before it or after it, so a key may be read twice or not at
// all. The commit is behind the snapshot's stamp, and its changes put that right,
// in whichever order they are logged; so they do in a target that never had the
// rows, which are older than its stream.
func TestKeysThatPassOnWhileASnapshotIsRead(t *testing.T) {
	t.Parallel()
	type row struct {
		from, to int32
		note     string
	}
	moved := []row{{1, 2, "a"}, {2, 3, "b"}, {3, 1, "c"}}
	want := map[int32]string{2: "a", 3: "b", 1: "c"}
	orders := [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}
	for read := -1; read < 8; read++ { // a bit of a row that is read after the commit; -1 is no snapshot
		for n, order := range orders {
			t.Run(fmt.Sprintf("%d read after, order %d", read, n), func(t *testing.T) {
				t.Parallel()
				w := newWorld()
				if read >= 0 {
					w.lsn++
					var list []logRow
					for i, r := range moved {
						id := r.from
						if read&(1<<i) != 0 {
							id = r.to
						}
						list = append(list, logRow{lsn: w.lsn, op: plugin.OpSnapshot, id: id, note: r.note, snapshot: w.lsn})
					}
					w.write(t, list...)
					view := w.ledger.Views[silverName]
					view.Snapshot = lsn(w.lsn)
					w.ledger.Views[silverName] = view
				}
				w.lsn++
				var changes []logRow
				for command, i := range order {
					r := moved[i]
					changes = append(changes,
						logRow{lsn: w.lsn, command: int32(2*command + 1), op: plugin.OpUpdateBefore, id: r.from, note: r.note, chunk: -1},
						logRow{lsn: w.lsn, command: int32(2*command + 1), op: plugin.OpUpdateAfter, id: r.to, note: r.note})
				}
				w.write(t, changes...)
				if _, err := w.apply(&fake.Faults{}); err != nil {
					t.Fatal(err)
				}
				if got := w.silver(); !maps.Equal(got, want) {
					t.Errorf("silver %v, want %v", got, want)
				}
			})
		}
	}
}
