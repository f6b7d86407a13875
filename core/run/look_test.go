package run_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	arrowmemory "github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/plugin/rows"
	"github.com/pipectl/pipectl/core/run"
)

// settled is a world whose check has time to settle, with one row in place.
func settled(t *testing.T) *world {
	w := newWorld(t, "orders")
	w.cfg.Checks[0].Settle = time.Minute
	w.commit(memory.Insert("orders", row(1, "a")))
	w.mustExecute(true)
	return w
}

// A difference that was found stays unless a later look was at all of it: a gate
// fails closed.
func TestADifferenceStaysUnlessAllOfItWasLookedAtAgain(t *testing.T) {
	t.Parallel()
	key := plugin.Finding{Kind: "RECORD_DIFF", Key: `{"id":2}`, Lo: "1", Hi: "9"}
	counts := plugin.Finding{Kind: "MISMATCH", Lo: "1", Hi: "9"}
	chunk := plugin.Finding{Kind: "CHUNK_ROWS", Lo: "1", Hi: "9"}
	different := plugin.CheckResult{Outcome: plugin.Different, Buckets: 1, Match: 1}
	many := make([]plugin.Finding, 10_001)
	for i := range many {
		many[i] = plugin.Finding{Kind: "RECORD_DIFF", Key: fmt.Sprintf(`{"id":%d}`, i), Lo: "1", Hi: "9"}
	}
	scattered := slices.Clone(many)
	for i := range scattered {
		scattered[i].Lo, scattered[i].Hi = fmt.Sprint(i), fmt.Sprint(i+1)
	}
	undecided := plugin.CheckResult{Outcome: plugin.Undecided, Buckets: 1, InFlight: 1}
	flight := plugin.Finding{Kind: "IN_FLIGHT", Key: `{"id":2}`, Lo: "1", Hi: "9"}
	for name, tt := range map[string]struct {
		first   plugin.CheckResult
		finds   []plugin.Finding
		second  plugin.CheckResult
		forgets bool
		looks   int
		want    plugin.Outcome
	}{
		"the key was looked at":         {different, []plugin.Finding{key}, plugin.CheckResult{Outcome: plugin.Equal}, false, 2, plugin.Equal},
		"it was not":                    {different, []plugin.Finding{key}, plugin.CheckResult{Outcome: plugin.Equal}, true, 2, plugin.Different},
		"every row was compared":        {different, []plugin.Finding{key}, plugin.CheckResult{Outcome: plugin.Equal, AllRowsCompared: true}, true, 2, plugin.Equal},
		"keys in ranges":                {different, many, plugin.CheckResult{Outcome: plugin.Equal}, false, 2, plugin.Equal},
		"keys in ranges, not looked at": {different, many, plugin.CheckResult{Outcome: plugin.Equal}, true, 2, plugin.Different},
		"too many ranges":               {different, scattered, plugin.CheckResult{Outcome: plugin.Equal}, false, 1, plugin.Different},
		"counts are compared by all":    {different, []plugin.Finding{counts}, plugin.CheckResult{Outcome: plugin.Equal, Buckets: 1}, true, 2, plugin.Equal},
		"counts and a key":              {different, []plugin.Finding{counts, key}, plugin.CheckResult{Outcome: plugin.Equal, Buckets: 1}, true, 2, plugin.Different},
		"a chunk of a snapshot stays":   {different, []plugin.Finding{chunk}, plugin.CheckResult{Outcome: plugin.Equal, Buckets: 1}, false, 1, plugin.Different},
		"in flight, not looked at":      {undecided, []plugin.Finding{flight}, plugin.CheckResult{Outcome: plugin.Equal}, true, 2, plugin.Undecided},
		"in flight, another differs":    {undecided, []plugin.Finding{flight}, different, true, 2, plugin.Different},
		"nothing is said of what":       {different, []plugin.Finding{}, plugin.CheckResult{Outcome: plugin.Equal, Buckets: 1}, true, 2, plugin.Different},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := settled(t)
			looks := &looking{answers: []plugin.CheckResult{tt.first, tt.second}, finds: map[int][]plugin.Finding{0: tt.finds}, forgets: tt.forgets}
			r, err := w.execute(false, func(q *run.Request) { q.Plugins = watched{q.Plugins.(*sessions), looks} })
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Steps[2].Check; got.Outcome != tt.want || (r.Steps[2].Status == run.Done) != (tt.want == plugin.Equal) {
				t.Errorf("ends %s, %s, want %s", got.Outcome, r.Steps[2].Status, tt.want)
			}
			if len(looks.asked) != tt.looks {
				t.Errorf("%d looks, want %d", len(looks.asked), tt.looks)
			}
			if asked := []plugin.KeyRange{{Lo: "1", Hi: "9"}}; tt.looks == 2 && len(tt.finds) > 0 && tt.finds[len(tt.finds)-1].Key != "" && !slices.Equal(looks.again[1], asked) {
				t.Errorf("asked for %v", looks.again[1])
			}
		})
	}
}

