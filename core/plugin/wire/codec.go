package wire

import (
	"errors"
	"io"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"

	pb "github.com/pipectl/pipectl/core/proto/pipectl/plugin/v1"
)

// codec writes and reads protobuf like grpc's own, byte for byte compatible
// with it, but copies the body of a batch once instead of three times: it is
// sent by reference, and read straight into its own memory. All other messages
// go through grpc's codec. Its name stays "proto", so that the other end may be
// any gRPC implementation.
//
// Sending by reference is why the sender of a frame never writes to its bytes
// again (plugin.FrameReader).
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2(proto.Name)} }

// largeBody is the size in bytes from which a body goes the short way.
const largeBody = 16 << 10

// Numbers of the fields that the codec writes itself, as in plugin.proto.
const (
	fieldRequestFrame = 2 // WritePartRequest.frame
	fieldFrameBatch   = 2 // Frame.batch
	fieldRows         = 1 // Batch
	fieldHeader       = 2
	fieldBody         = 3
	fieldCRC          = 4
	fieldMore         = 5
)

func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	switch m := v.(type) {
	case *pb.Frame:
		if b := m.GetBatch(); len(b.GetBody()) >= largeBody {
			return marshalBatch(b, fieldFrameBatch), nil
		}
	case *pb.WritePartRequest:
		if b := m.GetFrame().GetBatch(); len(b.GetBody()) >= largeBody {
			return marshalBatch(b, fieldFrameBatch, fieldRequestFrame), nil
		}
	}
	return c.CodecV2.Marshal(v)
}

// marshalBatch writes a batch wrapped in the given fields, the innermost
// first. The body is the last field, so that everything before it is one piece.
func marshalBatch(b *pb.Batch, wrap ...protowire.Number) mem.BufferSlice {
	inner := make([]byte, 0, len(b.Header)+64)
	if b.Rows != 0 {
		inner = protowire.AppendTag(inner, fieldRows, protowire.VarintType)
		inner = protowire.AppendVarint(inner, uint64(b.Rows))
	}
	if len(b.Header) > 0 {
		inner = protowire.AppendTag(inner, fieldHeader, protowire.BytesType)
		inner = protowire.AppendBytes(inner, b.Header)
	}
	if b.Crc32C != 0 {
		inner = protowire.AppendTag(inner, fieldCRC, protowire.Fixed32Type)
		inner = protowire.AppendFixed32(inner, b.Crc32C)
	}
	if b.More {
		inner = protowire.AppendTag(inner, fieldMore, protowire.VarintType)
		inner = protowire.AppendVarint(inner, 1)
	}
	inner = protowire.AppendTag(inner, fieldBody, protowire.BytesType)
	inner = protowire.AppendVarint(inner, uint64(len(b.Body)))
	for _, field := range wrap {
		outer := protowire.AppendTag(make([]byte, 0, len(inner)+16), field, protowire.BytesType)
		outer = protowire.AppendVarint(outer, uint64(len(inner)+len(b.Body)))
		inner = append(outer, inner...)
	}
	return mem.BufferSlice{mem.SliceBuffer(inner), mem.SliceBuffer(b.Body)}
}

func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	if data.Len() >= largeBody {
		switch m := v.(type) {
		case *pb.Frame:
			if b, ok := unmarshalBatch(data, fieldFrameBatch); ok {
				m.Kind = &pb.Frame_Batch{Batch: b}
				return nil
			}
		case *pb.WritePartRequest:
			if b, ok := unmarshalBatch(data, fieldRequestFrame, fieldFrameBatch); ok {
				m.Step = &pb.WritePartRequest_Frame{Frame: &pb.Frame{Kind: &pb.Frame_Batch{Batch: b}}}
				return nil
			}
		}
	}
	return c.CodecV2.Unmarshal(data, v)
}

// unmarshalBatch reads a batch wrapped in the given fields, the outermost
// first. ok is false for anything unusual, a field of a later minor version for
// instance, which grpc's codec then reads.
func unmarshalBatch(data mem.BufferSlice, wrap ...protowire.Number) (*pb.Batch, bool) {
	r := data.Reader()
	defer r.Close()
	for _, field := range wrap {
		number, kind, err := readTag(r)
		if err != nil || number != field || kind != protowire.BytesType {
			return nil, false
		}
		if n, err := readVarint(r); err != nil || n != uint64(r.Remaining()) {
			return nil, false
		}
	}
	b := &pb.Batch{}
	for r.Remaining() > 0 {
		number, kind, err := readTag(r)
		if err != nil {
			return nil, false
		}
		switch {
		case number == fieldRows && kind == protowire.VarintType:
			var n uint64
			n, err = readVarint(r)
			b.Rows = int64(n)
		case number == fieldHeader && kind == protowire.BytesType:
			b.Header, err = readBytes(r)
		case number == fieldBody && kind == protowire.BytesType:
			b.Body, err = readBytes(r)
		case number == fieldCRC && kind == protowire.Fixed32Type:
			var four [4]byte
			_, err = io.ReadFull(r, four[:])
			b.Crc32C, _ = protowire.ConsumeFixed32(four[:])
		case number == fieldMore && kind == protowire.VarintType:
			var n uint64
			n, err = readVarint(r)
			b.More = n != 0
		default:
			return nil, false
		}
		if err != nil {
			return nil, false
		}
	}
	return b, true
}

func readTag(r *mem.Reader) (protowire.Number, protowire.Type, error) {
	v, err := readVarint(r)
	if err != nil {
		return 0, 0, err
	}
	number, kind := protowire.DecodeTag(v)
	return number, kind, nil
}

var errUnusual = errors.New("not in the usual form")

func readVarint(r *mem.Reader) (uint64, error) {
	var v uint64
	for shift := uint(0); shift < 64; shift += 7 {
		c, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v, nil
		}
	}
	return 0, errUnusual
}

func readBytes(r *mem.Reader) ([]byte, error) {
	n, err := readVarint(r)
	if err != nil {
		return nil, err
	}
	if n > uint64(r.Remaining()) {
		return nil, errUnusual
	}
	out := make([]byte, n)
	_, err = io.ReadFull(r, out)
	return out, err
}
