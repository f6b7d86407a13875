package mssqlsim

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/cdc"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// bigTable makes dbo.big with n rows in transactions of so many, captured: six columns of different types.
func bigTable(b testing.TB, db *Database, n, together int) {
	b.Helper()
	must(b, db.CreateTable(Table{Name: "dbo.big", Key: []string{"id"}, Columns: []Column{{Name: "id", Type: "int"}, {Name: "n", Type: "bigint"}, {Name: "amount", Type: "decimal(18,4)"},
		{Name: "at", Type: "datetime2(7)"}, {Name: "name", Type: "nvarchar(40)"}, {Name: "code", Type: "varchar(10)", Nullable: true}}}))
	must(b, db.EnableTable("dbo.big", Capture{}))
	at := sqltype.FromTime(time.Date(2026, 3, 1, 8, 0, 0, 123456700, time.UTC))
	for i := 0; i < n; i += together {
		_, err := db.Model().Write(context.Background(), func(w *cdc.Writer) error {
			rows := make([]sqltype.Row, 0, together)
			for k := i; k < i+together && k < n; k++ {
				rows = append(rows, sqltype.Row{sqltype.FromInt(int64(k)), sqltype.FromInt(int64(k) * 1000003), sqltype.FromScaled(int64(k)*12345, 4), at, sqltype.FromString(fmt.Sprintf("customer %d ü", k)), sqltype.FromString("abc")})
			}
			return w.Insert("dbo.big", rows...)
		})
		must(b, err)
	}
}

const readBig = `SELECT CONVERT(varchar(22), c.[__$start_lsn], 1) AS _start_lsn, CONVERT(varchar(22), c.[__$seqval], 1) AS _seqval, c.[__$operation] AS _operation,
       c.[__$command_id] AS _command_id, CONVERT(datetime2(3), m.tran_end_time) AS _commit_ts, c.[id], c.[n], c.[amount], c.[at], c.[name], c.[code]
FROM cdc.[dbo_big_CT] AS c
JOIN cdc.lsn_time_mapping AS m ON m.start_lsn = c.[__$start_lsn]
WHERE c.[__$start_lsn] BETWEEN CONVERT(binary(10), @p1, 1) AND CONVERT(binary(10), @p2, 1)
ORDER BY c.[__$start_lsn], c.[__$command_id], c.[__$seqval], c.[__$operation]`

// drain reads all rows without keeping them.
func drain(b testing.TB, conn *sql.DB, stmt string, cols int, args ...any) int {
	b.Helper()
	rows, err := conn.Query(stmt, args...)
	must(b, err)
	defer func() { _ = rows.Close() }()
	vals, ptrs := make([]any, cols), make([]any, cols)
	for i := range vals {
		ptrs[i] = &vals[i]
	}
	n := 0
	for rows.Next() {
		if err := rows.Scan(ptrs...); err != nil { // b.Helper a row would be a twentieth of what is measured
			b.Fatal(err)
		}
		n++
	}
	must(b, rows.Err())
	return n
}

const allLSN = "0xFFFFFFFFFFFFFFFFFFFF"

// BenchmarkChanges reads a change table of a million rows through go-mssqldb in this process.
func BenchmarkChanges(b *testing.B) {
	db, conn := newDatabase(b)
	bigTable(b, db, 1_000_000, 100)
	b.ResetTimer()
	for b.Loop() {
		if n := drain(b, conn, readBig, 11, "0x00000000000000000000", allLSN); n != 1_000_000 {
			b.Fatalf("%d rows", n)
		}
	}
	b.ReportMetric(1e6*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkFirstChange asks for the first row of a range of a million. Giving the rest of the range up is not timed.
func BenchmarkFirstChange(b *testing.B) {
	db, conn := newDatabase(b)
	bigTable(b, db, 1_000_000, 100)
	b.ResetTimer()
	for b.Loop() {
		ctx, cancel := context.WithCancel(context.Background())
		rows, err := conn.QueryContext(ctx, readBig, "0x00000000000000000000", allLSN)
		must(b, err)
		if !rows.Next() {
			b.Fatal(rows.Err())
		}
		b.StopTimer()
		cancel()
		if err := rows.Close(); err != nil && !errors.Is(err, context.Canceled) {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// BenchmarkTable scans a source table of a million rows.
func BenchmarkTable(b *testing.B) {
	db, conn := newDatabase(b)
	bigTable(b, db, 1_000_000, 100)
	b.ResetTimer()
	for b.Loop() {
		if n := drain(b, conn, "SELECT id, n, amount, at, name, code FROM dbo.big", 6); n != 1_000_000 {
			b.Fatalf("%d rows", n)
		}
	}
	b.ReportMetric(1e6*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
