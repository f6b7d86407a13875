package mssql

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

// BenchmarkReadChanges reads a change table into frames of Arrow batches, and
// the same statement through the driver's rows alone, in turn. "ratio" is how
// much of the driver's own rate is left.
func BenchmarkReadChanges(b *testing.B) {
	const total = 100_000
	// -count runs it again in this process, beside the same server.
	db := server.Database(fmt.Sprintf("changes_%d", time.Now().UnixNano()))
	must(b, db.EnableCDC())
	must(b, db.CreateTable(mssqlsim.Table{Name: "dbo.orders", Key: []string{"id"}, Columns: []mssqlsim.Column{
		{Name: "id", Type: "int"}, {Name: "customer", Type: "bigint"}, {Name: "amount", Type: "decimal(18,4)"}, {Name: "price", Type: "money"},
		{Name: "at", Type: "datetime2(7)"}, {Name: "day", Type: "date"}, {Name: "note", Type: "nvarchar(60)"}, {Name: "code", Type: "varchar(20)"},
		{Name: "paid", Type: "bit"}, {Name: "ref", Type: "uniqueidentifier"}, {Name: "weight", Type: "float"}}}))
	must(b, db.EnableTable("dbo.orders", mssqlsim.Capture{}))
	for from := 0; from < total; from += 1000 {
		commit(b, db, func(tx writer) error {
			var errs []error
			for id := from; id < from+1000; id++ {
				errs = append(errs, tx.Insert("dbo.orders", id, int64(id)*7919, fmt.Sprintf("%d.%04d", id%10000, id%9999), "19.9900",
					"2026-03-02T08:15:30.1234567", "2026-03-02", fmt.Sprint("a note about order ", id), fmt.Sprint("C-", id), id%2 == 0, "6F9619FF-8B86-D011-B42D-00C04FC964FF", float64(id)/3))
			}
			return errors.Join(errs...)
		})
	}
	s := open(b, db, nil)
	tab := table(nil, written{"partitions": number1})
	from := start(b, s, tab, "earliest")
	plan := plan(b, s, tab, from, latest(b, s, tab, from))
	spec, _, _, err := decodeRange(plan.Ranges[0])
	must(b, err)
	q := tsql.Changes{Instance: spec.Instance, From: spec.From, To: spec.To, CommandID: true}
	for _, c := range spec.Columns {
		q.Columns = append(q.Columns, c.Source)
	}
	statement, err := q.Query()
	must(b, err)
	c, err := s.pool.open(ctx)
	must(b, err)
	defer s.pool.drop(c)

	var bare, arrow time.Duration
	var rows int64
	b.ReportAllocs()
	for b.Loop() {
		began := time.Now()
		if n := bareRead(b, c, statement); n != total {
			b.Fatalf("%d rows", n)
		}
		bare += time.Since(began)
		began = time.Now()
		f, err := s.Read(ctx, plugin.ReadRequest{Table: tab, Range: plan.Ranges[0]})
		must(b, err)
		for {
			frame, err := f.Recv()
			if errors.Is(err, io.EOF) {
				break
			}
			must(b, err)
			if frame.Batch != nil {
				rows += frame.Batch.Rows
			}
		}
		must(b, f.Close())
		arrow += time.Since(began)
	}
	b.ReportMetric(bare.Seconds()/arrow.Seconds(), "ratio")
	b.ReportMetric(float64(rows)/arrow.Seconds(), "rows/s")
}

// bareRead pulls the driver's rows and looks at none of them.
func bareRead(b *testing.B, c *conn, q tsql.Query) (n int) {
	result, err := c.open(ctx, q)
	must(b, err)
	defer result.Close()
	values := make([]driver.Value, len(result.Columns()))
	for {
		err := result.Next(values)
		if errors.Is(err, io.EOF) {
			return n
		}
		must(b, err)
		n++
	}
}
