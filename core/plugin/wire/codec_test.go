package wire

import (
	"bytes"
	"testing"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	pb "github.com/pipectl/pipectl/core/proto/pipectl/plugin/v1"
)

// pieces cuts bytes as a transport does.
func pieces(data []byte, size int) mem.BufferSlice {
	var out mem.BufferSlice
	for len(data) > 0 {
		n := min(size, len(data))
		out = append(out, mem.SliceBuffer(data[:n]))
		data = data[n:]
	}
	return out
}

func drawBatch(t *rapid.T) *pb.Batch {
	b := &pb.Batch{
		Rows: rapid.Int64().Draw(t, "rows"), Crc32C: rapid.Uint32().Draw(t, "crc"), More: rapid.Bool().Draw(t, "more"),
		Body: bytes.Repeat([]byte{rapid.Byte().Draw(t, "byte")}, rapid.IntRange(0, 3*largeBody).Draw(t, "size")),
	}
	if rapid.Bool().Draw(t, "first") {
		b.Header = rapid.SliceOfN(rapid.Byte(), 1, 500).Draw(t, "header")
	}
	return b
}

// Either end may have grpc's own codec: what one writes the other reads.
func TestTheCodecIsProtobuf(t *testing.T) {
	t.Parallel()
	ours, theirs := newCodec(), encoding.GetCodecV2("proto")
	rapid.Check(t, func(t *rapid.T) {
		frame := &pb.Frame{Kind: &pb.Frame_Batch{Batch: drawBatch(t)}}
		var sent, got proto.Message = frame, &pb.Frame{}
		if rapid.Bool().Draw(t, "request") {
			sent, got = &pb.WritePartRequest{Step: &pb.WritePartRequest_Frame{Frame: frame}}, &pb.WritePartRequest{}
		}
		from, to := encoding.CodecV2(ours), theirs
		switch rapid.IntRange(0, 2).Draw(t, "codecs") {
		case 1:
			from, to = theirs, ours
		case 2:
			to = ours
		}
		data, err := from.Marshal(sent)
		if err != nil {
			t.Fatal(err)
		}
		if err := to.Unmarshal(pieces(data.Materialize(), rapid.IntRange(1, 1<<16).Draw(t, "piece")), got); err != nil {
			t.Fatal(err)
		}
		if !proto.Equal(sent, got) {
			t.Fatal("the message changed on its way")
		}
	})
}

// What is unusual is left to protobuf, which keeps unknown fields and refuses
// what is broken.
func TestTheCodecLeavesTheUnusualToProtobuf(t *testing.T) {
	t.Parallel()
	usual, err := proto.Marshal(&pb.Frame{Kind: &pb.Frame_Batch{Batch: &pb.Batch{Rows: 3, Body: make([]byte, largeBody)}}})
	if err != nil {
		t.Fatal(err)
	}
	later := protowire.AppendString(protowire.AppendTag(bytes.Clone(usual), 2000, protowire.BytesType), "of a later version")
	var got pb.Frame
	if err := newCodec().Unmarshal(pieces(later, 1000), &got); err != nil || got.GetBatch().GetRows() != 3 || len(got.ProtoReflect().GetUnknown()) == 0 {
		t.Errorf("a later frame: %v", err)
	}
	if err := newCodec().Unmarshal(pieces(usual[:len(usual)-1], 1000), &got); err == nil {
		t.Error("half a frame is no error")
	}
}

func FuzzUnmarshalFrame(f *testing.F) {
	b := &pb.Batch{Rows: 3, Header: []byte("h"), Body: make([]byte, 10), Crc32C: 7}
	f.Add(marshalBatch(b, fieldFrameBatch).Materialize())
	f.Fuzz(func(t *testing.T, data []byte) {
		got, ok := unmarshalBatch(pieces(data, 7), fieldFrameBatch)
		if !ok {
			return
		}
		var want pb.Frame
		if err := proto.Unmarshal(data, &want); err != nil {
			t.Fatalf("protobuf refuses what the codec reads: %v", err)
		}
		if !proto.Equal(&pb.Frame{Kind: &pb.Frame_Batch{Batch: got}}, &want) {
			t.Fatal("the codec reads another message than protobuf")
		}
	})
}
