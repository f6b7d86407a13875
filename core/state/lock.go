package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
)

// LockTTL is how long a lock holds after its last renewal. Hosts whose clocks
// differ by more may take each other's locks; then two runs waste work, and the
// tables' transactions still let only one of them write.
const LockTTL = time.Minute

// keepLocks is how many numbers of a lock stay behind; a taker that listed long
// ago must still find that it is not the newest.
const keepLocks = 10

// ApplyLock is the name of the lock under which declared.json is replaced.
const ApplyLock = "#apply"

// Holder says who holds a lock.
type Holder struct {
	// Run is the id of the run.
	Run  string `json:"holder"`
	Host string `json:"host"`
	PID  int    `json:"pid"`
	// Since is when it was taken, Expires when it may be taken over.
	Since    time.Time `json:"since"`
	Expires  time.Time `json:"expires"`
	Released bool      `json:"released,omitempty"`
}

// LockState is a lock that is held or expired.
type LockState struct {
	Name   string
	Number int64
	Holder Holder
	// Unreadable tells why nobody can say who holds it, and what to do; nil when its
	// holder is known.
	Unreadable error
}

// Lock is a lock that is held. Its holder renews it (Keep) and releases it.
type Lock struct {
	store  *Store
	name   string
	number int64

	mu     sync.Mutex // guards holder
	holder Holder
}

func lockDir(name string) string { return "locks/" + model.Element(name) + "/" }

// Lock takes the lock of a stream's app id, a target or ApplyLock, by creating
// the number after the newest one, when that one is released, has expired, or
// is held by a process that is known to be gone: so no taker ever removes
// another's lock. A lock that is held is a diagnostic of kind unavailable that
// names its holder; one that cannot be read may be held, and is an error.
//
// A run works on one name at a time, so a lock that the same run holds is left
// over from a try that failed together with what keeps the state, and could
// not release it.
func (s *Store) Lock(ctx context.Context, name string, who Holder) (*Lock, error) {
	newest, err := s.newestLock(ctx, name)
	if err != nil {
		return nil, err
	}
	if newest != nil && newest.Unreadable != nil {
		return nil, newest.Unreadable
	}
	now := s.clock().UTC()
	if newest != nil && newest.Holder.Run != who.Run && s.Holds(newest.Holder) {
		return nil, s.heldError(*newest, who)
	}
	who.Since, who.Expires, who.Released = now, now.Add(LockTTL), false
	l := &Lock{store: s, name: name, number: 1, holder: who}
	if newest != nil {
		l.number = newest.Number + 1
	}
	created := s.create(ctx, l.key(), who)
	if created != nil && !errors.Is(created, ErrExists) {
		return nil, fmt.Errorf("taking the lock of %s: %w", name, created)
	}
	// Another taker may have been faster, or so much faster that its number has
	// come and gone since the listing above.
	if newest, err = s.newestLock(ctx, name); err != nil {
		return nil, err
	}
	if created != nil || newest == nil || newest.Number != l.number {
		if created == nil {
			if err := l.Release(ctx); err != nil {
				return nil, err
			}
		}
		if newest == nil {
			return nil, fmt.Errorf("the lock of %s is gone right after it was taken", name)
		}
		if newest.Unreadable != nil {
			return nil, newest.Unreadable
		}
		return nil, s.heldError(*newest, who)
	}
	return l, s.trimLocks(ctx, name, l.number)
}

// Holds reports whether a holder still holds its lock: it has not released it,
// the lock has not expired, and its process is not known to be gone.
func (s *Store) Holds(h Holder) bool {
	return !h.Released && s.clock().Before(h.Expires) && !s.gone(h)
}

// heldError names who holds a lock that who wants, and what frees it: of a process
// of who's machine no death goes unnoticed, where that is looked at.
func (s *Store) heldError(l LockState, who Holder) error {
	what := l.Name
	if l.Name == ApplyLock {
		what = "apply"
	}
	unlock := func(flag string) string { return s.unlockCommand(flag, l.Name) }
	expires := l.Holder.Expires.Format(time.RFC3339)
	detail := fmt.Sprintf("Wait for it to end. If that process is gone, the lock can be taken from %s on, or at once with: %s", expires, unlock(""))
	switch {
	case l.Holder.Host != who.Host:
	case s.noticed:
		detail = "Wait for it to end, or stop it: a lock of this machine is free at once when its process is gone. If another program has got that number since, release it with: " + unlock("-force ")
	default:
		detail = fmt.Sprintf("Wait for it to end, or stop it. When that process is gone, the lock can be taken from %s on, or at once with: %s", expires, unlock("-force "))
	}
	return diag.Errorf(diag.KindUnavailable, "state.locked", detail, "%s is locked by run %s (process %d on %s) since %s",
		what, l.Holder.Run, l.Holder.PID, l.Holder.Host, l.Holder.Since.Format(time.RFC3339)).Err()
}

// unlockCommand is what releases a lock by hand.
func (s *Store) unlockCommand(flag, name string) string {
	command := "pipectl unlock " + flag + diag.Shell(name)
	if s.path != "" {
		command += " " + diag.Shell(s.path)
	}
	return command
}

// Locks lists the newest entry of every lock that is not released.
func (s *Store) Locks(ctx context.Context) ([]LockState, error) {
	keys, err := s.objects.List(ctx, s.root+"locks/", "")
	if err != nil {
		return nil, err
	}
	var out []LockState
	for i, key := range keys {
		element, _, _ := strings.Cut(strings.TrimPrefix(key, s.root+"locks/"), "/")
		if i+1 < len(keys) && strings.HasPrefix(keys[i+1], s.root+"locks/"+element+"/") {
			continue
		}
		name, err := decodeName(element)
		if err != nil {
			return nil, err
		}
		l, err := s.newestLock(ctx, name)
		if err != nil {
			return nil, err
		}
		if l != nil && !l.Holder.Released {
			out = append(out, *l)
		}
	}
	return out, nil
}

