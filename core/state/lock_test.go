package state

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin/memory"
)

func who(n int) Holder {
	return Holder{Run: fmt.Sprint("run-", n), Host: fmt.Sprint("host-", n), PID: 100 + n}
}

func TestALockIsHeldReleasedAndTakenOver(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, p place) {
		s := p.open(t, "")
		first, err := s.Lock(ctx, "orders-v1", who(1))
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Lock(ctx, "orders-v1", who(2))
		list := diag.FromError(err)
		if err == nil || list[0].Kind != diag.KindUnavailable || list[0].Code != "state.locked" {
			t.Fatalf("a lock that is held: %v", err)
		}
		for _, part := range []string{"run-1", "host-1", "101", "since 2026-03-01T12:00:00Z", "2026-03-01T12:01:00Z", "pipectl unlock orders-v1"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("the message lacks %q: %v", part, err)
			}
		}
		if _, err := s.Lock(ctx, "other", who(2)); err != nil {
			t.Errorf("another lock: %v", err)
		}
		// Renewed in time it holds on.
		p.clock.pass(LockTTL - time.Second)
		if err := first.Renew(ctx); err != nil {
			t.Fatal(err)
		}
		p.clock.pass(LockTTL - time.Second)
		if _, err := s.Lock(ctx, "orders-v1", who(2)); !diag.Is(err, diag.KindUnavailable) {
			t.Fatalf("a renewed lock: %v", err)
		}
		// Released it is free, with the next number.
		for range 2 {
			if err := first.Release(ctx); err != nil {
				t.Fatal(err)
			}
		}
		second, err := s.Lock(ctx, "orders-v1", who(2))
		if err != nil || second.number != 2 {
			t.Fatalf("%+v, %v", second, err)
		}
		// Expired it is taken over, and the former holder learns it.
		p.clock.pass(LockTTL)
		third, err := s.Lock(ctx, "orders-v1", who(3))
		if err != nil || third.number != 3 {
			t.Fatalf("%+v, %v", third, err)
		}
		if err := second.Renew(ctx); !diag.Is(err, diag.KindConflict) || !strings.Contains(err.Error(), "run-3") {
			t.Errorf("a lock that was taken over: %v", err)
		}
		if err := second.Release(ctx); err != nil {
			t.Errorf("releasing a lost lock: %v", err)
		}
		if _, err := s.Lock(ctx, "orders-v1", who(4)); !diag.Is(err, diag.KindUnavailable) {
			t.Errorf("the lost lock's release freed the new one: %v", err)
		}
		// By hand.
		locks, err := s.Locks(ctx)
		if err != nil || len(locks) != 2 || locks[0].Name != "orders-v1" || locks[0].Holder.Run != "run-3" || locks[1].Name != "other" {
			t.Errorf("%+v, %v", locks, err)
		}
		if err := errors.Join(s.Unlock(ctx, "orders-v1"), s.Unlock(ctx, "none")); err != nil {
			t.Fatal(err)
		}
		if err := third.Renew(ctx); !diag.Is(err, diag.KindConflict) {
			t.Errorf("a lock released by hand: %v", err)
		}
		if locks, err := s.Locks(ctx); err != nil || len(locks) != 1 {
			t.Errorf("%+v, %v", locks, err)
		}
	})
}

