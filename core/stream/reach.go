package stream

import (
	"context"
	"fmt"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/state"
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
	// Checkpoint is that of the live generation. It is asked only where tables are
	// behind it.
	Checkpoint *state.Checkpoint
	// Bronze is the name of the table.
	Bronze string
	// Forgets tells that bronze keeps what it records for a time only. Where it
	// records no batch, none is missing that anybody could tell.
	Forgets bool
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

// Ahead finds tables that are ahead of the checkpoint: it was lost or put back.
func (r Reach) Ahead(facts string) error {
	for _, t := range []struct {
		name string
		txn  int64
	}{{r.Bronze, r.BronzeTxn}, {facts, r.FactsTxn}} {
		if t.txn <= r.Newest {
			continue
		}
		if r.Newest < 0 {
			return CheckpointLost(t.name, t.txn, r.SinkID, r.State)
		}
		return diag.Errorf(diag.KindConfiguration, "stream.checkpoint_rewound", newID,
			"Table %s holds batches up to %d of %q, and the checkpoint in %s has come to %d only", t.name, t.txn, r.SinkID, r.State, r.Newest).Err()
	}
	return nil
}

// Check compares the checkpoint with what the tables record. A table that is
// ahead means that the checkpoint was lost or put back: its next batches would
// carry numbers that the table knows already, and their rows would be left out
// without a word. A table that is behind has lost rows: bronze is behind the
// facts, or both are behind the checkpoint, as when a whole lake was put back
// beneath it.
func (r Reach) Check(ctx context.Context, l *ledger.Ledger) error {
	if err := r.Ahead(l.Facts().Name); err != nil {
		return err
	}
	if r.BronzeTxn < 0 && r.Forgets {
		return nil
	}
	if err := r.checkCommitted(ctx, l); err != nil {
		return err
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

const putBack = "Was the lake put back to an older state, and the checkpoint not? Put back either so that both are of one moment: with an older checkpoint the batches are read from the source again. "

// checkCommitted holds both tables against the checkpoint, where it has come
// further than either. What it knows of bronze's rows tells a lake that was put
// back from facts that alone were put back or made anew, and batches that had no
// rows from those that had. One of an older release does not know it: there facts
// that record nothing of the stream count as made anew, as apply does.
func (r Reach) checkCommitted(ctx context.Context, l *ledger.Ledger) error {
	if max(r.BronzeTxn, r.FactsTxn) >= r.Committed {
		return nil
	}
	written, known, err := r.Checkpoint.Written(ctx, r.Committed)
	switch {
	case err != nil:
		return err
	case known && r.BronzeTxn < written:
		return diag.Errorf(diag.KindStale, CodeRowsLost, putBack+plugin.LoadAnew,
			"Table %s holds rows of %s, and by the checkpoint in %s it had those of batch %d", r.Bronze, batchesOf(r.SinkID, r.BronzeTxn), r.State, written).Err()
	case !known && r.FactsTxn >= 0:
		return diag.Errorf(diag.KindStale, CodeRowsLost, putBack+plugin.LoadAnew,
			"Table %s records batches up to %d of %q, and by the checkpoint in %s batch %d was carried out", l.Facts().Name, r.FactsTxn, r.SinkID, r.State, r.Committed).Err()
	}
	return nil
}

// batchesOf are the batches of a stream up to the newest that a table has.
func batchesOf(sinkID string, newest int64) string {
	if newest < 0 {
		return fmt.Sprintf("no batch of %q", sinkID)
	}
	return fmt.Sprintf("batches up to %d of %q", newest, sinkID)
}

// Txn is the newest version of an app id in a table, -1 when none.
func Txn(t plugin.TableState, appID string) int64 {
	if n, ok := t.Txns[appID]; ok {
		return n
	}
	return -1
}
