package wire_test

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	fake "github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/plugin/rows"
	"github.com/pipectl/pipectl/core/plugin/wire"
)

var request = plugin.OpenRequest{Component: "memory", Address: "source.shop", Config: cty.EmptyObjectVal}

// canned is a plugin whose source answers every read with the same frames.
type canned struct {
	*fake.Plugin
	frames []plugin.Frame
	end    error // after the frames
}

func (c *canned) OpenSource(ctx context.Context, req plugin.OpenRequest) (plugin.Source, error) {
	s, err := c.Plugin.OpenSource(ctx, req)
	return &cannedSource{Source: s, plugin: c}, err
}

type cannedSource struct {
	plugin.Source
	plugin *canned
}

func (s *cannedSource) Read(context.Context, plugin.ReadRequest) (plugin.FrameReader, error) {
	return &list{frames: s.plugin.frames, end: s.plugin.end}, nil
}

// list is a stream of given frames.
type list struct {
	frames []plugin.Frame
	end    error
	closed bool
}

func (l *list) Recv() (plugin.Frame, error) {
	if len(l.frames) == 0 {
		return plugin.Frame{}, l.end
	}
	f := l.frames[0]
	l.frames = l.frames[1:]
	return f, nil
}

func (l *list) Close() error {
	l.closed = true
	return nil
}

var textSchema = arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)

func textRows(t testing.TB, values ...string) plugin.FrameReader {
	t.Helper()
	b := array.NewRecordBuilder(memory.DefaultAllocator, textSchema)
	defer b.Release()
	for _, v := range values {
		b.Field(0).(*array.StringBuilder).Append(v)
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	return rows.FromBatches(textSchema, batch)
}

func frames(t testing.TB, r plugin.FrameReader) []plugin.Frame {
	t.Helper()
	var out []plugin.Frame
	for {
		f, err := r.Recv()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	}
}

// drain reads a stream to its end and returns the error that ended it.
func drain(r plugin.FrameReader, err error) error {
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		if _, err := r.Recv(); err != nil {
			return err
		}
	}
}

