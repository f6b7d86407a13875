//go:build unix

package wire_test

import (
	"context"
	"hash/crc32"
	"io"
	"net"
	"os"
	"testing"

	"github.com/pipectl/pipectl/core/plugin"
	fake "github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/plugin/rows"
	"github.com/pipectl/pipectl/core/plugin/wire"
)

const relayed = 256 << 20 // bytes of a pass

// repeated sends one batch over and over.
type repeated struct {
	left  int
	frame plugin.Frame
	begun bool
	sent  int64
}

func (r *repeated) Recv() (plugin.Frame, error) {
	switch {
	case !r.begun:
		r.begun = true
		return plugin.Frame{Begin: &plugin.Begin{}}, nil
	case r.left > 0:
		r.left--
		r.sent++
		return r.frame, nil
	case r.left == 0:
		r.left--
		return plugin.Frame{End: &plugin.End{Batches: r.sent, Rows: r.sent}}, nil
	}
	return plugin.Frame{}, io.EOF
}

func (r *repeated) Close() error { return nil }

type pump struct {
	*fake.Plugin
	size int
}

func (p *pump) OpenSource(context.Context, plugin.OpenRequest) (plugin.Source, error) {
	return &pumpSource{Source: p.Database.Open(), size: p.size}, nil
}

func (p *pump) OpenTables(context.Context, plugin.OpenRequest) (plugin.Tables, error) {
	return &drainTables{Tables: p.Lake.Open()}, nil
}

type pumpSource struct {
	plugin.Source
	size int
}

func (s *pumpSource) Read(context.Context, plugin.ReadRequest) (plugin.FrameReader, error) {
	// The sink's check of the right checksum costs as much as one of a wrong.
	return &repeated{left: relayed / s.size, frame: plugin.Frame{Batch: &plugin.Batch{Rows: 1, Body: make([]byte, s.size), CRC: zeroCRC(s.size)}}}, nil
}

type drainTables struct{ plugin.Tables }

func (d *drainTables) WritePart(_ context.Context, _ plugin.WritePartRequest, frames plugin.FrameReader) (plugin.Part, error) {
	defer frames.Close()
	for {
		f, err := frames.Recv()
		if err != nil {
			return plugin.Part{}, err
		}
		if f.End != nil {
			return plugin.Part{Rows: f.End.Rows}, nil
		}
	}
}

// unixConn serves a plugin on a unix socket, as between processes.
func unixConn(b *testing.B, p plugin.Plugin) *wire.Client {
	b.Helper()
	dir, err := os.MkdirTemp("", "relay")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	lis, err := net.Listen("unix", dir+"/s")
	if err != nil {
		b.Fatal(err)
	}
	server := wire.NewServer(p, nil)
	conn := serveOn(b, lis, func(context.Context, string) (net.Conn, error) { return net.Dial("unix", dir+"/s") }, server.Register)
	return wire.NewClient(conn, wire.NewGrants())
}

// BenchmarkRelay moves frames from a source through the host into a sink, over
// unix sockets but in one process, so two processors do the work of four ends.
func BenchmarkRelay(b *testing.B) {
	for name, size := range map[string]int{"64KiB": 64 << 10, "1MiB": 1 << 20, "4MiB": rows.MaxFrame} {
		b.Run(name, func(b *testing.B) {
			p := &pump{Plugin: fake.New(), size: size}
			source, err := unixConn(b, p).OpenSource(b.Context(), request)
			if err != nil {
				b.Fatal(err)
			}
			tables, err := unixConn(b, p).OpenTables(b.Context(), request)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(relayed)
			for b.Loop() {
				frames, err := source.Read(b.Context(), readOrders)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := tables.WritePart(b.Context(), plugin.WritePartRequest{}, frames); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkUnixSocket is the baseline: the same bytes through two raw unix
// sockets with a relay between them.
func BenchmarkUnixSocket(b *testing.B) {
	dir, err := os.MkdirTemp("", "raw")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(dir)
	pair := func(name string) (net.Conn, net.Conn) {
		lis, err := net.Listen("unix", dir+"/"+name)
		if err != nil {
			b.Fatal(err)
		}
		defer lis.Close()
		client, err := net.Dial("unix", dir+"/"+name)
		if err != nil {
			b.Fatal(err)
		}
		server, err := lis.Accept()
		if err != nil {
			b.Fatal(err)
		}
		return client, server
	}
	sourceOut, relayIn := pair("a")
	relayOut, sinkIn := pair("b")
	piece := make([]byte, 1<<20)
	b.SetBytes(relayed)
	done := make(chan error, 2)
	go func() {
		_, err := io.CopyBuffer(struct{ io.Writer }{relayOut}, struct{ io.Reader }{relayIn}, make([]byte, 1<<20))
		relayOut.Close()
		done <- err
	}()
	received := make(chan struct{})
	go func() {
		buf, n := make([]byte, 1<<20), 0
		for {
			k, err := sinkIn.Read(buf)
			n += k
			if n >= relayed {
				n -= relayed
				received <- struct{}{}
			}
			if err != nil {
				done <- nil
				return
			}
		}
	}()
	for b.Loop() {
		for range relayed / len(piece) {
			if _, err := sourceOut.Write(piece); err != nil {
				b.Fatal(err)
			}
		}
		<-received
	}
	sourceOut.Close()
	for range 2 {
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
	relayIn.Close()
	sinkIn.Close()
}

func zeroCRC(size int) uint32 {
	return crc32.Checksum(make([]byte, size), crc32.MakeTable(crc32.Castagnoli))
}
