// Package rows turns Arrow record batches into the frames that cross process
// boundaries, and back. It knows Arrow's IPC format and the frame contract of
// core/plugin, and nothing of what the rows mean or how frames travel.
package rows

import (
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// EncodeSchema returns the IPC schema message of a schema.
func EncodeSchema(schema *arrow.Schema) []byte {
	payload := ipc.GetSchemaPayload(schema, memory.DefaultAllocator)
	defer payload.Release()
	meta := payload.Meta()
	defer meta.Release()
	return append([]byte(nil), meta.Bytes()...)
}

// DecodeSchema reads what EncodeSchema wrote.
func DecodeSchema(data []byte) (*arrow.Schema, error) {
	source := &messages{schema: data}
	r, err := ipc.NewReaderFromMessageReader(source)
	if err != nil {
		return nil, fmt.Errorf("reading an Arrow schema: %w", err)
	}
	defer r.Release()
	return r.Schema(), nil
}

// messages feeds an ipc.Reader: the schema first, then whatever next gives.
type messages struct {
	schema []byte
	begun  bool
	next   func() (header, body []byte, err error)
	last   *ipc.Message
}

func (m *messages) Message() (*ipc.Message, error) {
	m.drop()
	if !m.begun {
		m.begun = true
		m.last = message(m.schema, nil)
		return m.last, nil
	}
	if m.next == nil {
		return nil, io.EOF
	}
	header, body, err := m.next()
	if err != nil {
		return nil, err
	}
	m.last = message(header, body)
	return m.last, nil
}

func message(header, body []byte) *ipc.Message {
	meta, data := memory.NewBufferBytes(header), memory.NewBufferBytes(body)
	defer meta.Release()
	defer data.Release()
	return ipc.NewMessage(meta, data)
}

func (m *messages) drop() {
	if m.last != nil {
		m.last.Release()
		m.last = nil
	}
}

// Retain and Release satisfy ipc.MessageReader; the owner is the Reader.
func (m *messages) Retain()  {}
func (m *messages) Release() { m.drop() }
