package stream

import (
	"context"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/plugin"
)

// Reach is how far the checkpoint of a stream has come, and the tables that its
// batches go into.
type Reach struct {
	// SinkID is the app id of the stream's live generation; State says for people
	// where its checkpoint lies.
	SinkID, State string
	// Newest is the number of the newest offset of the checkpoint, -1 for none. It
	// is to be read after the tables: what they record has an offset by then.
	Newest int64
	// Committed is the number of the newest batch that the checkpoint has as carried
	// out, -1 for none. It is to be read before the tables: they record it by then.
	Committed int64
	// Bronze is the name of the table.
	Bronze string
	// BronzeTxn and FactsTxn are the newest batches that the tables record, -1 for
	// none.
	BronzeTxn, FactsTxn int64
}

// CodeRowsLost is the code of the diagnostic of a bronze table that lacks
// batches which facts record.
const CodeRowsLost = "stream.rows_lost"

const newID = "Restore the stream's state. " + plugin.LoadAnew + " With the app_id alone the table would hold changes twice."

// CheckpointLost is the diagnostic of a table that holds batches of an app id
// which the state knows nothing of.
func CheckpointLost(table string, txn int64, appID, place string) error {
	return diag.Errorf(diag.KindConfiguration, "stream.checkpoint_lost", newID,
		"Table %s holds batches up to %d of %q, and there is no checkpoint of it in %s", table, txn, appID, place).Err()
}

// Check compares the checkpoint with what the tables record. A table that is
// ahead means that the checkpoint was lost or put back: its next batches would
// carry numbers that the table knows already, and their rows would be left out
// without a word. A table that is behind has lost rows: bronze is behind the
// facts, or both are behind the checkpoint, as when a whole lake was put back
// beneath it.
func (r Reach) Check(ctx context.Context, l *ledger.Ledger) error {
	for _, t := range []struct {
		name string
		txn  int64
	}{{r.Bronze, r.BronzeTxn}, {l.Facts().Name, r.FactsTxn}} {
		if t.txn <= r.Newest {
			continue
		}
		if r.Newest < 0 {
			return CheckpointLost(t.name, t.txn, r.SinkID, r.State)
		}
		return diag.Errorf(diag.KindConfiguration, "stream.checkpoint_rewound", newID,
			"Table %s holds batches up to %d of %q, and the checkpoint in %s has come to %d only", t.name, t.txn, r.SinkID, r.State, r.Newest).Err()
	}
	// Facts without any batch of the stream were made anew, as apply does. Where
	// bronze has the newest batch, only facts were put back, and no row is missing.
	if r.FactsTxn >= 0 && r.FactsTxn < r.Committed && r.BronzeTxn < r.Committed {
		return diag.Errorf(diag.KindStale, CodeRowsLost,
			"Was the lake put back to an older state, and the checkpoint not? Put back either so that both are of one moment: with an older checkpoint the batches are read from the source again. "+plugin.LoadAnew,
			"Table %s records batches up to %d of %q, and by the checkpoint in %s batch %d was carried out", l.Facts().Name, r.FactsTxn, r.SinkID, r.State, r.Committed).Err()
	}
	if r.BronzeTxn >= r.FactsTxn {
		return nil
	}
	lost, err := l.WroteAfter(ctx, r.SinkID, r.BronzeTxn)
	if err != nil || !lost {
		return err
	}
	return diag.Errorf(diag.KindStale, CodeRowsLost, "Was it dropped, replaced or put back to an older version? Restore it. "+plugin.LoadAnew,
		"Table %s lacks rows that were written: the facts record rows in batches of %q after number %d, the table does not", r.Bronze, r.SinkID, r.BronzeTxn).Err()
}

// Txn is the newest version of an app id in a table, -1 when none.
func Txn(t plugin.TableState, appID string) int64 {
	if n, ok := t.Txns[appID]; ok {
		return n
	}
	return -1
}