func source(t *testing.T, p plugin.Plugin) plugin.Source {
	t.Helper()
	s, err := connect(t, p).OpenSource(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var readOrders = plugin.ReadRequest{Table: plugin.SourceTable{Address: "table.orders"}, Range: plugin.Range("r")}

func TestAStreamThatIsNotWholeIsAnErrorThatNamesIt(t *testing.T) {
	whole := frames(t, textRows(t, "a", "b"))
	for name, tc := range map[string]struct {
		frames []plugin.Frame
		end    error
		says   string
	}{
		"no end":      {whole[:2], io.EOF, "the rows of table.orders stopped without their End"},
		"nothing":     {nil, io.EOF, "the rows of table.orders stopped without their End"},
		"no begin":    {whole[1:], io.EOF, "do not begin with Begin"},
		"begin twice": {append(whole[:1:1], whole...), io.EOF, "begin twice"},
		"batch lost":  {[]plugin.Frame{whole[0], whole[2]}, io.EOF, "their End speaks of 2 rows in 1 batches, 0 in 0 came"},
		"piece lost":  {[]plugin.Frame{whole[0], {Batch: &plugin.Batch{Rows: 2, More: true}}, whole[2]}, io.EOF, "lack the last piece of batch 1"},
	} {
		t.Run(name, func(t *testing.T) {
			err := drain(source(t, &canned{Plugin: fake.New(), frames: tc.frames, end: tc.end}).Read(t.Context(), readOrders))
			if !errors.Is(err, rows.ErrBroken) || !strings.Contains(err.Error(), tc.says) {
				t.Fatalf("error %v", err)
			}
		})
	}
}

func TestAnErrorInAStreamArrivesAsDiagnostics(t *testing.T) {
	purged := diag.Errorf(diag.KindDataLoss, "x.lost", "detail", "purged meanwhile").At("read", 3)
	purged.Data = map[string]string{"lsn": "0x1"}
	whole := frames(t, textRows(t, "a"))
	err := drain(source(t, &canned{Plugin: fake.New(), frames: whole[:2], end: fmt.Errorf("reading: %w", purged.Err())}).Read(t.Context(), readOrders))
	got := diag.FromError(err)
	if len(got) != 1 || got[0].Kind != diag.KindDataLoss || got[0].Path.String() != "read[3]" || got[0].Data["lsn"] != "0x1" {
		t.Fatalf("diagnostics %+v", got)
	}
}

func TestAWholeStreamArrivesAsItWasSent(t *testing.T) {
	rtt, n := 1.5, int64(9)
	end := plugin.End{Batches: 1, Rows: 2, Operations: map[int32]int64{2: 2}, Least: plugin.Position{Text: "0x01"},
		Greatest: plugin.Position{Text: "0x02", CommitMicros: 7, HasCommit: true}, High: plugin.Position{Text: "0x03"},
		Metrics: &plugin.ReadMetrics{From: "0x01", To: "0x02", Rows: 2, Bytes: 10, Seconds: 0.5, RTTMillis: &rtt, NetworkWaitMs: &n, Last: true, ToCommit: &n, RetentionWatermark: &n, SourceMaxCommit: &n, CaptureLagSeconds: &rtt},
		Events:  []plugin.Event{{Name: "data_skipped", Position: plugin.Position{Text: "0x01"}, Detail: "{}", LostFrom: &n}}}
	sent := frames(t, textRows(t, "a", "b"))
	sent[2].End = &end
	s := source(t, &canned{Plugin: fake.New(), frames: sent, end: io.EOF})
	r, err := s.Read(t.Context(), readOrders)
	if err != nil {
		t.Fatal(err)
	}
	got := frames(t, r)
	if len(got) != 3 || fmt.Sprintf("%+v", deref(got)) != fmt.Sprintf("%+v", deref(sent)) {
		t.Fatalf("got  %s\nsent %s", deref(got), deref(sent))
	}
}

// deref prints frames with what their pointers point at.
func deref(list []plugin.Frame) []string {
	var out []string
	for _, f := range list {
		switch {
		case f.Begin != nil:
			out = append(out, fmt.Sprintf("begin %x", f.Begin.Schema))
		case f.Batch != nil:
			out = append(out, fmt.Sprintf("batch %+v", *f.Batch))
		case f.End != nil:
			m := *f.End.Metrics
			out = append(out, fmt.Sprintf("end %v %v %v %v %v %v %v %v %v %v %v %v", f.End.Batches, f.End.Rows, f.End.Operations, f.End.Least, f.End.Greatest, f.End.High,
				*m.RTTMillis, *m.NetworkWaitMs, *m.ToCommit, *m.CaptureLagSeconds, f.End.Events[0].Name, *f.End.Events[0].LostFrom))
		}
	}
	return out
}

// The sink is the last receiver: it holds the checksum, and a relay does not.
func TestADamagedBatchIsFoundWhereItEnds(t *testing.T) {
	for name, damage := range map[string]func(*plugin.Batch){
		"body":   func(b *plugin.Batch) { b.Body[len(b.Body)/2] ^= 4 },
		"header": func(b *plugin.Batch) { b.Header[len(b.Header)/2] ^= 4 },
		"crc":    func(b *plugin.Batch) { b.CRC++ },
	} {
		t.Run(name, func(t *testing.T) {
			damaged := frames(t, textRows(t, strings.Repeat("a", 100)))
			damage(damaged[1].Batch)
			client := connect(t, &canned{Plugin: fake.New(), frames: damaged, end: io.EOF})
			s, err := client.OpenSource(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			tables, begun := begin(t, client)
			relayed, err := s.Read(t.Context(), readOrders)
			if err != nil {
				t.Fatal(err)
			}
			_, err = tables.WritePart(t.Context(), plugin.WritePartRequest{WriteID: begun.WriteID}, relayed)
			if err == nil || !strings.Contains(err.Error(), "were damaged: batch 1") {
				t.Fatalf("error %v", err)
			}
		})
	}
}

// begin opens a write of text rows.
func begin(t testing.TB, client *wire.Client) (plugin.Tables, plugin.BeginWriteResponse) {
	t.Helper()
	tables, err := client.OpenTables(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	ref := plugin.TableRef{Name: "bronze.orders"}
	if _, err := tables.ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: ref, Schema: textSchema}}); err != nil {
		t.Fatal(err)
	}
	begun, err := tables.BeginWrite(t.Context(), plugin.BeginWriteRequest{Table: ref, Mode: plugin.WriteAppend, Schema: textSchema, BaseVersion: -1})
	if err != nil {
		t.Fatal(err)
	}
	return tables, begun
}

// A value of 100 MiB crosses in pieces, from a source to a sink and back.
func TestAValueMayBeLargerThanAMessage(t *testing.T) {
	if testing.Short() {
		t.Skip("moves 300 MiB")
	}
	value := strings.Repeat("0123456789abcdef", 100<<20/16)
	client := connect(t, &canned{Plugin: fake.New(), frames: frames(t, textRows(t, value)), end: io.EOF})
	s, err := client.OpenSource(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	tables, begun := begin(t, client)
	largest, pieces := 0, 0
	read, err := s.Read(t.Context(), readOrders)
	if err != nil {
		t.Fatal(err)
	}
	part, err := tables.WritePart(t.Context(), plugin.WritePartRequest{WriteID: begun.WriteID}, &measured{FrameReader: read, largest: &largest, pieces: &pieces})
	if err != nil || part.Rows != 1 {
		t.Fatalf("part %+v, %v", part, err)
	}
	if largest > rows.MaxFrame || pieces < 25 {
		t.Errorf("%d pieces, the largest of %d bytes", pieces, largest)
	}
	if _, err := tables.Commit(t.Context(), plugin.CommitRequest{WriteID: begun.WriteID, Tokens: []string{part.Token}}); err != nil {
		t.Fatal(err)
	}
	scan, err := tables.Scan(t.Context(), plugin.ScanRequest{Table: plugin.TableRef{Name: "bronze.orders"}, Version: -1})
	if err != nil {
		t.Fatal(err)
	}
	r, err := rows.NewReader(scan, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.ForEach(func(b arrow.RecordBatch) error {
		if b.Column(0).(*array.String).Value(0) != value {
			t.Error("the value came back as another one")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

type measured struct {
	plugin.FrameReader
	largest, pieces *int
}

func (m *measured) Recv() (plugin.Frame, error) {
	f, err := m.FrameReader.Recv()
	if f.Batch != nil {
		*m.largest = max(*m.largest, len(f.Batch.Body))
		*m.pieces++
	}
	return f, err
}

// A frame that a careless producer made too large is cut on its way.
func TestABodyAboveTheFrameLimitIsCut(t *testing.T) {
	header, body := []byte("h"), make([]byte, 3*rows.MaxFrame+1)
	crc := crc32.Update(crc32.Checksum(header, crc32.MakeTable(crc32.Castagnoli)), crc32.MakeTable(crc32.Castagnoli), body)
	s := source(t, &canned{Plugin: fake.New(), end: io.EOF, frames: []plugin.Frame{
		{Begin: &plugin.Begin{}}, {Batch: &plugin.Batch{Rows: 1, Header: header, Body: body, CRC: crc}}, {End: &plugin.End{Batches: 1, Rows: 1}},
	}})
	r, err := s.Read(t.Context(), readOrders)
	if err != nil {
		t.Fatal(err)
	}
	got := frames(t, r)
	if len(got) != 6 || got[1].Batch.Rows != 1 || !got[1].Batch.More || got[4].Batch.More || len(got[4].Batch.Body) != 1 {
		t.Fatalf("%d frames", len(got))
	}
}

// The part is open before its rows are asked for, and they are closed whatever
// becomes of it.
func TestAPartIsOpenBeforeItsFirstFrame(t *testing.T) {
	client := connect(t, fake.New())
	tables, begun := begin(t, client)
	asked := false
	lazy := plugin.Lazy(func() (plugin.FrameReader, error) {
		asked = true
		return textRows(t, "a"), nil
	})
	if _, err := tables.WritePart(t.Context(), plugin.WritePartRequest{WriteID: "none"}, lazy); err == nil || asked {
		t.Fatalf("rows were asked for: %v; error %v", asked, err)
	}
	stream := &list{frames: frames(t, textRows(t, "a")), end: io.EOF}
	if _, err := tables.WritePart(t.Context(), plugin.WritePartRequest{WriteID: begun.WriteID}, stream); err != nil || !stream.closed {
		t.Fatalf("closed %v, error %v", stream.closed, err)
	}
}

// What does not fit a message is said, not hung on or cut.
func TestAMessageHasALimit(t *testing.T) {
	tables, err := connect(t, fake.New()).OpenTables(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	err = tables.PutObject(t.Context(), plugin.Object{Key: "k", Data: make([]byte, wire.MaxMessage+1)}, true)
	if list := diag.FromError(err); len(list) != 1 || list[0].Code != "plugin.message_size" {
		t.Fatalf("error %v", err)
	}
	if err := tables.PutObject(t.Context(), plugin.Object{Key: "k", Data: make([]byte, wire.MaxMessage-100)}, true); err != nil {
		t.Fatal(err)
	}
}
