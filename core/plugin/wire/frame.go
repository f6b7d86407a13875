package wire

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
	pb "github.com/pipectl/pipectl/core/proto/pipectl/plugin/v1"
)

// sendFrames sends a stream to the other process and closes it. An error of
// the stream itself goes as a Failure frame; the error returned is that of the
// transport or of a cancelled call.
func sendFrames(ctx context.Context, frames plugin.FrameReader, send func(*pb.Frame) error) error {
	defer frames.Close()
	for {
		frame, err := frames.Recv()
		if errors.Is(err, io.EOF) {
			return nil // without End the receiver knows it for broken
		}
		if err != nil {
			list, err := failure(ctx, err)
			if err != nil {
				return err
			}
			return send(&pb.Frame{Kind: &pb.Frame_Failure{Failure: &pb.Failure{Diagnostics: list}}})
		}
		if err := sendFrame(frame, send); err != nil {
			return err
		}
		if frame.End != nil {
			return nil
		}
	}
}

// sendFrame sends one frame, a body above the frame limit in pieces.
func sendFrame(f plugin.Frame, send func(*pb.Frame) error) error {
	switch {
	case f.Begin != nil:
		return send(&pb.Frame{Kind: &pb.Frame_Begin{Begin: &pb.Begin{Schema: f.Begin.Schema}}})
	case f.End != nil:
		return send(&pb.Frame{Kind: &pb.Frame_End{End: endToProto(f.End)}})
	case f.Batch == nil:
		return fmt.Errorf("a frame is neither Begin, Batch nor End")
	}
	batch := &pb.Batch{Rows: f.Batch.Rows, Header: f.Batch.Header, Crc32C: f.Batch.CRC}
	body := f.Batch.Body
	for {
		batch.Body = body[:min(len(body), rows.MaxFrame)]
		body = body[len(batch.Body):]
		batch.More = f.Batch.More || len(body) > 0
		if err := send(&pb.Frame{Kind: &pb.Frame_Batch{Batch: batch}}); err != nil {
			return err
		}
		if len(body) == 0 {
			return nil
		}
		batch = &pb.Batch{}
	}
}

// received is a stream that comes from another process. It holds the order of
// frames and the counts of End; when verify is set also the checksums, which
// only the last receiver does: a relay passes bodies unread.
type received struct {
	ctx    context.Context
	name   string // for messages: "the rows of table.orders"
	recv   func() (*pb.Frame, error)
	close  func()
	verify bool

	begun, ended bool
	err          error
	batches      int64
	rows         int64
	inBatch      bool
	crc, want    uint32
}

func (r *received) Recv() (plugin.Frame, error) {
	if r.err != nil {
		return plugin.Frame{}, r.err
	}
	frame, err := r.next()
	if err != nil {
		r.err = err
	}
	return frame, err
}

func (r *received) broken(format string, args ...any) error {
	return fmt.Errorf("%w: %s %s", rows.ErrBroken, r.name, fmt.Sprintf(format, args...))
}

func (r *received) next() (plugin.Frame, error) {
	msg, err := r.recv()
	switch {
	case errors.Is(err, io.EOF) && r.ended:
		return plugin.Frame{}, io.EOF
	case errors.Is(err, io.EOF):
		return plugin.Frame{}, r.broken("stopped without their End")
	case err != nil:
		return plugin.Frame{}, fmt.Errorf("receiving %s: %w", r.name, transportError(r.ctx, err))
	case r.ended:
		return plugin.Frame{}, r.broken("go on after their End")
	}
	switch k := msg.Kind.(type) {
	case *pb.Frame_Failure:
		if list := diagnosticsFromProto(k.Failure.Diagnostics); list.HasErrors() {
			return plugin.Frame{}, list.Err()
		}
		return plugin.Frame{}, r.broken("failed without a reason")
	case *pb.Frame_Begin:
		if r.begun {
			return plugin.Frame{}, r.broken("begin twice")
		}
		r.begun = true
		return plugin.Frame{Begin: &plugin.Begin{Schema: k.Begin.Schema}}, nil
	case *pb.Frame_Batch:
		return r.batch(k.Batch)
	case *pb.Frame_End:
		return r.end(k.End)
	}
	return plugin.Frame{}, r.broken("hold a frame that this version does not know")
}

