package plugin

import "io"

// Frame is one step of a stream of rows. Exactly one of Begin, Batch and End
// is set. The host relays frames unread; what it needs stands in End.
type Frame struct {
	Begin *Begin
	Batch *Batch
	End   *End
}

// Begin opens a stream; it comes exactly once and first.
type Begin struct {
	// Schema is the Arrow schema as one IPC schema message (metadata bytes of
	// the encapsulated message).
	Schema []byte
}

// Batch is one Arrow record batch: the IPC message metadata (Header) apart
// from its body, so that a relay copies nothing. CRC is the CRC-32C
// (Castagnoli) of Header followed by Body. A body larger than the frame limit
// travels in pieces: all but the last have More set, and only the first
// carries Header.
type Batch struct {
	Rows   int64
	Header []byte
	Body   []byte
	CRC    uint32
	More   bool
}

// End closes a stream; it comes exactly once and last. A stream without it is
// broken.
type End struct {
	// Batches and Rows count what was sent before.
	Batches int64
	Rows    int64
	// Operations counts rows per value of _operation, for change and snapshot
	// rows: 0 snapshot, 1 delete, 2 insert, 3 update before, 4 update after.
	Operations map[int32]int64
	// Least and Greatest are the smallest and largest positions of the rows.
	Least, Greatest Position
	// Metrics is nil when the sender measures nothing.
	Metrics *ReadMetrics
	// Events are facts found while reading, such as a possible skip.
	Events []Event
	// High is, for a snapshot read, the newest position after the read.
	High Position
}

// FrameReader is a stream of frames to pull from. Recv returns io.EOF after
// the End frame; a stream that breaks returns another error. Close releases
// the stream and stops its sender; it may be called at any time and twice.
// The bytes of a frame never change after Recv, so they may be kept.
type FrameReader interface {
	Recv() (Frame, error)
	Close() error
}

// Lazy returns a reader that opens the real one at the first Recv. The host
// uses it to open the sink's part before the source starts to send.
func Lazy(open func() (FrameReader, error)) FrameReader { return &lazyReader{open: open} }

type lazyReader struct {
	open   func() (FrameReader, error)
	reader FrameReader
	closed bool
}

func (l *lazyReader) Recv() (Frame, error) {
	if l.closed {
		return Frame{}, io.ErrClosedPipe
	}
	if l.reader == nil {
		r, err := l.open()
		if err != nil {
			return Frame{}, err
		}
		l.reader = r
	}
	return l.reader.Recv()
}

func (l *lazyReader) Close() error {
	l.closed = true
	if l.reader == nil {
		return nil
	}
	return l.reader.Close()
}

// Observe returns a reader that hands the End frame to end when it passes.
func Observe(r FrameReader, end func(End)) FrameReader { return &observed{FrameReader: r, end: end} }

type observed struct {
	FrameReader
	end func(End)
}

func (o *observed) Recv() (Frame, error) {
	f, err := o.FrameReader.Recv()
	if err == nil && f.End != nil {
		o.end(*f.End)
	}
	return f, err
}
