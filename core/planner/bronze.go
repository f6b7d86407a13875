package planner

import (
	"context"
	"fmt"
	"strings"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/state"
	"github.com/pipectl/pipectl/core/stream"
)

// checkBronze finds out, before apply touches the table, whether the stream
// would refuse to go on in it, or write into it what it holds already.
func (p *planning) checkBronze(ctx context.Context, lake *Lake, s *model.Stream) error {
	if _, err := p.owner(ctx, lake, p.tables[s.To][s.Target], s.Addr); err != nil {
		return err
	}
	if err := p.named(lake, plugin.TableRef{Name: s.Target, Path: s.Path}); err != nil {
		return err
	}
	if log := p.logs[s.Addr]; log.Newest >= 0 {
		if !p.tables[s.To][s.Target].Exists {
			return stream.TableGone(s.Target, CommittedEnd(log))
		}
		return p.checkReach(ctx, lake, s, log)
	}
	if err := p.checkLog(lake, s); err != nil {
		return err
	}
	return p.checkWriters(ctx, lake, s)
}

// checkLog finds tables that hold batches of the stream's app id while the
// stream has no log of them.
func (p *planning) checkLog(lake *Lake, s *model.Stream) error {
	sinkID, facts := ledger.SinkID(s.AppID, 0), lake.Ledger.Facts().Name
	for _, t := range []struct{ table, app string }{{s.Target, sinkID}, {facts, ledger.FactsApp(sinkID)}} {
		if txn, ok := p.tables[s.To][t.table].Txns[t.app]; ok && txn >= 0 {
			return stream.CheckpointLost(t.table, txn, s.AppID, lake.State.Place())
		}
	}
	return nil
}

// checkReach finds out what the stream's run would: whether bronze has lost rows,
// or the checkpoint batches. A run may be at work: bronze may have had a batch
// between the look at it and the one at the facts, and facts one before the look
// at the checkpoint. So that rows are lost is told only when both stand where they
// stood.
func (p *planning) checkReach(ctx context.Context, lake *Lake, s *model.Stream, log state.Log) error {
	sinkID := ledger.SinkID(s.AppID, p.generations[s.Addr])
	bronze, facts := p.tables[s.To][s.Target], p.tables[s.To][lake.Ledger.Facts().Name]
	look := func() error {
		refs := []plugin.TableRef{{Name: s.Target, Path: s.Path}, lake.Ledger.Facts()}
		states, err := lake.Tables.GetTables(ctx, plugin.GetTablesRequest{Tables: refs, AppIDs: []string{sinkID, ledger.FactsApp(sinkID)}})
		if err != nil {
			return fmt.Errorf("looking at table %s: %w", s.Target, err)
		}
		bronze, facts = states[0], states[1]
		return nil
	}
	if sinkID != s.AppID { // the first look at all tables was for the first generation
		err := look()
		if err == nil {
			log, err = NewestLog(ctx, lake.State.Stream(s.AppID))
		}
		if err != nil {
			return err
		}
	}
	reach := stream.Reach{
		SinkID: sinkID, State: lake.State.Place(), Newest: log.Newest, Committed: log.Committed,
		Checkpoint: lake.State.Stream(s.AppID).Checkpoint(p.generations[s.Addr]), Bronze: s.Target, Forgets: bronze.TxnsExpire,
		BronzeTxn: stream.Txn(bronze, sinkID), FactsTxn: stream.Txn(facts, ledger.FactsApp(sinkID)),
	}
	lost := reach.Check(ctx, lake.Ledger)
	if !diag.HasCode(lost, stream.CodeRowsLost) {
		return lost
	}
	if err := look(); err != nil {
		return err
	}
	if stream.Txn(bronze, sinkID) > reach.BronzeTxn || stream.Txn(facts, ledger.FactsApp(sinkID)) > reach.FactsTxn {
		return nil
	}
	return lost
}

// checkWriters finds rows of a stream with another app id in the table. This
// one has no position, so it would read what they came from once more.
func (p *planning) checkWriters(ctx context.Context, lake *Lake, s *model.Stream) error {
	tables := p.tables[s.To]
	if bronze := tables[s.Target]; !bronze.Exists || bronze.Rows == 0 || !tables[lake.Ledger.Facts().Name].Exists {
		return nil
	}
	writers, err := lake.Ledger.Writers(ctx, s.Target)
	if err != nil {
		return err
	}
	var others []string
	for _, w := range writers {
		if !ledger.Family(s.AppID, w) {
			others = append(others, fmt.Sprintf("%q", w))
		}
	}
	if others == nil {
		return nil
	}
	return diag.Errorf(diag.KindConfiguration, "stream.other_app_id",
		"Its changes would be there twice. Give the stream the old app_id, with its state. "+plugin.LoadAnew,
		"Table %s holds rows that were written under the app_id %s, and this stream has %q", s.Target, strings.Join(others, ", "), s.AppID).At("app_id").Err()
}

