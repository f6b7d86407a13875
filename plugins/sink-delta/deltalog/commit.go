package deltalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// Commit writes the transaction as the next free version and returns it. When
// other commits were quicker, it checks them for conflicts and goes on behind
// them, within the table's retry budget.
//
// It fails with *TxnError when an application's version is in the table
// already, *ConflictError (errors.Is with ErrConflict) when another commit is in
// the way, ErrRetriesExhausted, *UnsupportedError, ErrAppendOnly,
// ErrInvalidCommit, or an error of the store. Only after ErrCommitUnknown may
// the commit have taken place. A failed checkpoint does not fail the commit; it
// goes to the log of WithLogger.
func (tx *Transaction) Commit(ctx context.Context) (version int64, err error) {
	if err := tx.validate(); err != nil {
		return 0, fmt.Errorf("commit to table %q: %w", tx.table.path, err)
	}
	for _, t := range tx.txns {
		if have, ok := tx.snapshot.Txn(t.AppID); ok && have >= t.Version {
			return 0, fmt.Errorf("commit to table %q: %w", tx.table.path, &TxnError{AppID: t.AppID, Version: t.Version, Recorded: have})
		}
	}
	if err := ctx.Err(); err != nil {
		return 0, fmt.Errorf("commit to table %q: %w", tx.table.path, err)
	}
	tx.committed = true
	c := &commit{tx: tx, id: uuid.NewString(), next: tx.snapshot.version + 1}
	if err := c.timeOfSnapshot(); err != nil {
		return 0, fmt.Errorf("commit to table %q: %w", tx.table.path, err)
	}
	version, err = c.run(ctx)
	if err != nil {
		return 0, fmt.Errorf("commit to table %q: %w", tx.table.path, err)
	}
	tx.table.checkpointAfter(ctx, version, tx.currentMetadata())
	return version, nil
}

// commit is a transaction on its way into the log.
type commit struct {
	tx   *Transaction
	id   string // commitInfo.txnId: how we know a commit as our own
	next int64  // the version to try
	time int64  // the in-commit timestamp to stay above, milliseconds
}

// run tries versions until one is ours.
func (c *commit) run(ctx context.Context) (int64, error) {
	t := c.tx.table
	began := t.clock.Now()
	var unsettled error     // why the outcome of an attempt at c.next is open
	var races, failures int // attempts of which only the number was lost, and others
	for {
		body, err := c.encode()
		if err != nil {
			return 0, err
		}
		err = t.store.PutIfAbsent(ctx, t.object(logDir, commitName(c.next)), body)
		if err == nil {
			return c.landed(ctx, c.next)
		}
		if !errors.Is(err, store.ErrExist) {
			unsettled = err
		}
		version, ours, lookErr := c.settle(ctx)
		raced := false
		switch {
		case ours:
			return c.landed(ctx, version)
		case errors.Is(lookErr, ErrConflict) || errors.Is(lookErr, ErrCorrupt):
			return 0, lookErr
		case lookErr != nil:
			unsettled = errors.Join(err, lookErr)
		case version != c.next:
			// Others have the versions up to here, and none of them is ours.
			c.next, unsettled, raced = version, nil, true
		case store.Permanent(err):
			return 0, fmt.Errorf("version %d: %w", c.next, err)
		}
		if cause := ctx.Err(); cause != nil {
			return 0, c.giveUp(unsettled, cause)
		}
		var wait time.Duration
		if raced {
			wait = t.wait(races, longestRace)
			races++
		} else {
			wait = t.wait(failures, t.retry.Max)
			failures++
		}
		if t.clock.Now().Add(wait).Sub(began) > t.retry.Budget {
			return 0, c.giveUp(unsettled, fmt.Errorf("%w: %d attempts in %v", ErrRetriesExhausted, races+failures, t.retry.Budget))
		}
		if err := t.clock.Sleep(ctx, wait); err != nil {
			return 0, c.giveUp(unsettled, err)
		}
	}
}

// landed is the version that was written, unless the one before it is not there:
// the table was taken away before the last call, and may have been made anew since.
// What was written there is then part of no table, and is taken back.
func (c *commit) landed(ctx context.Context, version int64) (int64, error) {
	if version == 0 {
		return version, nil
	}
	t := c.tx.table
	ctx = context.WithoutCancel(ctx)
	_, err := t.store.Head(ctx, t.object(logDir, commitName(version-1)))
	if !errors.Is(err, store.ErrNotExist) {
		return version, nil // also when it cannot be looked for: the commit is there
	}
	for o, err := range t.store.List(ctx, t.object(logDir)+"/", "") {
		if err != nil {
			return version, nil
		}
		if n := parseLogName(path.Base(o.Path)); n.kind >= classicCheckpoint && n.version >= version-1 {
			return version, nil // which has what the commit before held
		}
	}
	if err := t.store.Delete(ctx, t.object(logDir, commitName(version))); err != nil {
		return 0, fmt.Errorf("%w: the table was taken away before version %d was written, which cannot be removed: %w", ErrNotTable, version, err)
	}
	return 0, fmt.Errorf("%w: the table was taken away before version %d was written", ErrNotTable, version)
}

// giveUp is the error of a commit that ends for cause.
func (c *commit) giveUp(unsettled, cause error) error {
	if unsettled != nil {
		return fmt.Errorf("%w: version %d: %w", ErrCommitUnknown, c.next, errors.Join(unsettled, cause))
	}
	return cause
}

