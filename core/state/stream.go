package state

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plugin"
)

// Stream is the state of one stream, named by its app id.
type Stream struct {
	store *Store
	appID string
	dir   string
}

// Stream returns the state of a stream; it need not exist yet.
func (s *Store) Stream(appID string) *Stream {
	return &Stream{store: s, appID: appID, dir: "streams/" + model.Element(appID) + "/"}
}

// Folder is where the stream's state lies below the place of the store, with a
// slash at its end.
func (s *Stream) Folder() string { return s.dir }

// Streams lists the app ids of streams that have state.
func (s *Store) Streams(ctx context.Context) ([]string, error) {
	keys, err := s.objects.List(ctx, s.root+"streams/", "")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, key := range keys {
		element, file, _ := strings.Cut(strings.TrimPrefix(key, s.root+"streams/"), "/")
		if file != "stream.json" {
			continue
		}
		name, err := decodeName(element)
		if err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	return out, nil
}

// Identity is what a stream's positions mean something for.
type Identity struct {
	// Target is bronze's dotted name.
	Target string `json:"target"`
	// Source is the identity of the database, and Alias by what else it is known:
	// "" when by nothing, and in states of older releases.
	Source string `json:"source"`
	Alias  string `json:"source_alias,omitempty"`
	// Table is the identity of the source table.
	Table string `json:"table"`
	// Object is the name that the source table had when the stream was started,
	// for people; "" in states of older releases. It is no part of the identity: a
	// table may be renamed.
	Object string `json:"object,omitempty"`
}

// Identity returns the stored identity; false when the stream never had a position.
func (s *Stream) Identity(ctx context.Context) (Identity, bool, error) {
	var id Identity
	ok, err := s.store.read(ctx, s.dir+"stream.json", &id)
	return id, ok, err
}

// Check compares the identity with the stored one, if any: another target,
// source or table is a diagnostic of kind configuration, never a restart.
func (s *Stream) Check(ctx context.Context, id Identity) error {
	stored, ok, err := s.Identity(ctx)
	if err != nil || !ok {
		return err
	}
	again := "The table was dropped and created again, or another one is meant: then put it back. "
	if stored.Object != "" && id.Object != "" {
		again = "The table was dropped and created again. "
		if stored.Object != id.Object {
			again = "Another table is meant. If that was a slip, put the old one back. "
		}
	}
	if id.database().Same(stored.database()) {
		id.Source = stored.Source
	}
	for _, part := range []struct{ what, code, stored, now, storedName, nowName, hint string }{
		{"source", "stream.source", stored.Source, id.Source, "", "", "Its positions mean nothing in another database, so nothing was read. Check first that the source's address is the right one; it may really be another database now. " + plugin.LoadAnew},
		{"table", "stream.table", stored.Table, id.Table, stored.Object, id.Object, again + plugin.LoadAnew},
		{"target", "stream.target", stored.Target, id.Target, "", "", "The rows of an app_id stay in one table. " + plugin.LoadAnew},
	} {
		if part.stored != part.now {
			return diag.Errorf(diag.KindConfiguration, part.code, part.hint,
				"The stream with app_id %q was started with %s %s and now has %s", s.appID, part.what, named(part.storedName, part.stored), named(part.nowName, part.now)).Err()
		}
	}
	return nil
}

func (id Identity) database() plugin.Database {
	return plugin.Database{Identity: id.Source, Alias: id.Alias}
}

// Renew stores by what the database is known now, where that is another identity
// of the one that is stored: it may go on to lose the one and keep the other. The
// caller holds the stream's lock and has checked the identity.
func (s *Stream) Renew(ctx context.Context, id Identity) error {
	stored, ok, err := s.Identity(ctx)
	if err != nil || !ok || stored.database() == id.database() || !stored.database().Same(id.database()) {
		return err
	}
	stored.Source, stored.Alias = id.Source, id.Alias
	return s.store.replace(ctx, s.dir+"stream.json", stored)
}

// named is an identity with the name that people know it by, where there is one.
func named(name, identity string) string {
	if name == "" || name == identity {
		return strconv.Quote(identity)
	}
	return fmt.Sprintf("%q (%s)", name, identity)
}

// Claim stores the identity before the first position of the stream is recorded
// (a snapshot's, or that of the first batch), or checks it.
func (s *Stream) Claim(ctx context.Context, id Identity) error {
	err := s.store.create(ctx, s.dir+"stream.json", id)
	if errors.Is(err, ErrExists) {
		return s.Check(ctx, id)
	}
	return err
}

// Generation is which checkpoint of a stream is live. Number 0 is the first;
// each recovery from data loss starts the next.
type Generation struct {
	Number int
	// Snapshot is where a generation above 0 starts.
	Snapshot plugin.Position
	// At is when it was started.
	At time.Time
	// Recovering is the offset of an unfinished recovery, nil when none, and
	// FailedAt when its last try failed.
	Recovering *plugin.Position
	FailedAt   time.Time
}

// generationName is the file of the generation state. Name and members are
// shared with the tables' other writers.
const generationName = "_mssql_cdc_generation.json"

type generationFile struct {
	Generation  int         `json:"generation"`
	SnapshotLSN string      `json:"snapshot_lsn,omitempty"`
	CommitTS    *string     `json:"commit_ts,omitempty"`
	At          string      `json:"at,omitempty"`
	Recovering  *offsetJSON `json:"recovering,omitempty"`
	FailedAt    string      `json:"failed_at,omitempty"`
}

// Generation returns the live generation; number 0 when none was stored.
func (s *Stream) Generation(ctx context.Context) (Generation, error) {
	key := s.dir + generationName
	var f generationFile
	ok, err := s.store.read(ctx, key, &f)
	if err != nil || !ok {
		return Generation{}, err
	}
	g := Generation{Number: f.Generation}
	if f.Generation < 0 || f.Generation > 0 && f.SnapshotLSN == "" {
		return Generation{}, s.store.damaged(key, fmt.Errorf("generation %d starts at no position", f.Generation))
	}
	var commit string
	if f.CommitTS != nil {
		commit = *f.CommitTS
	}
	if g.Snapshot, err = plugin.ParsePosition(f.SnapshotLSN, commit); err != nil {
		return Generation{}, s.store.damaged(key, err)
	}
	if g.At, err = parseSecond(f.At); err != nil {
		return Generation{}, s.store.damaged(key, err)
	}
	if g.FailedAt, err = parseSecond(f.FailedAt); err != nil {
		return Generation{}, s.store.damaged(key, err)
	}
	if f.Recovering != nil {
		p, err := f.Recovering.position()
		if err != nil {
			return Generation{}, s.store.damaged(key, err)
		}
		g.Recovering = &p
	}
	return g, nil
}

// PutGeneration replaces the generation state. The caller holds the stream's lock.
func (s *Stream) PutGeneration(ctx context.Context, g Generation) error {
	f := generationFile{Generation: g.Number, At: formatSecond(g.At), FailedAt: formatSecond(g.FailedAt)}
	if !g.Snapshot.IsZero() {
		commit := g.Snapshot.CommitText()
		f.SnapshotLSN, f.CommitTS = g.Snapshot.Text, &commit
	}
	if g.Recovering != nil {
		o := offsetOf(*g.Recovering)
		f.Recovering = &o
	}
	return s.store.replace(ctx, s.dir+generationName, f)
}

// Times of the generation state are UTC to the second, with offset.
const secondLayout = "2006-01-02T15:04:05-07:00"

func formatSecond(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(secondLayout)
}

func parseSecond(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	return time.Parse(secondLayout, text)
}
