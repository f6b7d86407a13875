package deltatable

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/google/uuid"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
)

// Mode is what a write does with the rows that are there.
type Mode uint8

const (
	// Append keeps them.
	Append Mode = iota + 1
	// Overwrite replaces them all, as they were when the write began.
	Overwrite
	// Merge updates, inserts and deletes by key; see MergeSpec.
	Merge
	// Delete takes away the rows for which WriteSpec.Where is true. It has no
	// parts.
	Delete
)

// String is the operation's name in the table's history.
func (m Mode) String() string {
	switch m {
	case Merge:
		return "MERGE"
	case Delete:
		return "DELETE"
	}
	return "WRITE"
}

// Txn is an idempotency key: a write whose application has already recorded
// this version or a later one does nothing.
type Txn struct {
	AppID   string
	Version int64
}

// WriteSpec says what a write is.
type WriteSpec struct {
	Mode Mode
	// Schema is that of the batches to come. Columns are matched by name without
	// regard to case; columns of the table that it lacks are written NULL.
	Schema *arrow.Schema
	// MergeSchema adds columns that the table lacks, in the same commit, and
	// widens columns when the table has delta.enableTypeWidening. Without it,
	// such columns are an error.
	MergeSchema bool
	// Txns make the write idempotent: it does nothing when the table has recorded
	// every one of them, and the commit records them. When only some are
	// recorded the write is a conflict (deltalog.ErrConcurrentTransaction).
	Txns []Txn
	// TableID, when set, is the id that the table must have (ErrReplaced).
	TableID string
	// BaseVersion, when set, makes the write fail with deltalog.ErrConflict
	// unless all commits after that version changed no rows. An overwrite that
	// has none replaces what Begin saw: rows that came later are a conflict.
	BaseVersion *int64
	// Merge is for mode Merge.
	Merge *MergeSpec
	// Where is for mode Delete: exactly the rows for which it is true go. A
	// comparison with NULL is true of no row.
	Where deltalog.Predicate
}

// Outcome is how a write ended.
type Outcome uint8

const (
	// Committed: the rows are in the table.
	Committed Outcome = iota + 1
	// Already: the table had the write's txn version or a later one; nothing was
	// committed.
	Already
	// Nothing: there was nothing to write or to change; nothing was committed.
	Nothing
)

func (o Outcome) String() string {
	return [...]string{"", "COMMITTED", "ALREADY", "NOTHING"}[o]
}

// Result is what a write did.
type Result struct {
	// Version is the commit's version; when nothing was committed, the version
	// that showed there was no need.
	Version int64
	Outcome Outcome
	// Rows by what happened to them. Deleted counts rows that an overwrite
	// replaced, too; -1 when the table's statistics do not say how many.
	Inserted, Updated, Deleted int64
}

// Write is one write: parts, then one commit. Parts may be opened, written and
// closed concurrently.
type Write struct {
	table *Table
	spec  WriteSpec
	base  *Snapshot // what the write was begun on

	target  *writeTarget // of append and overwrite
	merge   *merge       // of merge
	already *Result

	mu    sync.Mutex
	parts map[string]*Part
	ended bool
	// unsettled: a commit failed with deltalog.ErrCommitUnknown.
	unsettled bool
	result    *Result
}

// Begin starts a write. Check Already before writing parts.
func (t *Table) Begin(ctx context.Context, spec WriteSpec) (*Write, error) {
	s, err := t.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	w := &Write{table: t, spec: spec, base: s, parts: map[string]*Part{}}
	if err := w.check(ctx, s); err != nil {
		return nil, err
	}
	if w.recorded(s) {
		w.already = &Result{Version: s.Version(), Outcome: Already}
		return w, nil
	}
	if spec.Mode == Overwrite && spec.BaseVersion == nil {
		seen := s.Version()
		w.spec.BaseVersion = &seen
	}
	switch spec.Mode {
	case Append, Overwrite:
		w.target, err = newWriteTarget(s, spec)
	case Merge:
		w.merge, err = newMerge(s, spec)
	case Delete:
		err = checkDelete(s, spec)
	default:
		err = fmt.Errorf("a write needs a mode")
	}
	if err != nil {
		return nil, err
	}
	return w, nil
}

