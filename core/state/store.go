package state

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
)

// Format is the newest layout that this program reads and writes.
const Format = 1

// Options name the state of one configuration.
type Options struct {
	// Name is that of the pipectl block and part of the place.
	Name string
	// Environment is that of the pipectl block, "" when it names none.
	Environment string
	// Clock is the wall clock; nil = time.Now. After is a timer for renewing
	// locks; nil = time.After.
	Clock func() time.Time
	After func(time.Duration) <-chan time.Time
	// Gone reports whether the process that holds a lock is known to have died
	// (on this machine); its lock is then taken over at once. nil = never known.
	Gone func(Holder) bool
	// Path is the configuration as a person named it, for the commands that hints
	// name; "" leaves it out of them.
	Path string
}

// Store is the state of one configuration in one place. It may be used by
// several goroutines.
type Store struct {
	objects     Objects
	root        string
	environment string
	lineage     string
	clock       func() time.Time
	after       func(time.Duration) <-chan time.Time
	gone        func(Holder) bool
	noticed     bool // gone knows of processes of this machine
	path        string
}

// Open looks at the state and changes nothing; there may be none yet. State of
// another environment is a diagnostic of kind configuration, state of a newer
// format one of kind unavailable that names both numbers.
func Open(ctx context.Context, objects Objects, opts Options) (*Store, error) {
	s := &Store{objects: objects, root: model.Element(opts.Name) + "/", environment: opts.Environment, clock: opts.Clock, after: opts.After, gone: opts.Gone, noticed: opts.Gone != nil, path: opts.Path}
	if s.clock == nil {
		s.clock = time.Now
	}
	if s.after == nil {
		s.after = time.After
	}
	if s.gone == nil {
		s.gone = func(Holder) bool { return false }
	}
	if err := s.readFormat(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Lineage is the identity of this state, made when it was created; "" before.
func (s *Store) Lineage() string { return s.lineage }

// Place says for people where the state lies.
func (s *Store) Place() string { return s.objects.Place(s.root) }

type formatFile struct {
	Format  int    `json:"format"`
	Lineage string `json:"lineage"`
	// Environment is null when the pipectl block names none.
	Environment *string `json:"environment"`
}

// Initialize creates format.json unless it is there. Losing the race to
// another creator takes the other's lineage.
func (s *Store) Initialize(ctx context.Context) error {
	if s.lineage != "" {
		return nil
	}
	f := formatFile{Format: Format, Lineage: newUUID()}
	if s.environment != "" {
		f.Environment = &s.environment
	}
	if err := s.create(ctx, "format.json", f); err != nil && !errors.Is(err, ErrExists) {
		return err
	}
	if err := s.readFormat(ctx); err != nil {
		return err
	}
	if s.lineage == "" {
		return fmt.Errorf("state file %s is gone right after it was written", s.objects.Place(s.root+"format.json"))
	}
	return nil
}

// Probe finds out, as far as that is possible without writing, that this state
// cannot be written: what was accepted, locks, or positions.
func (s *Store) Probe(ctx context.Context) error {
	for _, prefix := range []string{"", "locks/", "streams/"} {
		if err := s.objects.Probe(ctx, s.root+prefix); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) readFormat(ctx context.Context) error {
	var f formatFile
	ok, err := s.read(ctx, "format.json", &f)
	if err != nil || !ok {
		return err
	}
	place := s.objects.Place(s.root + "format.json")
	switch {
	case f.Format > Format:
		return diag.Errorf(diag.KindUnavailable, "state.format", "Use a newer pipectl; this one would misread what the other wrote.",
			"The state has format %d (%s) and this pipectl knows formats up to %d", f.Format, place, Format).Err()
	case f.Format < 1 || f.Lineage == "":
		return diag.Errorf(diag.KindConfiguration, "state.format", "Restore the file, or move the whole folder away to start anew.",
			"%s is not a format file: format %d, lineage %q", place, f.Format, f.Lineage).Err()
	}
	var stored string
	if f.Environment != nil {
		stored = *f.Environment
	}
	if stored != s.environment {
		return diag.Errorf(diag.KindConfiguration, "state.environment",
			"Check that this configuration was meant for this lake. The state keeps the environment it was created with; "+
				"give the pipectl block the same environment, or another name.",
			"The state in %s belongs to %s and the configuration says %s", place, environmentText(stored), environmentText(s.environment)).
			At("environment").Err()
	}
	s.lineage = f.Lineage
	return nil
}

func environmentText(name string) string {
	if name == "" {
		return "no environment"
	}
	return fmt.Sprintf("environment %q", name)
}

// read decodes a JSON file of the state; false when there is none.
func (s *Store) read(ctx context.Context, key string, into any) (bool, error) {
	data, ok, err := s.objects.Get(ctx, s.root+key)
	if err != nil || !ok {
		return false, err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return false, s.damaged(key, err)
	}
	return true, nil
}

func (s *Store) damaged(key string, err error) error {
	return diag.Errorf(diag.KindConfiguration, "state.damaged", "Restore the file from a copy. A later pipectl may have written it: then use that one.",
		"The state file %s is not understood: %v", s.objects.Place(s.root+key), err).Err()
}

// missing is a file that others say was written.
func (s *Store) missing(key, why string) error {
	return diag.Errorf(diag.KindConfiguration, "state.damaged", "Restore the file from a copy.",
		"The state file %s is missing: %s", s.objects.Place(s.root+key), why).Err()
}

func (s *Store) create(ctx context.Context, key string, value any) error {
	return s.put(ctx, key, value, true)
}

func (s *Store) replace(ctx context.Context, key string, value any) error {
	return s.put(ctx, key, value, false)
}

func (s *Store) put(ctx context.Context, key string, value any, onlyIfAbsent bool) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return fmt.Errorf("encoding state file %s: %w", key, err)
	}
	return s.objects.Put(ctx, s.root+key, b.Bytes(), onlyIfAbsent)
}

// newUUID returns a random UUID (RFC 9562, version 4).
func newUUID() string {
	var b [16]byte
	rand.Read(b[:]) //nolint:errcheck // never fails
	b[6] = b[6]&0x0F | 0x40
	b[8] = b[8]&0x3F | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
