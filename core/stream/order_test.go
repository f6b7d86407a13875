package stream_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/plugin"
)

// orderHolds holds, in a lake as a crash left it, what the order of the writes
// of a batch promises whoever looks now: rows, then facts, then commit mark, then
// verdict. What comes later never stands there without what comes before it.
func (w *world) orderHolds() error {
	const appID = "orders-v1"
	states, err := w.lake.Open().GetTables(context.Background(), plugin.GetTablesRequest{
		Tables: []plugin.TableRef{{Name: bronze}, {Name: facts}}, AppIDs: []string{appID, ledger.FactsApp(appID)},
	})
	if err != nil {
		return err
	}
	newest := func(table plugin.TableState, id string) int64 {
		if n, ok := table.Txns[id]; ok {
			return n
		}
		return -1
	}
	bronzeTxn, factsTxn := newest(states[0], appID), newest(states[1], ledger.FactsApp(appID))
	done, ends, err := w.checkpoint()
	if err != nil {
		return err
	}
	for _, row := range w.lake.Rows(verds) {
		if end := row["end_lsn"].(string); done < 0 || end > ends[done] {
			return fmt.Errorf("the verdict of %v follows from %s, and batch %d, the newest with a commit mark, ends at %q", row["table_name"], end, done, ends[done])
		}
	}
	if factsTxn < done {
		return fmt.Errorf("batch %d has its commit mark, and the facts have come to %d", done, factsTxn)
	}
	told := map[int64]int64{} // rows of a batch
	for _, row := range w.factsOf("") {
		told[row["batch_id"].(int64)] = row["rows"].(int64)
	}
	for n := range done + 1 {
		if _, ok := told[n]; !ok {
			return fmt.Errorf("batch %d has its commit mark and no row in the facts", n)
		}
	}
	for n, rows := range told {
		if rows > 0 && bronzeTxn < n {
			return fmt.Errorf("the facts tell %d rows of batch %d, and bronze has come to %d", rows, n, bronzeTxn)
		}
		if _, ok := ends[n]; !ok {
			return fmt.Errorf("the facts tell of batch %d, and it has no offset", n)
		}
	}
	return nil
}

// checkpoint is the newest batch that has its commit mark, -1 for none, and the
// end of every batch that has its offset.
func (w *world) checkpoint() (done int64, ends map[int64]string, err error) {
	done, ends = -1, map[int64]string{}
	for key, data := range w.lake.Objects() {
		dir, name, _ := strings.Cut(strings.TrimPrefix(key, "_pipectl/shop/streams/orders-v1/"), "/")
		if dir != "offsets" && dir != "commits" {
			continue
		}
		var n int64
		if _, err := fmt.Sscanf(name, "%d", &n); err != nil {
			return 0, nil, fmt.Errorf("entry %s: %w", key, err)
		}
		if dir == "commits" {
			done = max(done, n)
			continue
		}
		var offset struct{ End struct{ LSN string } }
		if err := json.Unmarshal(data, &offset); err != nil {
			return 0, nil, fmt.Errorf("entry %s: %w", key, err)
		}
		ends[n] = offset.End.LSN
	}
	return done, ends, nil
}