// A look that fails for a moment goes on from the looks before it: a first look
// of its own could choose other rows and find nothing.
func TestALookThatIsTriedAgainForgetsNothing(t *testing.T) {
	t.Parallel()
	w := settled(t)
	different := plugin.CheckResult{Outcome: plugin.Different, Buckets: 1, Failures: map[string]int64{"RECORD_DIFF": 1}}
	looks := &looking{answers: []plugin.CheckResult{different, {}, different}, fails: map[int]error{
		1: diag.Errorf(diag.KindTransient, "test.gone", "", "The connection was lost").Err(),
	}}
	told := 0
	r, err := w.execute(false, func(q *run.Request) {
		q.Plugins = watched{q.Plugins.(*sessions), looks}
		q.Event = func(e run.Event) {
			if e.Kind == run.StepFinding {
				told++
			}
		}
	})
	if err != nil || r.Steps[2].Status != run.Failed || r.Steps[2].Check.Outcome != plugin.Different {
		t.Fatalf("%s %v", statuses(r), err)
	}
	if got := fmt.Sprint(looks.asked); got != `[[] [{"id":2}] [{"id":2}]]` || told != 1 {
		t.Errorf("looked at %s, %d findings told", got, told)
	}
}

// An error of a later look does not hide what an earlier one found.
func TestAFailedLookHidesNoDifference(t *testing.T) {
	t.Parallel()
	w := settled(t)
	looks := &looking{
		answers: []plugin.CheckResult{{Outcome: plugin.Different, Buckets: 1, Failures: map[string]int64{"RECORD_DIFF": 1}}},
		fails:   map[int]error{1: diag.Errorf(diag.KindUnavailable, "test.down", "", "The server is down").Err()},
	}
	var told []string
	r, err := w.execute(false, func(q *run.Request) {
		q.Plugins = watched{q.Plugins.(*sessions), looks}
		q.Event = func(e run.Event) {
			if e.Kind == run.StepFinding {
				told = append(told, e.Finding.Key)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, d := range r.Steps[2].Diagnostics {
		codes = append(codes, d.Code)
	}
	if s := r.Steps[2]; s.Status != run.Failed || s.Check == nil || len(s.Findings) != 1 || !slices.Equal(codes, []string{"check.not_settled", "test.down"}) {
		t.Errorf("%s, %+v, %q", s.Status, s.Check, codes)
	}
	if !slices.Equal(told, []string{`{"id":2}`}) {
		t.Errorf("told %q", told)
	}
}

// The time to settle begins when there is something to settle: a first look that
// takes longer than it leaves all of it.
func TestTheTimeToSettleBeginsAfterTheFirstLook(t *testing.T) {
	t.Parallel()
	w := settled(t)
	looks := &looking{answers: []plugin.CheckResult{
		{Outcome: plugin.Undecided, Buckets: 1, InFlight: 1, Failures: map[string]int64{"IN_FLIGHT": 1}}, {Outcome: plugin.Equal},
	}}
	r, err := w.execute(false, func(q *run.Request) { q.Plugins = checking{q.Plugins.(*sessions), slow{looks, w}} })
	if err != nil || r.Steps[2].Status != run.Done || len(looks.asked) != 2 {
		t.Fatalf("%s %v after %d looks", statuses(r), err, len(looks.asked))
	}
}

// slow takes an hour for each look.
type slow struct {
	*looking
	w *world
}

func (s slow) RunCheck(ctx context.Context, req plugin.CheckRequest, host plugin.Host, events plugin.CheckEvents) (plugin.CheckResult, error) {
	s.w.mu.Lock()
	s.w.clock = s.w.clock.Add(time.Hour)
	s.w.mu.Unlock()
	return s.looking.RunCheck(ctx, req, host, events)
}

// A run that is asked to end while a check waits ends the wait and looks no more.
func TestStopEndsTheWaitOfACheck(t *testing.T) {
	t.Parallel()
	w := settled(t)
	looks := &looking{answers: []plugin.CheckResult{{Outcome: plugin.Different, Buckets: 1, Failures: map[string]int64{"RECORD_DIFF": 1}}}}
	stop := make(chan struct{})
	r, err := w.execute(false, func(q *run.Request) {
		q.Plugins, q.Stop = watched{q.Plugins.(*sessions), looks}, stop
		q.Sleep = func(ctx context.Context, _ time.Duration) error {
			close(stop)
			<-ctx.Done() // a wait that nothing else ends
			return ctx.Err()
		}
	})
	if err != nil || len(looks.asked) != 1 || r.Steps[2].Status != run.Failed || r.Steps[2].Check.Outcome != plugin.Different {
		t.Fatalf("%s %v after %d looks", statuses(r), err, len(looks.asked))
	}
	if d := r.Steps[2].Diagnostics; len(d) != 1 || d[0].Code != "check.different" {
		t.Errorf("%+v", d)
	}
}

// What a check could not decide any more is left out by the stop, and no
// difference.
func TestACheckThatStopsUndecidedIsCutShort(t *testing.T) {
	t.Parallel()
	for _, onFailure := range []string{"fail", "warn"} {
		w := settled(t)
		w.cfg.Checks[0].OnFailure = onFailure
		looks := &looking{answers: []plugin.CheckResult{{Outcome: plugin.Undecided, Buckets: 1, InFlight: 1, Failures: map[string]int64{"IN_FLIGHT": 1}}}}
		stop := make(chan struct{})
		r, err := w.execute(false, func(q *run.Request) {
			q.Plugins, q.Stop = watched{q.Plugins.(*sessions), looks}, stop
			q.Sleep = func(ctx context.Context, _ time.Duration) error {
				close(stop)
				<-ctx.Done()
				return ctx.Err()
			}
		})
		if d := r.Steps[2].Diagnostics; err != nil || !r.CutShort || !r.Steps[2].CutShort || len(d) != 1 || d[0].Code != "check.undecided" {
			t.Errorf("%s: %s, cut short %v, %+v, %v", onFailure, statuses(r), r.CutShort, d, err)
		}
	}
}

// appendNames makes a table of one column, table_name, with these rows.
func (w *world) appendNames(table plugin.TableRef, names ...string) {
	w.t.Helper()
	ctx, tables := context.Background(), w.plugin.Lake.Open()
	defer tables.Close()
	schema := arrow.NewSchema([]arrow.Field{{Name: "table_name", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	b.Field(0).(*array.StringBuilder).AppendValues(names, nil)
	batch := b.NewRecordBatch()
	defer batch.Release()
	_, err := tables.ApplyTable(ctx, plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: table, Schema: schema}})
	if err != nil {
		w.t.Fatal(err)
	}
	begun, err := tables.BeginWrite(ctx, plugin.BeginWriteRequest{Table: table, Mode: plugin.WriteAppend, Schema: schema, BaseVersion: -1})
	if err != nil {
		w.t.Fatal(err)
	}
	part, err := tables.WritePart(ctx, plugin.WritePartRequest{WriteID: begun.WriteID}, rows.FromBatches(schema, batch))
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := tables.Commit(ctx, plugin.CommitRequest{WriteID: begun.WriteID, Tokens: []string{part.Token}}); err != nil {
		w.t.Fatal(err)
	}
}

// proving is a check that finds everything equal; all tells that it compared all
// rows, and after is done before it ends.
type proving struct {
	memory.Check
	all   bool
	after func()
}

func (p proving) RunCheck(ctx context.Context, req plugin.CheckRequest, host plugin.Host, events plugin.CheckEvents) (plugin.CheckResult, error) {
	r, err := p.Check.RunCheck(ctx, req, host, events)
	r.Hashed, r.AllRowsCompared = r.Buckets, p.all
	p.after()
	return r, err
}

type checking struct {
	*sessions
	check plugin.Check
}

func (c checking) Check(context.Context, addr.Address) (plugin.Check, error) { return c.check, nil }

// Only a check that compared all rows takes back what other programs are said to
// have done; one that cannot write it down is equal all the same.
func TestACheckOfAllRowsIsRecorded(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, tt := range map[string]struct {
		all, broken, forgotten bool
		codes                  []string
	}{
		"all rows":          {true, false, true, nil},
		"some rows":         {false, false, false, nil},
		"it cannot be kept": {true, true, false, []string{"check.not_recorded"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := settled(t)
			_, lakes, _ := w.plan()
			ledger := lakes[w.cfg.Sinks[0].Addr].Ledger
			// Silver has ended when another program's commit comes to be known.
			foreign := func() {
				before, err := ledger.ControlRow(ctx, "silver.orders")
				if err != nil {
					t.Fatal(err)
				}
				version, to := int64(0), before.Position
				to.Foreign = &version
				if err := ledger.SetPosition(ctx, "silver.orders", before.Position, to); err != nil {
					t.Fatal(err)
				}
				if !tt.broken {
					return
				}
				w.plugin.Lake.DropTable(ledger.Control().Name)
				w.appendNames(ledger.Control(), "silver.orders", "silver.orders") // which is an error to read
			}
			r, err := w.execute(false, func(q *run.Request) {
				q.Plugins = checking{q.Plugins.(*sessions), proving{all: tt.all, after: foreign}}
			})
			if err != nil || r.Steps[2].Status != run.Done {
				t.Fatalf("%s %v %+v", statuses(r), err, r.Steps[2].Diagnostics)
			}
			var codes []string
			for _, d := range r.Steps[2].Diagnostics {
				codes = append(codes, d.Code)
			}
			if !slices.Equal(codes, tt.codes) {
				t.Errorf("%q, want %q", codes, tt.codes)
			}
			if tt.broken {
				return
			}
			after, err := ledger.ControlRow(ctx, "silver.orders")
			if err != nil || (after.Position.Foreign == nil) != tt.forgotten {
				t.Errorf("%+v %v", after.Position, err)
			}
		})
	}
}

// Two checks of one stream let it go on one after the other.
func TestChecksOfOneStreamCatchUpOneAfterTheOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "orders")
	sink, from := w.cfg.Sinks[0].Addr, w.cfg.Streams[0].Addr
	silver, second := addr.New(addr.Silver, "second"), addr.New(addr.Check, "second")
	w.cfg.Silvers = append(w.cfg.Silvers, model.Silver{Addr: silver, Type: "memory", From: from, To: sink, Target: "silver.second", Body: cty.EmptyObjectVal})
	w.cfg.Checks = append(w.cfg.Checks, model.Check{Addr: second, Type: "memory", Silver: silver, OnFailure: "fail", Body: cty.EmptyObjectVal, Settle: time.Minute})
	w.cfg.Checks[0].Settle = time.Minute
	w.commit(memory.Insert("orders", row(1, "a")))
	w.mustExecute(true)
	both := &paired{by: map[addr.Address]*looking{}}
	both.meet.Add(2)
	for _, a := range []addr.Address{w.cfg.Checks[0].Addr, second} {
		both.by[a] = &looking{answers: []plugin.CheckResult{
			{Outcome: plugin.Undecided, Buckets: 1, InFlight: 1, Failures: map[string]int64{"IN_FLIGHT": 1}}, {Outcome: plugin.Equal},
		}}
	}
	source := &counting{Source: w.plugin.Database.Open()}
	r, err := w.execute(false, func(q *run.Request) {
		s := q.Plugins.(*sessions)
		s.source = source
		both.sessions = s
		q.Plugins = both
		q.Sleep = func(context.Context, time.Duration) error {
			w.commit(memory.Insert("orders", row(w.now().UnixNano(), "b")))
			both.meet.Done()
			both.meet.Wait() // both checks go on at once
			return nil
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Steps {
		if s.Status != run.Done || len(s.Diagnostics) != 0 {
			t.Errorf("%s %s %+v", s.Address, s.Status, s.Diagnostics)
		}
	}
	if r.Steps[0].Stream.Rows != 2 || source.most != 1 {
		t.Errorf("%d rows, %d reads of changes at once", r.Steps[0].Stream.Rows, source.most)
	}
}

type paired struct {
	*sessions
	by   map[addr.Address]*looking
	meet sync.WaitGroup
}

func (p *paired) Check(_ context.Context, a addr.Address) (plugin.Check, error) { return p.by[a], nil }

// counting counts the calls that plan a batch at once.
type counting struct {
	plugin.Source
	mu        sync.Mutex
	now, most int
}

func (c *counting) PlanBatch(ctx context.Context, req plugin.PlanBatchRequest) (plugin.BatchPlan, error) {
	c.mu.Lock()
	c.now++
	c.most = max(c.most, c.now)
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.now--
		c.mu.Unlock()
	}()
	return c.Source.PlanBatch(ctx, req)
}
