package rows_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"go.uber.org/goleak"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var testSchema = arrow.NewSchema([]arrow.Field{
	{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true, Metadata: arrow.NewMetadata([]string{"comment"}, []string{"a text"})},
}, nil)

func testBatch(t *testing.T, alloc memory.Allocator, from, n int, text string) arrow.RecordBatch {
	t.Helper()
	b := array.NewRecordBuilder(alloc, testSchema)
	defer b.Release()
	for i := range n {
		b.Field(0).(*array.Int64Builder).Append(int64(from + i))
		if i%3 == 2 {
			b.Field(1).AppendNull()
		} else {
			b.Field(1).(*array.StringBuilder).Append(text)
		}
	}
	return b.NewRecordBatch()
}

func TestRoundTrip(t *testing.T) {
	for name, tc := range map[string]struct {
		batches []int
		text    string
	}{
		"no batch":           {nil, ""},
		"one row":            {[]int{1}, "x"},
		"several":            {[]int{10, 1, 3}, "x"},
		"cut by rows":        {[]int{100}, strings.Repeat("y", 1<<17)},
		"one row in pieces":  {[]int{1, 1}, strings.Repeat("z", 2*rows.MaxFrame+5)},
		"empty batch is not": {[]int{0, 2}, "x"},
	} {
		t.Run(name, func(t *testing.T) {
			alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
			defer alloc.AssertSize(t, 0)
			stream := rows.Produce(context.Background(), testSchema, func(_ context.Context, w *rows.Writer) error {
				from := 0
				for _, n := range tc.batches {
					batch := testBatch(t, alloc, from, n, tc.text)
					err := w.Write(batch)
					batch.Release()
					if err != nil {
						return err
					}
					from += n
				}
				w.End().Greatest = plugin.Position{Text: "0x01"}
				return nil
			})
			r, err := rows.NewReader(stream, alloc)
			if err != nil {
				t.Fatal(err)
			}
			if !r.Schema().Equal(testSchema) {
				t.Fatalf("schema %v", r.Schema())
			}
			next, want := int64(0), int64(0)
			for _, n := range tc.batches {
				want += int64(n)
			}
			end, err := r.ForEach(func(b arrow.RecordBatch) error {
				ids, texts := b.Column(0).(*array.Int64), b.Column(1).(*array.String)
				for i := range ids.Len() {
					if ids.Value(i) != next {
						t.Fatalf("row %d has id %d", next, ids.Value(i))
					}
					if !texts.IsNull(i) && texts.Value(i) != tc.text {
						t.Fatalf("row %d has another text", next)
					}
					next++
				}
				return nil
			})
			if err != nil || next != want || end.Rows != want || end.Greatest.Text != "0x01" {
				t.Fatalf("read %d rows of %d, end %+v, error %v", next, want, end, err)
			}
		})
	}
}

func TestABrokenStreamIsNeverAShortOne(t *testing.T) {
	batch := testBatch(t, memory.DefaultAllocator, 0, 4, "x")
	whole := collect(t, rows.FromBatches(testSchema, batch, batch))
	for name, damage := range map[string]func([]plugin.Frame) []plugin.Frame{
		"no end":        func(f []plugin.Frame) []plugin.Frame { return f[:len(f)-1] },
		"no begin":      func(f []plugin.Frame) []plugin.Frame { return f[1:] },
		"nothing":       func([]plugin.Frame) []plugin.Frame { return nil },
		"lost batch":    func(f []plugin.Frame) []plugin.Frame { return append(f[:1:1], f[2:]...) },
		"doubled batch": func(f []plugin.Frame) []plugin.Frame { return append(f[:2:2], f[1:]...) },
		"flipped bit": func(f []plugin.Frame) []plugin.Frame {
			b := *f[1].Batch
			b.Body = append([]byte(nil), b.Body...)
			b.Body[3] ^= 1
			return append([]plugin.Frame{f[0], {Batch: &b}}, f[2:]...)
		},
		"piece without its last": func(f []plugin.Frame) []plugin.Frame {
			b := *f[1].Batch
			b.More = true
			return []plugin.Frame{f[0], {Batch: &b}, f[len(f)-1]}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := rows.NewReader(&frames{list: damage(whole)}, memory.DefaultAllocator)
			if err == nil {
				_, err = r.ForEach(func(arrow.RecordBatch) error { return nil })
			}
			if !errors.Is(err, rows.ErrBroken) {
				t.Fatalf("error %v", err)
			}
		})
	}
}

func TestAProducersErrorReachesItsConsumer(t *testing.T) {
	cause := errors.New("purged")
	r, err := rows.NewReader(rows.Produce(context.Background(), testSchema, func(context.Context, *rows.Writer) error { return cause }), memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.ForEach(func(arrow.RecordBatch) error { return nil }); !errors.Is(err, cause) {
		t.Fatalf("error %v", err)
	}
}

func TestCloseStopsTheProducer(t *testing.T) {
	batch := testBatch(t, memory.DefaultAllocator, 0, 1, "x")
	stopped := make(chan error, 1)
	stream := rows.Produce(context.Background(), testSchema, func(_ context.Context, w *rows.Writer) error {
		for {
			if err := w.Write(batch); err != nil {
				stopped <- err
				return err
			}
		}
	})
	if _, err := stream.Recv(); err != nil {
		t.Fatal(err)
	}
	stream.Close()
	stream.Close()
	if err := <-stopped; !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
}

func FuzzDecodeSchema(f *testing.F) {
	f.Add(rows.EncodeSchema(testSchema))
	f.Fuzz(func(_ *testing.T, data []byte) { _, _ = rows.DecodeSchema(data) })
}

type frames struct{ list []plugin.Frame }

func (f *frames) Recv() (plugin.Frame, error) {
	if len(f.list) == 0 {
		return plugin.Frame{}, io.EOF
	}
	next := f.list[0]
	f.list = f.list[1:]
	return next, nil
}

func (f *frames) Close() error { return nil }

func collect(t *testing.T, r plugin.FrameReader) []plugin.Frame {
	t.Helper()
	var list []plugin.Frame
	for {
		f, err := r.Recv()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, f)
	}
}