// snapshot looks for the stream's snapshot as its run would: known tells that
// facts record one, and found that its rows are in the table. What other streams
// of the lake have is read once.
func (p *planning) snapshot(ctx context.Context, lake *Lake, s *model.Stream, info plugin.TableInfo, begun bool) (known, found bool, err error) {
	sink := lake.Sink.Addr
	bronze := p.tables[sink][s.Target]
	if bronze.Table.Name == "" {
		bronze.Table = plugin.TableRef{Name: s.Target, Path: s.Path}
	}
	if p.recorded[sink] == nil {
		var targets []string
		for _, other := range p.Config.Streams {
			if other.To == sink {
				targets = append(targets, other.Target)
			}
		}
		recorded, err := lake.Ledger.SnapshotsOf(ctx, targets...)
		if err != nil {
			return false, false, err
		}
		p.recorded[sink] = recorded
	}
	query := stream.SnapshotQuery{
		AppID: s.AppID, Bronze: bronze, Recorded: p.recorded[sink][s.Target], Instances: info.Instances, Begun: begun,
	}
	at, err := stream.FindSnapshot(ctx, lake.Tables, query)
	if err != nil {
		return false, false, err
	}
	chunked, complete := ledger.OpenChunked(query.Recorded, s.AppID)
	return query.Completion() != nil, !at.IsZero() || chunked != nil && complete, nil
}

// checkLoss asks the source whether the changes that a stream reads next are
// gone. A run that has a batch in hand may be past its reading, and a source that
// cannot tell leaves it to the run: both are a warning, and a decision that may
// wait.
func (p *planning) checkLoss(ctx context.Context, lake *Lake, s *model.Stream, info plugin.TableInfo, log state.Log, step *plan.Step) error {
	table := p.Config.Table(s.Table)
	source, err := p.Plugins.Source(ctx, table.Source)
	if err != nil {
		return err
	}
	at, inHand, err := p.readsFrom(ctx, lake, s, log)
	if err != nil || log.Committed < log.Newest && at == log.Offset.End && at.Text >= p.sources[table.Source].Newest.Text {
		return err // or nothing has come after that batch
	}
	answer, err := source.Lost(ctx, plugin.LostRequest{Table: SourceTable(table, s), Positions: []plugin.Position{at}})
	unknown := diag.Is(err, diag.KindUnsupported)
	switch {
	case err != nil && !unknown:
		return fmt.Errorf("asking whether changes are lost: %w", err)
	case !unknown && (len(answer.Lost) != 1 || !answer.Lost[0]):
		return nil
	}
	between := fmt.Sprintf("it stands at %s, and the oldest change kept is of %s", instant(at), instant(info.Oldest))
	if unknown || inHand {
		step.Decision = true
		step.Diagnostics = append(step.Diagnostics, s.Origin.Locate(s.Addr, diag.List{{
			Severity: diag.Warning, Code: "stream.position_purged",
			Summary: fmt.Sprintf("Changes that %s needs next may be gone: %s", s.Addr, between),
			Detail:  "The next run finds out, and stops there rather than skip them.",
		}})...)
		return nil
	}
	return diag.Errorf(diag.KindDataLoss, "stream.data_loss",
		"The source has purged them, so nothing is read: the tables would lack them without a word. "+plugin.LoadAnew+" Doing that by itself (on_data_loss) is not built yet.",
		"Changes that %s needs next are gone: %s", s.Addr, between).Err()
}

// readsFrom is the position after which the next run of a stream reads: a batch
// without its commit is read again, also when its rows are in bronze already, but
// not when facts tell of it. inHand tells that a run is at work on it, or was until
// just now.
func (p *planning) readsFrom(ctx context.Context, lake *Lake, s *model.Stream, log state.Log) (at plugin.Position, inHand bool, err error) {
	if log.Committed == log.Newest {
		return log.Offset.End, false, nil
	}
	app := ledger.FactsApp(ledger.SinkID(s.AppID, p.generations[s.Addr]))
	states, err := lake.Tables.GetTables(ctx, plugin.GetTablesRequest{Tables: []plugin.TableRef{lake.Ledger.Facts()}, AppIDs: []string{app}})
	if err != nil {
		return at, false, fmt.Errorf("looking at table %s: %w", lake.Ledger.Facts().Name, err)
	}
	if stream.Txn(states[0], app) >= log.Newest {
		return log.Offset.End, false, nil
	}
	// The holder first: who released the lock since has left its commit.
	holder, err := p.holder(ctx, lake, s)
	if err != nil {
		return at, false, err
	}
	now, err := NewestLog(ctx, lake.State.Stream(s.AppID))
	return log.Offset.Start, holder != nil || now.Newest != log.Newest || now.Committed != log.Committed, err
}

// instant is a position for people: its time, where it has one, and itself.
func instant(at plugin.Position) string {
	if commit, ok := at.Commit(); ok {
		return commit.UTC().Format("2006-01-02 15:04:05.000") + " (" + at.Text + ")"
	}
	return at.Text
}
