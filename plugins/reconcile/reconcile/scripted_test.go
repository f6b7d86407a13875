package reconcile_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	fake "github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/plugin/rows"
)

// scripted is a source whose rows and log a test sets: unlike the memory
// database it has keys of dates and texts, of several columns, and positions
// of the test's choice.
type scripted struct {
	plugin.Source // nil: what a check does not call
	fields        []arrow.Field
	key           []string
	rows          []fake.Row
	log           []logged
	newest        string
	// uncut refuses tiles, as a source does whose key has no castable bound.
	uncut bool
	// textual writes integer bounds as texts, as a source does whose key is read
	// as an integer and is none.
	textual bool
	// captured is called before each answer about the newest position: it says how far
	// capture is behind, and may set newest and log. Nil: a source that does not know.
	captured func() time.Duration
	// reads lists the bounds of chunks that were read.
	reads [][2]string
}

type logged struct {
	lsn string
	op  int32
	row fake.Row
}

func (s *scripted) Limits() plugin.Limits { return plugin.Limits{MaxReads: 1, MaxParts: 1} }
func (s *scripted) Close() error          { return nil }

func (s *scripted) Start(context.Context, plugin.StartRequest) (plugin.Position, error) {
	return plugin.Position{Text: "0x00000000000000000001"}, nil
}

func (s *scripted) Stamp(context.Context, plugin.SourceTable) (plugin.Position, error) {
	return plugin.Position{Text: s.newest}, nil
}

func (s *scripted) Latest(_ context.Context, req plugin.LatestRequest) (plugin.LatestResponse, error) {
	var out plugin.LatestResponse
	if s.captured != nil && req.CaptureLag {
		out.CaptureLag = new(s.captured())
	}
	out.Newest = plugin.Position{Text: s.newest}
	out.End = out.Newest
	return out, nil
}

func (s *scripted) PlanBatch(_ context.Context, req plugin.PlanBatchRequest) (plugin.BatchPlan, error) {
	return plugin.BatchPlan{Ranges: []plugin.Range{[]byte(req.Start.Text + " " + req.End.Text)}}, nil
}

func (s *scripted) Read(_ context.Context, req plugin.ReadRequest) (plugin.FrameReader, error) {
	var list []fake.Row
	if req.Chunk != nil {
		s.reads = append(s.reads, [2]string{req.Chunk.Lo, req.Chunk.Hi})
		for _, r := range s.sorted() {
			if s.within(r, req.Chunk.Lo, req.Chunk.Hi) {
				list = append(list, r)
			}
		}
		return s.send(s.fields, list), nil
	}
	start, end, _ := strings.Cut(string(req.Range), " ")
	for _, l := range s.log {
		if l.lsn > start && l.lsn <= end {
			list = append(list, l.row)
		}
	}
	var fields []arrow.Field
	for _, f := range s.fields {
		if slices.Contains(req.Columns, f.Name) {
			fields = append(fields, f)
		}
	}
	return s.send(fields, list), nil
}

