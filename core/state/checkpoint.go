package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pipectl/pipectl/core/plugin"
)

// KeepEntries is how many of the newest offsets and commits Trim keeps.
const KeepEntries = 100

// Checkpoint is the offset and commit log of one generation of a stream.
type Checkpoint struct {
	store *Store
	dir   string
}

// Checkpoint returns the log of a generation.
func (s *Stream) Checkpoint(generation int) *Checkpoint {
	dir := s.dir
	if generation > 0 {
		dir += "_generations/" + strconv.Itoa(generation) + "/"
	}
	return &Checkpoint{store: s.store, dir: dir}
}

// Offset is the piece of history of one batch: (Start, End].
type Offset struct{ Start, End plugin.Position }

type offsetJSON struct {
	LSN      *string `json:"lsn"`
	CommitTS *string `json:"commit_ts"`
}

type batchJSON struct {
	Start *offsetJSON `json:"start"`
	End   *offsetJSON `json:"end"`
}

func offsetOf(p plugin.Position) offsetJSON {
	commit := p.CommitText()
	return offsetJSON{LSN: &p.Text, CommitTS: &commit}
}

func (o *offsetJSON) position() (plugin.Position, error) {
	if o == nil || o.LSN == nil || o.CommitTS == nil {
		return plugin.Position{}, errors.New("an offset needs lsn and commit_ts")
	}
	if *o.LSN == "" {
		return plugin.Position{}, errors.New("an offset's lsn is empty")
	}
	return plugin.ParsePosition(*o.LSN, *o.CommitTS)
}

// Log is how far a checkpoint has come.
type Log struct {
	// Newest is the number of the newest offset, -1 when there is none.
	Newest int64
	// Offset is its value.
	Offset Offset
	// Committed is the number of the newest commit, -1 when there is none. It is
	// Newest, or Newest-1 when the last batch has to be carried out again.
	Committed int64
}

// Load reads how far the checkpoint has come: two listings and one object.
func (c *Checkpoint) Load(ctx context.Context) (Log, error) {
	log := Log{Newest: -1, Committed: -1}
	offsets, err := c.numbers(ctx, "offsets/", -1)
	if err != nil {
		return log, err
	}
	if len(offsets) > 0 {
		log.Newest = offsets[len(offsets)-1]
	}
	// A commit is written before the next offset, so only the newest two matter.
	commits, err := c.numbers(ctx, "commits/", max(log.Newest-2, -1))
	if err != nil {
		return log, err
	}
	if len(commits) > 0 {
		log.Committed = commits[len(commits)-1]
	}
	switch {
	case log.Committed > log.Newest:
		return log, c.store.missing(c.offsetKey(log.Committed), fmt.Sprintf("commit %d exists, and each batch has an offset before it is committed", log.Committed))
	case log.Committed < log.Newest-1:
		return log, c.store.missing(c.commitKey(log.Newest-1), fmt.Sprintf("offset %d exists, and each batch is committed before the next one starts", log.Newest))
	case log.Newest < 0:
		return log, nil
	}
	log.Offset, _, err = c.Offset(ctx, log.Newest)
	return log, err
}

// Offset returns the offset of a batch; false when there is none.
func (c *Checkpoint) Offset(ctx context.Context, n int64) (Offset, bool, error) {
	key := c.offsetKey(n)
	data, ok, err := c.store.objects.Get(ctx, c.store.root+key)
	if err != nil || !ok {
		return Offset{}, false, err
	}
	o, err := decodeOffset(data)
	if err != nil {
		return Offset{}, false, c.store.damaged(key, err)
	}
	return o, true, nil
}

func (c *Checkpoint) offsetKey(n int64) string { return c.dir + "offsets/" + number(n) }

// PutOffset stores the offset of a batch before the batch is read. What is
// stored already wins, and is what it returns: always in the form in which a
// later run reads it, commit times cut to milliseconds.
func (c *Checkpoint) PutOffset(ctx context.Context, n int64, o Offset) (Offset, error) {
	key, data := c.offsetKey(n), encodeOffset(o)
	err := c.store.objects.Put(ctx, c.store.root+key, data, true)
	if err == nil {
		return decodeOffset(data)
	}
	if !errors.Is(err, ErrExists) {
		return Offset{}, err
	}
	stored, ok, err := c.Offset(ctx, n)
	if err == nil && !ok {
		err = fmt.Errorf("state file %s was there and is gone", c.store.objects.Place(c.store.root+key))
	}
	return stored, err
}

func decodeOffset(data []byte) (Offset, error) {
	var f batchJSON
	if err := json.Unmarshal(data, &f); err != nil {
		return Offset{}, err
	}
	start, err := f.Start.position()
	if err != nil {
		return Offset{}, fmt.Errorf("start: %w", err)
	}
	end, err := f.End.position()
	if err != nil {
		return Offset{}, fmt.Errorf("end: %w", err)
	}
	return Offset{Start: start, End: end}, nil
}

// encodeOffset writes the one form of an offset entry.
func encodeOffset(o Offset) []byte {
	side := func(p plugin.Position) string {
		text, _ := json.Marshal(p.Text) // a string always encodes
		return `{"lsn": ` + string(text) + `, "commit_ts": "` + p.CommitText() + `"}`
	}
	return []byte(`{"start": ` + side(o.Start) + `, "end": ` + side(o.End) + "}")
}

// PutCommit marks a batch as done, after its facts were written. written is the
// newest batch that bronze had then, -1 for none. A mark that is there already
// stays.
func (c *Checkpoint) PutCommit(ctx context.Context, n, written int64) error {
	err := c.store.create(ctx, c.commitKey(n), commitFile{At: c.store.clock().UTC(), Written: &written})
	if errors.Is(err, ErrExists) {
		return nil
	}
	return err
}

// Written is the newest batch that bronze had when a batch was marked as done, -1
// for none; false when the mark does not say, as those of older releases.
func (c *Checkpoint) Written(ctx context.Context, n int64) (int64, bool, error) {
	var f commitFile
	ok, err := c.store.read(ctx, c.commitKey(n), &f)
	if err != nil || !ok || f.Written == nil {
		return -1, false, err
	}
	return *f.Written, true, nil
}

func (c *Checkpoint) commitKey(n int64) string { return c.dir + "commits/" + number(n) }

type commitFile struct {
	At      time.Time `json:"at"`
	Written *int64    `json:"bronze_batch,omitempty"`
}

// Trim removes entries older than the newest KeepEntries up to batch newest.
// It may be left out or repeated at will.
func (c *Checkpoint) Trim(ctx context.Context, newest int64) error {
	for _, log := range []string{"offsets/", "commits/"} {
		numbers, err := c.numbers(ctx, log, -1)
		if err != nil {
			return err
		}
		for _, n := range numbers {
			if n > newest-KeepEntries {
				break
			}
			if err := c.store.objects.Delete(ctx, c.store.root+c.dir+log+number(n)); err != nil {
				return err
			}
		}
	}
	return nil
}

// numbers lists the entries of a log above the number after, in order.
func (c *Checkpoint) numbers(ctx context.Context, log string, after int64) ([]int64, error) {
	prefix := c.store.root + c.dir + log
	startAfter := ""
	if after >= 0 {
		startAfter = prefix + number(after)
	}
	keys, err := c.store.objects.List(ctx, prefix, startAfter)
	if err != nil {
		return nil, err
	}
	var out []int64
	for _, key := range keys {
		if n, ok := parseNumber(strings.TrimPrefix(key, prefix)); ok {
			out = append(out, n)
		}
	}
	return out, nil
}
