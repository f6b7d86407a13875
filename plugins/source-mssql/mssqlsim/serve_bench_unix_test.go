//go:build unix

package mssqlsim

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"net"
	"syscall"
	"testing"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
)

// readStream is how the plugin reads the changes of dbo.big.
const readStream = `SELECT c.[__$start_lsn] AS _start_lsn, c.[__$seqval] AS _seqval, c.[__$operation] AS _operation, c.[__$command_id] AS _command_id,
       m.tran_end_time AS _commit_local, c.[id], c.[n], c.[amount], c.[at], c.[name], c.[code]
FROM cdc.[dbo_big_CT] AS c JOIN cdc.lsn_time_mapping AS m ON m.start_lsn = c.[__$start_lsn]
WHERE c.[__$start_lsn] BETWEEN CONVERT(binary(10), @p1, 1) AND CONVERT(binary(10), @p2, 1)
ORDER BY c.[__$start_lsn], c.[__$command_id], c.[__$seqval], c.[__$operation]`

// BenchmarkServe is the server's part of a read of changes: the client sends what go-mssqldb once sent and throws the
// answer away. The least processor time of all reads is what compares: whatever else the machine does adds to the others.
func BenchmarkServe(b *testing.B) {
	for _, together := range []int{100, 2} {
		b.Run(fmt.Sprintf("transactions of %d", together), func(b *testing.B) { serve(b, together) })
	}
}

func serve(b *testing.B, together int) {
	const n = 200_000
	db, conn := newDatabase(b)
	bigTable(b, db, n, together)
	_ = conn.Close()
	var said requests
	c, err := mssql.NewConnector(testServer.DSN(db.Name()) + "&packet+size=32767")
	must(b, err)
	c.Dialer = &said
	recorded := sql.OpenDB(c)
	if got := drain(b, recorded, readStream, 11, "0x00000000000000000000", allLSN); got != n {
		b.Fatal(got)
	}
	_ = recorded.Close()

	sock, err := net.Dial("tcp", said.addr)
	must(b, err)
	defer func() { _ = sock.Close() }()
	messages := said.messages()
	query := messages[len(messages)-1]
	for _, m := range messages[:len(messages)-1] {
		_, err := sock.Write(m)
		must(b, err)
		throwAway(b, sock)
	}
	least := time.Duration(math.MaxInt64)
	for b.Loop() {
		before := processorTime(b)
		_, err := sock.Write(query)
		must(b, err)
		throwAway(b, sock)
		least = min(least, processorTime(b)-before)
	}
	b.ReportMetric(float64(least)/n, "cpu-ns/row")
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// throwAway reads the packets of one message (Microsoft: [MS-TDS] Packets).
func throwAway(b *testing.B, sock net.Conn) {
	var header [8]byte
	body := make([]byte, 1<<16)
	for {
		if _, err := io.ReadFull(sock, header[:]); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(sock, body[:int(binary.BigEndian.Uint16(header[2:]))-len(header)]); err != nil {
			b.Fatal(err)
		}
		if header[1]&1 != 0 {
			return
		}
	}
}

// processorTime is what this process has used, of its own and of the system's.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// requests dials and keeps what the client sends.
type requests struct {
	addr string
	sent []byte
}

func (r *requests) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	r.addr = addr
	c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	return &spoken{c, r}, err
}

type spoken struct {
	net.Conn
	to *requests
}

func (c *spoken) Write(p []byte) (int, error) {
	c.to.sent = append(c.to.sent, p...)
	return c.Conn.Write(p)
}

// messages cuts what was sent into messages; the last one is the last request.
func (r *requests) messages() (out [][]byte) {
	begin, at := 0, 0
	for at < len(r.sent) {
		last := r.sent[at+1]&1 != 0
		at += int(binary.BigEndian.Uint16(r.sent[at+2:]))
		if last {
			out = append(out, r.sent[begin:at])
			begin = at
		}
	}
	return out
}