func (s *scripted) send(fields []arrow.Field, list []fake.Row) plugin.FrameReader {
	schema := arrow.NewSchema(fields, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for _, row := range list {
		for i, f := range fields {
			appendValue(panicking{}, b.Field(i), row[f.Name])
		}
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	return rows.FromBatches(schema, batch)
}

type panicking struct{}

func (panicking) Helper()                        {}
func (panicking) Fatal(v ...any)                 { panic(fmt.Sprint(v...)) }
func (panicking) Fatalf(format string, v ...any) { panic(fmt.Sprintf(format, v...)) }

// sorted are the rows in key order, NULL first.
func (s *scripted) sorted() []fake.Row {
	return slices.SortedStableFunc(slices.Values(s.rows), func(a, b fake.Row) int { return compareKeys(s.values(a), s.values(b)) })
}

func (s *scripted) values(r fake.Row) []any {
	var out []any
	for _, k := range s.key {
		v := r[k]
		switch x := v.(type) {
		case int:
			v = big.NewInt(int64(x))
		case int64:
			v = big.NewInt(x)
		case time.Time:
			v = x.Format(time.DateOnly)
		}
		out = append(out, v)
	}
	return out
}

func compareKeys(a, b []any) int {
	for i := range a {
		var order int
		switch x := a[i].(type) {
		case nil:
			order = map[bool]int{true: 0, false: -1}[b[i] == nil]
		case *big.Int:
			order = 1
			if y, ok := b[i].(*big.Int); ok {
				order = x.Cmp(y)
			}
		case string:
			order = 1
			if y, ok := b[i].(string); ok {
				order = cmp.Compare(x, y)
			}
		}
		if order != 0 {
			return order
		}
	}
	return 0
}

func (s *scripted) within(r fake.Row, lo, hi string) bool {
	return (lo == "" || compareKeys(s.values(r), bound(lo)) >= 0) && (hi == "" || compareKeys(s.values(r), bound(hi)) < 0)
}

func bound(text string) []any {
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for i, x := range list {
		if n, ok := x.(json.Number); ok {
			list[i], _ = new(big.Int).SetString(n.String(), 10)
		}
	}
	return list
}

func (s *scripted) boundOf(r fake.Row) string {
	values := s.values(r)
	var one any = values
	if len(values) == 1 {
		one = values[0]
	}
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(one); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}

func (s *scripted) Aggregate(_ context.Context, req plugin.AggregateRequest) (plugin.FrameReader, error) {
	if req.At.Text != s.newest { // a replica that lags must not count
		return nil, fmt.Errorf("counts at %q, and the newest position was %q", req.At.Text, s.newest)
	}
	list := s.sorted()
	switch req.Kind {
	case plugin.AggregateCount:
		return s.send([]arrow.Field{column("n", number)}, []fake.Row{{"n": len(list)}}), nil
	case plugin.AggregateBounds:
		row := fake.Row{}
		if list = withKey(list, s.key[0]); len(list) > 0 {
			row = fake.Row{"lo": s.boundOf(list[0]), "hi": s.boundOf(list[len(list)-1])}
			if s.textual {
				row = fake.Row{"lo": strconv.Quote(row["lo"].(string)), "hi": strconv.Quote(row["hi"].(string))}
			}
		}
		return s.send([]arrow.Field{column("lo", words), column("hi", words)}, []fake.Row{row}), nil
	case plugin.AggregateBuckets:
		return s.buckets(withKey(list, s.key[0]), req.Width), nil
	}
	if s.uncut {
		return nil, diag.Errorf(diag.KindConfiguration, "test.key", "", "The key cannot be cut").Err()
	}
	var out []fake.Row
	size := (len(list) + req.Tiles - 1) / req.Tiles
	for at := 0; at < len(list); at += size {
		out = append(out, fake.Row{"lo": s.boundOf(list[at]), "n": min(size, len(list)-at)})
	}
	return s.send([]arrow.Field{column("lo", words), column("n", number)}, out), nil
}

func withKey(list []fake.Row, key string) []fake.Row {
	return slices.DeleteFunc(slices.Clone(list), func(r fake.Row) bool { return r[key] == nil })
}

func (s *scripted) buckets(list []fake.Row, width int64) plugin.FrameReader {
	var out []fake.Row
	var id, sum, w big.Int
	w.SetInt64(width)
	for _, r := range list {
		var v big.Int
		switch x := r[s.key[0]].(type) {
		case int:
			v.SetInt64(int64(x))
		case int64:
			v.SetInt64(x)
		case time.Time:
			v.SetInt64(int64(arrow.Date32FromTime(x)))
		}
		var at, rest big.Int
		at.DivMod(&v, &w, &rest) // rounds down for a positive width
		if len(out) == 0 || at.Cmp(&id) != 0 {
			id.Set(&at)
			sum.SetInt64(0)
			out = append(out, fake.Row{"bucket": at.Int64(), "n": 0})
		}
		last := out[len(out)-1]
		last["n"] = last["n"].(int) + 1
		last["sum"] = sum.Add(&sum, &v).String()
	}
	return s.send([]arrow.Field{column("bucket", number), column("n", number), column("sum", &arrow.Decimal128Type{Precision: 38})}, out)
}

// lsnOf is a position of a scripted source.
func lsnOf(n int) string {
	return "0x" + fmt.Sprintf("%020s", strings.ToUpper(strconv.FormatInt(int64(n), 16)))
}