func (r *received) batch(b *pb.Batch) (plugin.Frame, error) {
	if !r.begun {
		return plugin.Frame{}, r.broken("do not begin with Begin")
	}
	first := !r.inBatch
	if first {
		r.batches++
		r.rows += b.Rows
	}
	r.inBatch = b.More
	if r.verify {
		if first {
			r.want, r.crc = b.Crc32C, crc32.Checksum(b.Header, castagnoli)
		}
		r.crc = crc32.Update(r.crc, castagnoli, b.Body)
		if !b.More && r.crc != r.want {
			return plugin.Frame{}, r.broken("were damaged: batch %d has checksum %08x and was sent with %08x", r.batches, r.crc, r.want)
		}
	}
	return plugin.Frame{Batch: &plugin.Batch{Rows: b.Rows, Header: b.Header, Body: b.Body, CRC: b.Crc32C, More: b.More}}, nil
}

// castagnoli is the table of CRC-32C; the standard library uses the processor's
// instruction for it.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (r *received) end(e *pb.End) (plugin.Frame, error) {
	switch {
	case !r.begun:
		return plugin.Frame{}, r.broken("do not begin with Begin")
	case r.inBatch:
		return plugin.Frame{}, r.broken("lack the last piece of batch %d", r.batches)
	case e.Rows != r.rows || e.Batches != r.batches:
		return plugin.Frame{}, r.broken("are not whole: their End speaks of %d rows in %d batches, %d in %d came", e.Rows, e.Batches, r.rows, r.batches)
	}
	r.ended = true
	end := endFromProto(e)
	return plugin.Frame{End: &end}, nil
}

func (r *received) Close() error {
	if r.close != nil {
		r.close()
	}
	return nil
}

func endToProto(e *plugin.End) *pb.End {
	out := &pb.End{
		Batches: e.Batches, Rows: e.Rows, Operations: e.Operations,
		Least: positionToProto(e.Least), Greatest: positionToProto(e.Greatest), High: positionToProto(e.High),
		Events: each(e.Events, eventToProto),
	}
	if m := e.Metrics; m != nil {
		out.Metrics = &pb.ReadMetrics{
			From: m.From, To: m.To, Rows: m.Rows, Bytes: m.Bytes, Seconds: m.Seconds, RttMs: m.RTTMillis, NetworkWaitMs: m.NetworkWaitMs,
			Last: m.Last, ToCommitUs: m.ToCommit, RetentionWatermarkUs: m.RetentionWatermark, SourceMaxCommitUs: m.SourceMaxCommit, CaptureLagSeconds: m.CaptureLagSeconds,
		}
	}
	return out
}

func endFromProto(e *pb.End) plugin.End {
	out := plugin.End{
		Batches: e.Batches, Rows: e.Rows, Operations: e.Operations,
		Least: positionFromProto(e.Least), Greatest: positionFromProto(e.Greatest), High: positionFromProto(e.High),
		Events: each(e.Events, eventFromProto),
	}
	if m := e.Metrics; m != nil {
		out.Metrics = &plugin.ReadMetrics{
			From: m.From, To: m.To, Rows: m.Rows, Bytes: m.Bytes, Seconds: m.Seconds, RTTMillis: m.RttMs, NetworkWaitMs: m.NetworkWaitMs,
			Last: m.Last, ToCommit: m.ToCommitUs, RetentionWatermark: m.RetentionWatermarkUs, SourceMaxCommit: m.SourceMaxCommitUs, CaptureLagSeconds: m.CaptureLagSeconds,
		}
	}
	return out
}

func eventToProto(e plugin.Event) *pb.Event {
	return &pb.Event{Name: e.Name, Position: positionToProto(e.Position), Detail: e.Detail, LostFromUs: e.LostFrom, LostToUs: e.LostTo}
}

func eventFromProto(e *pb.Event) plugin.Event {
	return plugin.Event{Name: e.Name, Position: positionFromProto(e.Position), Detail: e.Detail, LostFrom: e.LostFromUs, LostTo: e.LostToUs}
}

// noSession is the answer to a call that names a session which is not open.
func noSession(id string) error {
	return diag.Errorf(diag.KindInternal, "plugin.session", "", "There is no open session %q", id).Err()
}
