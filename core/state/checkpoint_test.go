package state

import (
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
)

func at(text, commit string) plugin.Position {
	p, err := plugin.ParsePosition(text, commit)
	if err != nil {
		panic(err)
	}
	return p
}

func TestOffsets(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, p place) {
		c := p.open(t, "").Stream("orders/v1").Checkpoint(0)
		if log, err := c.Load(ctx); err != nil || log.Newest != -1 || log.Committed != -1 {
			t.Fatalf("%+v, %v", log, err)
		}
		first := Offset{Start: at("0x1", ""), End: at("0x2", "2026-03-01T12:00:00")}
		if got, err := c.PutOffset(ctx, 0, first); err != nil || got != first {
			t.Fatalf("%+v, %v", got, err)
		}
		const want = `{"start": {"lsn": "0x1", "commit_ts": ""}, "end": {"lsn": "0x2", "commit_ts": "2026-03-01T12:00:00.000"}}`
		if got := p.text(t, "shop/streams/orders%2Fv1/offsets/00000000000000000000"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		// What is stored wins.
		if got, err := c.PutOffset(ctx, 0, Offset{Start: at("0x1", ""), End: at("0x9", "")}); err != nil || got != first {
			t.Errorf("%+v, %v", got, err)
		}
		if log, err := c.Load(ctx); err != nil || log != (Log{Newest: 0, Offset: first, Committed: -1}) {
			t.Errorf("%+v, %v", log, err)
		}
		for _, written := range []int64{-1, 7} { // the first mark stays
			if err := c.PutCommit(ctx, 0, written); err != nil {
				t.Fatal(err)
			}
			if got, known, err := c.Written(ctx, 0); err != nil || !known || got != -1 {
				t.Errorf("bronze had %d, %v, %v", got, known, err)
			}
		}
		next := Offset{Start: first.End, End: at("0x5", "2026-03-01T12:00:00.003")}
		if _, err := c.PutOffset(ctx, 1, next); err != nil {
			t.Fatal(err)
		}
		if log, err := c.Load(ctx); err != nil || log != (Log{Newest: 1, Offset: next, Committed: 0}) {
			t.Errorf("%+v, %v", log, err)
		}
	})
}

func TestOffsetsOfOthers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"start":{"lsn":"0x1","commit_ts":""},"end":{"commit_ts":"2026-03-01T12:00:00","lsn":"0x2","later":1},"more":2}`: "",
		`{"start":{"lsn":"0x1","commit_ts":""},"end":{"lsn":"0x2"}}`:                                                      "needs lsn and commit_ts",
		`{"start":{"lsn":"0x1","commit_ts":""}}`:                                                                          "needs lsn and commit_ts",
		`{"start":{"lsn":"","commit_ts":""},"end":{"lsn":"0x2","commit_ts":""}}`:                                          "lsn is empty",
		`{"start":{"lsn":"0x1","commit_ts":"noon"},"end":{"lsn":"0x2","commit_ts":""}}`:                                   "noon",
		`[]`: "not understood",
		``:   "not understood",
	} {
		p := place{InSink(memory.NewLake().Open(), "sink.lake"), &clock{}}
		if err := p.Put(ctx, "shop/streams/a/offsets/00000000000000000000", []byte(text), true); err != nil {
			t.Fatal(err)
		}
		log, err := p.open(t, "").Stream("a").Checkpoint(0).Load(ctx)
		if want == "" {
			if err != nil || log.Offset.End != at("0x2", "2026-03-01T12:00:00") {
				t.Errorf("%s: %+v, %v", text, log, err)
			}
			continue
		}
		if !diag.Is(err, diag.KindConfiguration) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "offsets/00000000000000000000") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Marks of older releases do not say what bronze had; nor does one that is not there.
func TestWhatBronzeHadWhenABatchWasDone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		written int64
		known   bool
	}{
		`{"at":"2026-03-01T12:00:00Z"}`:                                {-1, false},
		`{"at":"2026-03-01T12:00:00Z","bronze_batch":-1}`:              {-1, true},
		`{"at":"2026-03-01T12:00:00Z","bronze_batch":12,"later":true}`: {12, true},
		"": {-1, false},
	} {
		p := place{InSink(memory.NewLake().Open(), "sink.lake"), &clock{}}
		if text != "" {
			if err := p.Put(ctx, "shop/streams/a/commits/00000000000000000003", []byte(text), true); err != nil {
				t.Fatal(err)
			}
		}
		written, known, err := p.open(t, "").Stream("a").Checkpoint(0).Written(ctx, 3)
		if err != nil || written != want.written || known != want.known {
			t.Errorf("%s: %d, %v, %v", text, written, known, err)
		}
	}
}

func TestALogWithGapsIsAnError(t *testing.T) {
	t.Parallel()
	p := place{InSink(memory.NewLake().Open(), "sink.lake"), &clock{}}
	c := p.open(t, "").Stream("a").Checkpoint(0)
	for n := range int64(4) {
		if _, err := c.PutOffset(ctx, n, Offset{Start: at("0x1", ""), End: at("0x2", "")}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.PutCommit(ctx, 1, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Load(ctx); !diag.Is(err, diag.KindConfiguration) || !strings.Contains(err.Error(), "offset 3 exists") {
		t.Errorf("got %v", err)
	}
}

// A commit says that its offset was written: what is missing is named.
func TestAnOffsetThatIsMissingIsNamed(t *testing.T) {
	t.Parallel()
	for name, left := range map[string][]int64{"the newest": {0, 1, 2}, "the newest two": {0, 1}, "all": nil} {
		p := place{InSink(memory.NewLake().Open(), "sink.lake"), &clock{}}
		c := p.open(t, "").Stream("a").Checkpoint(0)
		for _, n := range left {
			if _, err := c.PutOffset(ctx, n, Offset{Start: at("0x1", ""), End: at("0x2", "")}); err != nil {
				t.Fatal(err)
			}
		}
		for n := range int64(4) {
			if err := c.PutCommit(ctx, n, n); err != nil {
				t.Fatal(err)
			}
		}
		_, err := c.Load(ctx)
		if list := diag.FromError(err); err == nil || list[0].Code != "state.damaged" || !strings.Contains(list[0].Summary, "offsets/00000000000000000003 in sink.lake is missing: commit 3 exists") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTrimKeepsTheNewest(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, p place) {
		c := p.open(t, "").Stream("a").Checkpoint(0)
		const newest = KeepEntries + 20
		for n := range int64(newest + 1) {
			if _, err := c.PutOffset(ctx, n, Offset{Start: at("0x1", ""), End: at("0x2", "")}); err != nil {
				t.Fatal(err)
			}
			if err := c.PutCommit(ctx, n, n); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if err := c.Trim(ctx, newest); err != nil {
				t.Fatal(err)
			}
		}
		keys := p.keys(t)
		if len(keys) != 2*KeepEntries || keys[0] != "shop/streams/a/commits/00000000000000000021" {
			t.Errorf("%d keys from %s", len(keys), keys[0])
		}
		if log, err := c.Load(ctx); err != nil || log.Newest != newest || log.Committed != newest {
			t.Errorf("%+v, %v", log, err)
		}
	})
}