// check holds the write's requirements against a version of the table.
func (w *Write) check(ctx context.Context, s *Snapshot) error {
	if err := s.CheckWrite(); err != nil {
		return err
	}
	if id := s.log.Metadata().ID; w.spec.TableID != "" && id != w.spec.TableID {
		return fmt.Errorf("%w: it has the id %s, the write was planned on %s", ErrReplaced, id, w.spec.TableID)
	}
	if n := len(w.unrecorded(s)); n > 0 && n < len(w.spec.Txns) {
		return &deltalog.ConflictError{
			Kind: deltalog.ErrConcurrentTransaction, Version: s.Version(),
			Detail: fmt.Sprintf("%d of the write's %d txn versions are recorded already, so its rows are neither all there nor all missing; write them apart", len(w.spec.Txns)-n, len(w.spec.Txns)),
		}
	}
	if w.spec.BaseVersion == nil {
		return nil
	}
	if *w.spec.BaseVersion > s.Version() {
		return fmt.Errorf("%w: it is at version %d, the write was planned on version %d", ErrReplaced, s.Version(), *w.spec.BaseVersion)
	}
	if *w.spec.BaseVersion == s.Version() {
		return nil
	}
	next := *w.spec.BaseVersion
	for c, err := range w.table.log.History(ctx, next) {
		next++
		switch {
		case err != nil:
			return fmt.Errorf("looking for changes after version %d: %w", *w.spec.BaseVersion, err)
		case c.Version > s.Version():
			return nil
		case c.DataChange, c.Version != next:
			detail := "rows changed"
			if c.Version != next { // cleanup of the log has taken the commits between
				detail = "rows may have changed"
			}
			return &deltalog.ConflictError{
				Kind: deltalog.ErrConcurrentAppend, Version: c.Version, Operation: c.Info.Operation,
				Detail: fmt.Sprintf("%s after version %d, on which the write was planned", detail, *w.spec.BaseVersion),
			}
		}
	}
	return nil
}

// recorded says whether the table has the txn versions of the write.
func (w *Write) recorded(s *Snapshot) bool {
	return len(w.spec.Txns) > 0 && len(w.unrecorded(s)) == 0
}

// unrecorded are the txn versions that the table does not have.
func (w *Write) unrecorded(s *Snapshot) []Txn {
	var out []Txn
	for _, txn := range w.spec.Txns {
		if have, ok := s.log.Txn(txn.AppID); !ok || have < txn.Version {
			out = append(out, txn)
		}
	}
	return out
}

// Already says that the write's txn version, or a later one, was in the table
// when the write began. Parts cannot be written then, and Commit tells the same.
func (w *Write) Already() bool { return w.already != nil }

// Base is the version of the table that the write was begun on.
func (w *Write) Base() *Snapshot { return w.base }

