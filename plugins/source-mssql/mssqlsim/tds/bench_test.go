package tds_test

import (
	"context"
	"database/sql"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tds"
)

const benchRows = 100_000

// BenchmarkRows is the rate of rows that go-mssqldb reads, client and server in one process.
func BenchmarkRows(b *testing.B) {
	for _, options := range []string{"encrypt=disable", "encrypt=disable&packet+size=32767", "encrypt=true&TrustServerCertificate=true"} {
		b.Run(options, func(b *testing.B) {
			cfg, _ := certificate(b)
			h := &canned{stopped: make(chan error, 1)}
			db := open(b, serve(b, &tds.Server{Handler: h, TLS: cfg}), options)
			var lsn sql.RawBytes
			var op, id int64
			var amount, note sql.RawBytes
			var at time.Time
			b.ResetTimer()
			for range b.N {
				rows, err := db.Query("select big")
				if err != nil {
					b.Fatal(err)
				}
				n := 0
				for rows.Next() {
					if err := rows.Scan(&lsn, &op, &id, &amount, &at, &note); err != nil {
						b.Fatal(err)
					}
					n++
				}
				if rows.Err() != nil || n != benchRows {
					b.Fatal(n, rows.Err())
				}
				rows.Close()
			}
			b.ReportMetric(float64(b.N)*benchRows/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkWire is the rate of the server alone: the client throws the bytes of the answer away.
func BenchmarkWire(b *testing.B) {
	for _, path := range []string{"typed", "generic"} {
		b.Run(path, func(b *testing.B) {
			h := &canned{stopped: make(chan error, 1)}
			if path == "generic" {
				h.exec = generic(benchRows)
			}
			sock := rawLogin(b, serve(b, &tds.Server{Handler: h}))
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				if _, err := sock.Write(rawBatch("select big")); err != nil {
					b.Fatal(err)
				}
				discardReply(b, sock)
			}
			b.ReportMetric(float64(b.N)*benchRows/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// generic writes n rows of big100k by the path of boxed values.
func generic(n int64) func(context.Context, *tds.Session, tds.Request, *tds.Results) (bool, error) {
	return func(_ context.Context, _ *tds.Session, _ tds.Request, w *tds.Results) (bool, error) {
		w.Columns(sixColumns)
		lsn := make([]byte, 10)
		amount := tds.Dec{Unscaled: bigInt(7), Scale: 4}
		for i := range n {
			lsn[8], lsn[9] = byte(i>>8), byte(i)
			if err := w.Row(lsn, int64(2), i, amount, moment, "row note text"); err != nil {
				return true, err
			}
		}
		return true, nil
	}
}

// discardReply reads packets to the end of a message.
func discardReply(b *testing.B, sock net.Conn) {
	var header [8]byte
	body := make([]byte, 32768)
	for {
		if _, err := io.ReadFull(sock, header[:]); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(sock, body[:int(binary.BigEndian.Uint16(header[2:]))-8]); err != nil {
			b.Fatal(err)
		}
		if header[1]&1 != 0 {
			return
		}
	}
}
