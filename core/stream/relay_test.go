package stream_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/stream"
)

func TestARangeIsReadAgainOnErrorsThatMayGoAway(t *testing.T) {
	t.Parallel()
	busy := diag.Errorf(diag.KindTransient, "memory.busy", "", "The server is busy").Err()
	lost := diag.Errorf(diag.KindTransient, plugin.CodeWriteLost, "", "The write is lost").Err()
	refused := diag.Errorf(diag.KindPermission, "memory.denied", "", "No").Err()
	for _, tt := range []struct {
		rule   string
		call   string
		fails  int
		err    error
		sleeps int
		ok     bool
	}{
		{"three failures of a read are survived", "Source.Read", 3, busy, 3, true},
		{"the fourth is the run's", "Source.Read", 4, busy, 3, false},
		{"a broken stream too", "Source.Read.Recv", 3, busy, 3, true},
		{"and a part that could not be written", "Tables.WritePart", 2, busy, 2, true},
		{"no part of a write that is lost is tried again", "Tables.WritePart", 1, lost, 0, false},
		{"nor is its commit", "Tables.Commit", 1, lost, 0, false},
		{"a refusal is not tried again", "Source.Read", 1, refused, 0, false},
		{"a commit is asked for again", "Tables.Commit", 3, busy, 3, true},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.create(t)
			w.insert(1, 1, 2, 3)
			faults := &memory.Faults{}
			for n := 1; n <= tt.fails; n++ {
				faults.Fail(tt.call, n, tt.err)
			}
			got, err := w.run(faults)
			if (err == nil) != tt.ok || len(w.sleeps) != tt.sleeps {
				t.Fatalf("error %v, pauses %v", err, w.sleeps)
			}
			if tt.ok && (got.Rows != 3 || len(w.lake.Rows(bronze)) != 3) {
				t.Errorf("%+v, bronze %v", got, w.lines(bronze))
			}
			if !tt.ok && diag.KindOf(err) != diag.KindOf(tt.err) {
				t.Errorf("the error lost its kind: %v", err)
			}
			for i, pause := range w.sleeps { // the fake draws the shortest
				if want := time.Second << i; pause != want {
					t.Errorf("pause %d is %v, want %v", i, pause, want)
				}
			}
		})
	}
}

// A process that died is told, once, though its ranges are read again at once.
func TestAProcessThatDiedUnderAReadIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.create(t)
	w.insert(1, 1, 2, 3)
	faults := &memory.Faults{}
	for n, pid := range []string{"7", "7", "8"} {
		d := diag.Errorf(diag.KindTransient, plugin.CodeCrashed, "", "It died")
		d.Data = map[string]string{"pid": pid}
		faults.Fail("Source.Read.Recv", n+1, d.Err())
	}
	if _, err := w.run(faults); err != nil {
		t.Fatal(err)
	}
	var pids []string
	for _, d := range w.warnings {
		if d.Code == plugin.CodeCrashed && d.Severity == diag.Warning && strings.Contains(d.Detail, "read again") {
			pids = append(pids, d.Data["pid"])
		}
	}
	if !slices.Equal(pids, []string{"7", "8"}) {
		t.Errorf("warnings %+v", w.warnings)
	}
}

func TestALostAnswerOfACommitIsAskedForAgain(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.create(t)
	w.insert(1, 1)
	faults := &memory.Faults{}
	faults.Lose("Tables.Commit", 1, diag.Errorf(diag.KindTransient, "memory.lost", "", "No answer").Err())
	if _, err := w.run(faults); err != nil {
		t.Fatal(err)
	}
	if len(w.dataCommits()) != 1 || len(w.lake.Rows(bronze)) != 1 {
		t.Errorf("bronze %v", w.lines(bronze))
	}
}

func TestTheSourcesErrorIsTheOneToTell(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.create(t)
	w.insert(1, 1, 2)
	faults := &memory.Faults{}
	faults.Fail("Source.Read.Recv", 2, diag.Errorf(diag.KindDataLoss, "memory.purged", "", "Purged while it was read").Err())
	_, err := w.run(faults)
	if !diag.Is(err, diag.KindDataLoss) || !strings.Contains(err.Error(), "batch 0 of orders-v1: range 1 of 1: reading: ") {
		t.Errorf("got %v", err)
	}
	if len(w.lake.Rows(bronze)) != 0 {
		t.Error("rows of a failed range are in bronze")
	}
	if _, err := w.run(&memory.Faults{Hook: func(memory.Point) error { return nil }}); diag.Is(err, diag.KindDataLoss) {
		t.Error("the error stayed")
	}
}

// edited is a source whose ends are changed on their way.
type edited struct {
	plugin.Source
	end func(*plugin.End)
}

func (s edited) Read(ctx context.Context, req plugin.ReadRequest) (plugin.FrameReader, error) {
	r, err := s.Source.Read(ctx, req)
	return edit{r, s.end}, err
}

type edit struct {
	plugin.FrameReader
	end func(*plugin.End)
}

func (e edit) Recv() (plugin.Frame, error) {
	f, err := e.FrameReader.Recv()
	if err == nil && f.End != nil {
		end := *f.End
		e.end(&end)
		f.End = &end
	}
	return f, err
}

func ends(change func(*plugin.End)) option {
	return func(c *stream.Config) { c.Source = edited{c.Source, change} }
}

func TestWhatAReadFindsIsRecordedWithItsBatch(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.create(t)
	w.insert(1, 1)
	lost := at(0).UnixMicro()
	w.mustRun(t, partitions(w, 1), ends(func(e *plugin.End) {
		e.Events = []plugin.Event{{Name: "data_skipped", Position: plugin.Position{Text: second}, Detail: `{"certain": false}`, LostFrom: &lost}}
	}))
	events := w.factsOf("data_skipped")
	if len(events) != 1 || events[0]["batch_id"] != int64(0) || events[0]["lost_from_ts"] != at(0) || events[0]["lost_to_ts"] != nil || events[0]["end_lsn"] != second || events[0]["end_commit_ts"] != nil {
		t.Errorf("events %v", events)
	}
}

func TestASourceThatMeasuresNothingIsToldOfOnce(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.create(t)
	silent := ends(func(e *plugin.End) { e.Metrics = nil })
	w.idle(0)
	w.mustRun(t, silent)
	if n := w.warned("stream.no_metrics"); n != 0 {
		t.Errorf("%d warnings over a batch without rows", n)
	}
	for i := range 3 {
		w.insert(i+1, i)
	}
	w.mustRun(t, silent, maxCommits(1))
	if n := w.warned("stream.no_metrics"); n != 1 {
		t.Errorf("%d warnings", n)
	}
	if row := w.factsOf("")[1]; row["rows"] != int64(1) || row["end_lsn"] != nil || row["read_mb"] != nil || row["retention_headroom_hours"] != nil {
		t.Errorf("facts %v", row)
	}
}

func TestRowsThatTheSinkDidNotWriteAreAnError(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.create(t)
	w.insert(1, 1)
	_, err := w.run(nil, func(c *stream.Config) { c.Tables = forgetful{c.Tables} })
	if err == nil || !strings.Contains(err.Error(), "the source sent 1 rows and the sink wrote 0") || len(w.lake.Rows(bronze)) != 0 {
		t.Errorf("got %v", err)
	}
}

// forgetful is a sink that loses rows without a word.
type forgetful struct{ plugin.Tables }

func (f forgetful) WritePart(ctx context.Context, req plugin.WritePartRequest, frames plugin.FrameReader) (plugin.Part, error) {
	part, err := f.Tables.WritePart(ctx, req, frames)
	part.Rows = 0
	return part, err
}