// Part opens a part. ctx governs the part's life.
func (w *Write) Part(ctx context.Context) (*Part, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended || w.already != nil {
		return nil, ErrWriteClosed
	}
	if w.spec.Mode == Delete {
		return nil, errors.New("a delete has no rows to write")
	}
	p := &Part{write: w, token: uuid.NewString()}
	var err error
	if w.merge != nil {
		p.rows, err = w.merge.newPart()
	} else {
		p.rows, err = w.target.newPart(ctx)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// partRows is where a part's rows go.
type partRows interface {
	write(rec arrow.RecordBatch) error
	// close completes the part; bytes is the size of its data files.
	close() (rows, bytes int64, err error)
	// discard removes what the part wrote, before or after close.
	discard(ctx context.Context) error
}

// Part is one stream of rows of a write. It is not safe for concurrent use;
// different parts are.
type Part struct {
	write *Write
	token string
	rows  partRows
	ended bool
}

// Write adds a batch of the write's schema. It borrows the batch. After an
// error only Abort is of use.
func (p *Part) Write(rec arrow.RecordBatch) error {
	if p.ended {
		return ErrWriteClosed
	}
	return p.rows.write(rec)
}

// PartResult is what a part wrote.
type PartResult struct {
	// Token names the part to Commit.
	Token string
	// Rows and Bytes are what was written: Bytes of data files, 0 in a merge,
	// which writes them when it commits.
	Rows, Bytes int64
}

// Close completes the part's data files. Nothing is in the table until Commit
// names the part's token.
func (p *Part) Close() (PartResult, error) {
	if p.ended {
		return PartResult{}, ErrWriteClosed
	}
	rows, bytes, err := p.rows.close()
	if err != nil {
		return PartResult{}, err
	}
	p.ended = true
	w := p.write
	w.mu.Lock()
	w.parts[p.token] = p
	ended := w.ended
	w.mu.Unlock()
	if ended { // committed or aborted meanwhile, without this part
		return PartResult{}, errors.Join(ErrWriteClosed, p.rows.discard(context.Background()))
	}
	return PartResult{Token: p.token, Rows: rows, Bytes: bytes}, nil
}

// Abort drops the part and its files. It does nothing after Close.
func (p *Part) Abort(ctx context.Context) error {
	if p.ended {
		return nil
	}
	p.ended = true
	return p.rows.discard(ctx)
}

// Commit makes the parts that tokens name part of the table, all or none, in
// one commit that carries userMetadata verbatim, and removes the files of the
// other parts. It may be repeated: after a success it returns the same result,
// after a failure it tries again. Parts still open are left out.
func (w *Write) Commit(ctx context.Context, tokens []string, userMetadata string) (Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.already != nil:
		return *w.already, nil
	case w.result != nil:
		return *w.result, nil
	case w.ended:
		return Result{}, ErrWriteClosed
	}
	named := make([]partRows, 0, len(tokens))
	seen := map[string]bool{}
	for _, token := range tokens {
		p, ok := w.parts[token]
		if !ok {
			return Result{}, fmt.Errorf("the write has no completed part %q", token)
		}
		if !seen[token] {
			seen[token] = true
			named = append(named, p.rows)
		}
	}
	var result Result
	var err error
	switch {
	case w.merge != nil:
		result, err = w.commitMerge(ctx, named, userMetadata)
	case w.spec.Mode == Delete:
		result, err = w.commitDelete(ctx, userMetadata)
	default:
		result, err = w.commitFiles(ctx, named, userMetadata)
	}
	if err != nil {
		return Result{}, err
	}
	w.ended, w.result = true, &result
	// What is left over is waste, not damage, and the commit has happened: a
	// failure to remove it is no failure of the write.
	for token, p := range w.parts {
		if w.merge != nil || !seen[token] || result.Outcome != Committed {
			p.rows.discard(ctx)
		}
	}
	return result, nil
}

// Abort gives the write up and removes the files of its parts. It does nothing
// after a successful Commit. It must not be called when a Commit failed with
// deltalog.ErrCommitUnknown, since the commit may have happened: repeat Commit
// with a Txn, or leave the files.
func (w *Write) Abort(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended || w.already != nil {
		return nil
	}
	w.ended = true
	var errs []error
	for _, p := range w.parts {
		errs = append(errs, p.rows.discard(ctx))
	}
	return errors.Join(errs...)
}

// retrier repeats an action after conflicts, with the waits of Options.Retry.
type retrier struct {
	opts  Options
	until time.Time
	try   int
}

func (t *Table) newRetrier() *retrier {
	return &retrier{opts: t.opts, until: t.opts.Clock.Now().Add(t.opts.Retry.Budget)}
}

// again waits before the next attempt; false means that the budget is spent.
func (r *retrier) again(ctx context.Context) (bool, error) {
	left := r.until.Sub(r.opts.Clock.Now())
	if left <= 0 {
		return false, nil
	}
	limit := min(r.opts.Retry.Max, r.opts.Retry.Base<<min(r.try, 20))
	r.try++
	wait := min(time.Duration(r.opts.Random()*float64(limit)), left)
	return true, r.opts.Clock.Sleep(ctx, wait)
}