// Unlock takes the lock of the name from whoever holds it and leaves it
// released: it creates the next number, so that no renewal can undo it.
func (s *Store) Unlock(ctx context.Context, name string) error {
	l, err := s.newestLock(ctx, name)
	if err != nil || l == nil || l.Holder.Released {
		return err
	}
	l.Holder.Released = true // of one that cannot be read no holder is known
	err = s.create(ctx, lockDir(name)+number(l.Number+1), l.Holder)
	if errors.Is(err, ErrExists) {
		return diag.Errorf(diag.KindConflict, "state.unlock", "Look at who holds it now, and do it again if need be.",
			"The lock of %s was taken by another run at the same time", name).Err()
	}
	return err
}

func (s *Store) lockNumbers(ctx context.Context, name string) ([]int64, error) {
	prefix := s.root + lockDir(name)
	keys, err := s.objects.List(ctx, prefix, "")
	if err != nil {
		return nil, fmt.Errorf("listing the locks of %s: %w", name, err)
	}
	var out []int64
	for _, key := range keys {
		if n, ok := parseNumber(strings.TrimPrefix(key, prefix)); ok {
			out = append(out, n)
		}
	}
	return out, nil
}

// newestLock is the entry of a lock that counts, nil when there is none.
func (s *Store) newestLock(ctx context.Context, name string) (*LockState, error) {
	numbers, err := s.lockNumbers(ctx, name)
	if err != nil || len(numbers) == 0 {
		return nil, err
	}
	l := &LockState{Name: name, Number: numbers[len(numbers)-1]}
	key := lockDir(name) + number(l.Number)
	data, ok, err := s.objects.Get(ctx, s.root+key)
	if err != nil || !ok {
		return l, err
	}
	if err := json.Unmarshal(data, &l.Holder); err != nil {
		l.Holder = Holder{}
		l.Unreadable = diag.Errorf(diag.KindConfiguration, "state.damaged", "Make sure that no run works on "+name+" now, and release the lock: "+s.unlockCommand("-force ", name),
			"The lock file %s is not understood: %v", s.objects.Place(s.root+key), err).Err()
	}
	return l, nil
}

func (s *Store) trimLocks(ctx context.Context, name string, newest int64) error {
	numbers, err := s.lockNumbers(ctx, name)
	if err != nil {
		return err
	}
	for _, n := range numbers {
		if n > newest-keepLocks {
			break
		}
		if err := s.objects.Delete(ctx, s.root+lockDir(name)+number(n)); err != nil {
			return err
		}
	}
	return nil
}

func (l *Lock) key() string { return lockDir(l.name) + number(l.number) }

// Renew makes the lock hold for another LockTTL. A lock that was taken over or
// released by someone else is an error of kind conflict.
func (l *Lock) Renew(ctx context.Context) error {
	newest, err := l.store.newestLock(ctx, l.name)
	if err != nil {
		return err
	}
	if newest != nil && newest.Unreadable != nil {
		return newest.Unreadable
	}
	if newest == nil || newest.Number != l.number || newest.Holder.Released {
		by := "it was released by someone else"
		// Who releases a lock of others leaves its holder's name in the next number.
		if newest != nil && newest.Holder.Run != "" && newest.Holder.Run != l.holder.Run {
			by = fmt.Sprintf("run %s (process %d on %s) took it", newest.Holder.Run, newest.Holder.PID, newest.Holder.Host)
			l.mu.Lock()
			if !newest.Holder.Since.Before(l.holder.Expires) {
				by = fmt.Sprintf("it expired at %s, since it was not renewed, and %s", l.holder.Expires.Format(time.RFC3339), by)
			}
			l.mu.Unlock()
		}
		return diag.Errorf(diag.KindConflict, "state.lock_lost", "Nothing is lost: the next run goes on from the last committed batch.",
			"The lock of %s is lost: %s", l.name, by).Err()
	}
	l.mu.Lock()
	l.holder.Expires = l.store.clock().UTC().Add(LockTTL)
	holder := l.holder
	l.mu.Unlock()
	return l.store.replace(ctx, l.key(), holder)
}

// Release gives the lock up. It may be called twice.
func (l *Lock) Release(ctx context.Context) error {
	l.mu.Lock()
	l.holder.Released = true
	holder := l.holder
	l.mu.Unlock()
	if err := l.store.replace(ctx, l.key(), holder); err != nil {
		return fmt.Errorf("releasing the lock of %s: %w", l.name, err)
	}
	return nil
}

// Keep renews the lock in the background until stop is called, which waits for
// the renewal to end and releases the lock. The context it returns is cancelled
// with the reason when the lock is lost.
func (l *Lock) Keep(ctx context.Context) (held context.Context, stop func() error) {
	held, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-held.Done():
				return
			case <-l.store.after(LockTTL / 3):
			}
			if err := l.Renew(held); diag.Is(err, diag.KindConflict) {
				cancel(err)
				return
			}
			// Any other failure is tried again: two more renewals fit in the TTL, and
			// a lock that expires meanwhile is found lost by the next one.
		}
	}()
	return held, func() error {
		cancel(context.Canceled)
		<-done
		return l.Release(context.WithoutCancel(ctx))
	}
}