// wait is the random time before repetition try, at most longest.
func (t *Table) wait(try int, longest time.Duration) time.Duration {
	limit := float64(t.retry.Base) * math.Pow(2, float64(min(try, 60)))
	return time.Duration(min(limit, float64(min(longest, t.retry.Max))) * t.random())
}

// settle reads the versions from c.next on: ours is true when one of them is; else
// version is the first that is free, and what stands before it is no conflict.
// It looks even when ctx has ended, since the caller must learn what happened to
// an attempt that was under way.
func (c *commit) settle(ctx context.Context) (version int64, ours bool, err error) {
	t := c.tx.table
	ctx = context.WithoutCancel(ctx)
	var winners []*batch
	for v := c.next; ; v++ {
		name := t.object(logDir, commitName(v))
		data, err := t.store.Get(ctx, name)
		if errors.Is(err, store.ErrNotExist) {
			break
		}
		if err != nil {
			return 0, false, fmt.Errorf("read version %d: %w", v, err)
		}
		b, err := parseCommit(name, data)
		if err != nil {
			return 0, false, err
		}
		if b.info != nil && b.info.TxnID == c.id {
			return v, true, nil
		}
		winners = append(winners, b)
	}
	// Only now, when none of them is ours.
	for i, b := range winners {
		if err := c.tx.conflict(c.next+int64(i), b); err != nil {
			return 0, false, err
		}
		if b.info != nil && b.info.InCommitTimestamp != nil {
			c.time = max(c.time, *b.info.InCommitTimestamp)
		}
	}
	return c.next + int64(len(winners)), false, nil
}

// inCommitTimestamps reports whether the commit must carry its own time.
func (tx *Transaction) inCommitTimestamps() bool {
	return tx.currentProtocol().supports(featICT) &&
		Properties(tx.currentMetadata().Configuration).Bool(PropInCommitTimestamps, false)
}

// timeOfSnapshot sets the time that the commit must stay above.
func (c *commit) timeOfSnapshot() error {
	s := c.tx.snapshot
	switch {
	case !c.tx.inCommitTimestamps() || c.tx.creates:
	case s.ict != nil:
		c.time = *s.ict
	case s.commit.Path != "":
		// The feature is being enabled: the version before has a file time only.
		c.time = s.commit.Modified.UnixMilli()
	default:
		return fmt.Errorf("%w: the commit file of version %d is gone, which holds the time that the next one must stay above", ErrCorrupt, s.version)
	}
	return nil
}

// encode writes the commit as it is to be tried now.
func (c *commit) encode() ([]byte, error) {
	tx := c.tx
	now := tx.table.clock.Now().UnixMilli()
	blind := tx.blindAppend()
	info := &CommitInfo{
		Timestamp: now, Operation: tx.operation, OperationParameters: tx.parameters,
		OperationMetrics: tx.metrics, IsolationLevel: tx.isolation(), IsBlindAppend: &blind,
		UserMetadata: tx.userMetadata, EngineInfo: tx.table.engine, TxnID: c.id,
	}
	if !tx.creates {
		read := tx.snapshot.version
		info.ReadVersion = &read
	}
	metadata := tx.metadata
	if tx.inCommitTimestamps() {
		// Delta protocol: In-Commit Timestamps, writer requirements.
		stamp := max(now, c.time+1)
		info.InCommitTimestamp = &stamp
		if tx.enablesICT && !tx.creates {
			metadata = cloneMetadata(metadata)
			metadata.Configuration[propICTEnablementVersion] = strconv.FormatInt(c.next, 10)
			metadata.Configuration[propICTEnablementTime] = strconv.FormatInt(stamp, 10)
		}
	}
	var b bytes.Buffer
	put := func(a Action) error {
		line, err := marshal(a)
		if err != nil {
			return fmt.Errorf("write version %d: %w", c.next, err)
		}
		b.Write(line)
		b.WriteByte('\n')
		return nil
	}
	actions := []Action{{CommitInfo: info}} // first, as in-commit timestamps ask
	if tx.protocol != nil {
		actions = append(actions, Action{Protocol: tx.protocol})
	}
	if metadata != nil {
		actions = append(actions, Action{Metadata: metadata})
	}
	for i := range tx.txns {
		actions = append(actions, Action{Txn: &tx.txns[i]})
	}
	for i := range tx.domains {
		actions = append(actions, Action{DomainMetadata: &tx.domains[i]})
	}
	for _, a := range actions {
		if err := put(a); err != nil {
			return nil, err
		}
	}
	for _, r := range tx.removes {
		if err := put(Action{Remove: r}); err != nil {
			return nil, err
		}
	}
	for _, a := range tx.adds {
		if err := put(Action{Add: a}); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// checkpointAfter writes a checkpoint when a version is one that gets one.
func (t *Table) checkpointAfter(ctx context.Context, version int64, m *Metadata) {
	if !t.checkpoint || version == 0 || version%Properties(m.Configuration).CheckpointInterval() != 0 {
		return
	}
	s, err := t.Snapshot(ctx)
	if err == nil {
		err = t.Checkpoint(ctx, s)
	}
	if err != nil {
		t.log.WarnContext(ctx, "the checkpoint of a Delta table could not be written; the table is complete without it, only slower to open",
			"table", t.path, "version", version, "error", err)
		return
	}
	if version%(cleanupEvery*Properties(m.Configuration).CheckpointInterval()) != 0 {
		return
	}
	if _, err := t.cleanLog(ctx, s); err != nil {
		t.log.WarnContext(ctx, "old commits of a Delta table could not be deleted; the table is complete with them",
			"table", t.path, "version", version, "error", err)
	}
}