func TestTheWayOutOfALockCanBeTyped(t *testing.T) {
	t.Parallel()
	s := place{InSink(memory.NewLake().Open(), "sink.lake"), &clock{}}.open(t, "")
	for name, want := range map[string]string{ApplyLock: "apply is locked by run run-1", "it's": `pipectl unlock 'it'\''s'`} {
		if _, err := s.Lock(ctx, name, who(1)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Lock(ctx, name, who(2)); err == nil || !strings.Contains(err.Error(), want) || name == ApplyLock && !strings.Contains(err.Error(), "pipectl unlock '#apply'") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOldLockNumbersAreRemoved(t *testing.T) {
	t.Parallel()
	p := place{InSink(memory.NewLake().Open(), "sink.lake"), &clock{}}
	s := p.open(t, "")
	for i := range 30 {
		l, err := s.Lock(ctx, "a", who(i))
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Release(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if keys := p.keys(t); len(keys) != keepLocks || keys[len(keys)-1] != "shop/locks/a/00000000000000000030" {
		t.Errorf("%v", keys)
	}
}

// slow lets others act between a taker's look and its creation.
type slow struct {
	Objects
	before func()
}

func (s *slow) Put(ctx context.Context, key string, data []byte, onlyIfAbsent bool) error {
	if onlyIfAbsent && s.before != nil {
		before := s.before
		s.before = nil
		before()
	}
	return s.Objects.Put(ctx, key, data, onlyIfAbsent)
}

func TestATakerThatLookedLongAgoDoesNotGetTheLock(t *testing.T) {
	t.Parallel()
	objects := InSink(memory.NewLake().Open(), "sink.lake")
	others := place{objects, &clock{}}
	s := others.open(t, "")
	late := &slow{Objects: objects, before: func() {
		for i := range 15 { // so many that the number the late one creates is gone again
			l, err := s.Lock(ctx, "a", who(i))
			if err != nil {
				t.Error(err)
				return
			}
			if i < 14 {
				if err := l.Release(ctx); err != nil {
					t.Error(err)
				}
			}
		}
	}}
	own, err := Open(ctx, late, Options{Name: "shop", Clock: others.clock.time})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := own.Lock(ctx, "a", who(99)); !diag.Is(err, diag.KindUnavailable) || !strings.Contains(err.Error(), "run-14") {
		t.Errorf("got %v", err)
	}
}

// Who lost a lock is told how: the next holder may have released it long ago.
func TestALostLockTellsWhoTookIt(t *testing.T) {
	t.Parallel()
	expired := "it expired at 1970-01-01T00:17:40Z, since it was not renewed, and run run-2 (process 102 on "
	for name, c := range map[string]struct {
		then func(t *testing.T, p place, s *Store) error
		says string
	}{
		"released by hand": {func(_ *testing.T, _ place, s *Store) error { return s.Unlock(ctx, "a") }, "it was released by someone else"},
		"expired and taken": {func(_ *testing.T, p place, s *Store) error {
			p.clock.pass(LockTTL)
			_, err := s.Lock(ctx, "a", who(2))
			return err
		}, expired},
		"expired, taken and released": {func(t *testing.T, p place, s *Store) error {
			p.clock.pass(LockTTL)
			l, err := s.Lock(ctx, "a", who(2))
			if err != nil {
				t.Fatal(err)
			}
			return l.Release(ctx)
		}, expired},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := place{InSink(memory.NewLake().Open(), "sink.lake"), &clock{now: time.Unix(1000, 0)}}
			s := p.open(t, "")
			l, err := s.Lock(ctx, "a", who(1))
			if err != nil {
				t.Fatal(err)
			}
			if err := c.then(t, p, p.open(t, "")); err != nil {
				t.Fatal(err)
			}
			if err := l.Renew(ctx); !diag.HasCode(err, "state.lock_lost") || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

func TestKeepRenewsAndEndsWhenTheLockIsLost(t *testing.T) {
	t.Parallel()
	p := place{InSink(memory.NewLake().Open(), "sink.lake"), &clock{now: time.Unix(1000, 0)}}
	s := p.open(t, "")
	ticks, waiting := make(chan time.Time), make(chan bool, 1)
	s.after = func(d time.Duration) <-chan time.Time {
		if d != LockTTL/3 {
			t.Errorf("pause %v", d)
		}
		waiting <- true
		return ticks
	}
	l, err := s.Lock(ctx, "a", who(1))
	if err != nil {
		t.Fatal(err)
	}
	held, stop := l.Keep(ctx)
	for range 5 {
		<-waiting
		p.clock.pass(LockTTL / 2)
		ticks <- time.Time{}
	}
	<-waiting
	if _, err := p.open(t, "").Lock(ctx, "a", who(2)); !diag.Is(err, diag.KindUnavailable) {
		t.Errorf("a lock that is kept was taken: %v", err)
	}
	if err := s.Unlock(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	ticks <- time.Time{}
	<-held.Done()
	if err := context.Cause(held); !diag.Is(err, diag.KindConflict) {
		t.Errorf("cause %v", err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestKeepReleasesTheLock(t *testing.T) {
	t.Parallel()
	p := place{InSink(memory.NewLake().Open(), "sink.lake"), &clock{now: time.Unix(1000, 0)}}
	s := p.open(t, "")
	l, err := s.Lock(ctx, "a", who(1))
	if err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	_, stop := l.Keep(cancelled)
	cancel()
	if err := stop(); err != nil { // also after a cancellation
		t.Fatal(err)
	}
	if _, err := s.Lock(ctx, "a", who(2)); err != nil {
		t.Error(err)
	}
}

// TestOneHolderAtATime lets many takers race for one lock.
func TestOneHolderAtATime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		p := place{InSink(memory.NewLake().Open(), "sink.lake"), &clock{}}
		takers, rounds := rapid.IntRange(2, 5).Draw(r, "takers"), rapid.IntRange(1, 6).Draw(r, "rounds")
		var (
			group   sync.WaitGroup
			mu      sync.Mutex
			holding int
		)
		for i := range takers {
			s := p.open(t, "")
			group.Go(func() {
				for range rounds {
					l, err := s.Lock(ctx, "a", who(i))
					if diag.Is(err, diag.KindUnavailable) {
						continue
					}
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					if holding++; holding > 1 {
						t.Errorf("%d holders", holding)
					}
					mu.Unlock()
					mu.Lock()
					holding--
					mu.Unlock()
					if err := l.Release(ctx); err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
	})
}

// The state may live in a sink: when its process dies, the step that held a
// lock fails and cannot release it. Its run tries again, and must not find
// itself in the way.
func TestALockIsTakenAgainByTheRunThatCouldNotReleaseIt(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, p place) {
		s := p.open(t, "")
		if _, err := s.Lock(ctx, "silver.orders", who(1)); err != nil {
			t.Fatal(err)
		}
		again, err := s.Lock(ctx, "silver.orders", who(1))
		if err != nil || again.number != 2 {
			t.Fatalf("%+v, %v", again, err)
		}
		if _, err := s.Lock(ctx, "silver.orders", who(2)); !diag.Is(err, diag.KindUnavailable) {
			t.Fatalf("a lock of another run: %v", err)
		}
	})
}

// The hint can be carried out as it is written, and asks for no wait where the
// holder's death would be known.
func TestWhatIsSaidOfALockThatIsHeld(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options       Options
		host          string
		says, saysNot []string
	}{
		"on another machine": {Options{Path: "my files/s.hcl", Gone: func(Holder) bool { return false }}, "elsewhere",
			[]string{"from 2026-03-01T12:01:00Z on, or at once with: pipectl unlock orders-v1 'my files/s.hcl'"}, nil},
		"on this machine": {Options{Path: "s.hcl", Gone: func(Holder) bool { return false }}, "here",
			[]string{"free at once", "pipectl unlock -force orders-v1 s.hcl"}, []string{"12:01:00"}},
		"on this machine, whose processes are not known": {Options{Path: "s.hcl"}, "here",
			[]string{"from 2026-03-01T12:01:00Z on", "pipectl unlock -force orders-v1 s.hcl"}, []string{"free at once"}},
		"without a path": {Options{}, "elsewhere", []string{"pipectl unlock orders-v1 at"}, nil},
	} {
		c.options.Name = "shop"
		c.options.Clock = func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }
		s, err := Open(ctx, InDirectory(t.TempDir()), c.options)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Lock(ctx, "orders-v1", Holder{Run: "run-1", Host: c.host, PID: 7}); err != nil {
			t.Fatal(err)
		}
		_, err = s.Lock(ctx, "orders-v1", Holder{Run: "run-2", Host: "here", PID: 8})
		text := diag.FromError(err)[0].Detail + " at its end"
		for _, part := range c.says {
			if !strings.Contains(text, part) {
				t.Errorf("%s: %q lacks %q", name, text, part)
			}
		}
		for _, part := range c.saysNot {
			if strings.Contains(text, part) {
				t.Errorf("%s: %q has %q", name, text, part)
			}
		}
	}
}

// Nobody can say who holds it, so it is not taken; and it stands in the way of
// nothing else.
func TestALockThatCannotBeReadIsReleasedByHand(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, p place) {
		s := p.open(t, "")
		first, err := s.Lock(ctx, "orders-v1", who(1))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Lock(ctx, "other", who(2)); err != nil {
			t.Fatal(err)
		}
		if err := p.Put(ctx, s.root+first.key(), nil, false); err != nil {
			t.Fatal(err)
		}
		_, err = s.Lock(ctx, "orders-v1", who(3))
		list := diag.FromError(err)
		if err == nil || list[0].Code != "state.damaged" || !strings.Contains(list[0].Summary, s.root+first.key()) || !strings.HasSuffix(list[0].Detail, "pipectl unlock -force orders-v1") {
			t.Fatalf("taking it: %+v", list)
		}
		locks, err := s.Locks(ctx)
		if err != nil || len(locks) != 2 || locks[0].Unreadable == nil || locks[1].Unreadable != nil || locks[1].Holder.Run != "run-2" {
			t.Fatalf("%+v, %v", locks, err)
		}
		if err := first.Renew(ctx); err == nil || diag.Is(err, diag.KindConflict) {
			t.Errorf("renewing it: %v", err)
		}
		if err := s.Unlock(ctx, "orders-v1"); err != nil {
			t.Fatal(err)
		}
		if err := first.Renew(ctx); !diag.Is(err, diag.KindConflict) || !strings.Contains(err.Error(), "released by someone else") {
			t.Errorf("renewing it after that: %v", err)
		}
		if _, err := s.Lock(ctx, "orders-v1", who(3)); err != nil {
			t.Error(err)
		}
	})
}
