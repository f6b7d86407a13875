package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	_ "github.com/microsoft/go-mssqldb"
	"github.com/pipectl/pipectl/core/quantity"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/cdc"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

const (
	salesTable    = "dbo.sales"
	salesInstance = "dbo_sales"
	// everyLSN and zeroLSN are the ends of a range that holds all.
	zeroLSN  = "0x00000000000000000000"
	everyLSN = "0xFFFFFFFFFFFFFFFFFFFF"
)

// salesColumns are the captured columns of the table whose changes are read back.
func salesColumns() []mssqlsim.Column {
	return []mssqlsim.Column{
		{Name: "id", Type: "int"}, {Name: "n", Type: "bigint"}, {Name: "amount", Type: "decimal(18,4)"},
		{Name: "at", Type: "datetime2(7)"}, {Name: "name", Type: "nvarchar(40)"}, {Name: "code", Type: "varchar(10)", Nullable: true},
	}
}

// sales makes a captured table and inserts n rows in transactions of a hundred.
func sales(ctx context.Context, db *mssqlsim.Database, n int64) error {
	if err := db.EnableCDC(); err != nil {
		return err
	}
	if err := db.CreateTable(mssqlsim.Table{Name: salesTable, Key: []string{"id"}, Columns: salesColumns()}); err != nil {
		return err
	}
	if err := db.EnableTable(salesTable, mssqlsim.Capture{}); err != nil {
		return err
	}
	const together = 100
	at := sqltype.FromTime(time.Date(2026, 3, 1, 8, 0, 0, 123456700, time.UTC))
	for i := int64(0); i < n; i += together {
		rows := make([]sqltype.Row, 0, together)
		for k := i; k < min(i+together, n); k++ {
			rows = append(rows, sqltype.Row{sqltype.FromInt(k), sqltype.FromInt(k * 1_000_003), sqltype.FromScaled(k*12_345, 4), at,
				sqltype.FromString(fmt.Sprintf("customer %d ü", k)), sqltype.FromString("abc")})
		}
		if _, err := db.Model().Write(ctx, func(w *cdc.Writer) error { return w.Insert(salesTable, rows...) }); err != nil {
			return fmt.Errorf("inserting sales: %w", err)
		}
	}
	return nil
}

// sixColumns is a read of changes as somebody with the driver alone would write it.
const sixColumns = `SELECT c.[__$start_lsn], c.[__$operation], c.[id], c.[amount], c.[at], c.[name]
FROM cdc.[` + salesInstance + `_CT] AS c
WHERE c.[__$start_lsn] BETWEEN CONVERT(binary(10), @from, 1) AND CONVERT(binary(10), @to, 1)
ORDER BY c.[__$start_lsn], c.[__$command_id], c.[__$seqval], c.[__$operation]`

// readHalves reads the six columns by two connections at once, the changes up to
// the LSN half, as text, by one and those behind it by the other.
func readHalves(ctx context.Context, db *sql.DB, half string) (int64, error) {
	var behind string
	if err := db.QueryRowContext(ctx, "SELECT CONVERT(varchar(22), sys.fn_cdc_increment_lsn(CONVERT(binary(10), @half, 1)), 1)", sql.Named("half", half)).Scan(&behind); err != nil {
		return 0, err
	}
	var n [2]int64
	var errs [2]error
	var readers sync.WaitGroup
	for i, bounds := range [2][2]string{{zeroLSN, half}, {behind, everyLSN}} {
		readers.Go(func() { n[i], errs[i] = readSix(ctx, db, bounds[0], bounds[1]) })
	}
	readers.Wait()
	return n[0] + n[1], errors.Join(errs[:]...)
}

// halfOf is the LSN up to which half of the changes are, as text.
func halfOf(ctx context.Context, db *sql.DB, n int64) (lsn string, err error) {
	err = db.QueryRowContext(ctx, `SELECT CONVERT(varchar(22), MAX(h.[__$start_lsn]), 1)
FROM (SELECT TOP (@n) c.[__$start_lsn] FROM cdc.[`+salesInstance+`_CT] AS c ORDER BY c.[__$start_lsn]) AS h`, sql.Named("n", n/2)).Scan(&lsn)
	return lsn, err
}

// readSix reads the six columns of changes in a range of LSNs into variables of
// Go and says how many rows there were.
func readSix(ctx context.Context, db *sql.DB, from, to string) (n int64, err error) {
	rows, err := db.QueryContext(ctx, sixColumns, sql.Named("from", from), sql.Named("to", to))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var lsn, amount, name sql.RawBytes
	var operation, id int64
	var at time.Time
	for rows.Next() {
		if err := rows.Scan(&lsn, &operation, &id, &amount, &at, &name); err != nil {
			return n, err
		}
		n++
	}
	return n, rows.Err()
}

// sourceStatement is what the source sends for all changes of all columns.
func sourceStatement() (tsql.Query, error) {
	q := tsql.Changes{Instance: salesInstance, From: zeroLSN, To: everyLSN, CommandID: true}
	for _, c := range salesColumns() {
		q.Columns = append(q.Columns, c.Name)
	}
	return q.Query()
}

func queryAll(ctx context.Context, db *sql.DB, q tsql.Query) (*sql.Rows, error) {
	args := make([]any, len(q.Args))
	for i, a := range q.Args {
		args[i] = sql.Named(a.Name, a.Value)
	}
	return db.QueryContext(ctx, q.Text, args...)
}

// readSource reads the source's statement.
func readSource(ctx context.Context, db *sql.DB, q tsql.Query) (n int64, err error) {
	rows, err := queryAll(ctx, db, q)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var lsn, seqval, amount, name, code sql.RawBytes
	var operation, command, id, number int64
	var commit, at time.Time
	for rows.Next() {
		if err := rows.Scan(&lsn, &seqval, &operation, &command, &commit, &id, &number, &amount, &at, &name, &code); err != nil {
			return n, err
		}
		n++
	}
	return n, rows.Err()
}

// firstRow is how long the first row of the source's statement takes; giving up the rest does not count.
func firstRow(ctx context.Context, db *sql.DB, q tsql.Query) (took time.Duration, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	began := time.Now()
	rows, err := queryAll(ctx, db, q)
	if err != nil {
		return 0, err
	}
	ok := rows.Next()
	took = time.Since(began)
	err = rows.Err()
	cancel()
	if cerr := rows.Close(); cerr != nil && !errors.Is(cerr, context.Canceled) {
		err = errors.Join(err, cerr)
	}
	if !ok {
		err = errors.Join(err, errRows)
	}
	return took, err
}

// several measures something so many times and gives the median, in seconds.
func several(times int, measure func() (time.Duration, error)) (float64, error) {
	var took []float64
	for range times {
		d, err := measure()
		if err != nil {
			return 0, err
		}
		took = append(took, d.Seconds())
	}
	return median(took), nil
}

// simulated is how fast the simulator is, so that it can be told from what is
// measured against it. It is a process of its own: this one is the driver, and
// what bounds the reads.
func (b *bench) simulated(ctx context.Context) (err error) {
	sim, err := b.startSimulator(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sim.close()) }()
	// This process keeps nothing of what it reads, so that the collector would begin
	// anew with every four megabytes that the driver throws away.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	n := b.size.read
	if err := sim.do(fmt.Sprintf("sales %d", n)); err != nil {
		return err
	}
	db, err := sql.Open("sqlserver", sim.url+"&packet+size=32767") // as the source does
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	q, err := sourceStatement()
	if err != nil {
		return err
	}
	read := func(name string, f func() (int64, error)) (float64, error) {
		return several(b.size.reads, func() (time.Duration, error) {
			return timed(func() error {
				got, err := f()
				if err != nil {
					return err
				}
				return wantRows(name, got, n)
			})
		})
	}
	six, err := read("a read of six columns", func() (int64, error) { return readSix(ctx, db, zeroLSN, everyLSN) })
	if err != nil {
		return err
	}
	made, err := b.cannedRead(ctx, read)
	if err != nil {
		return err
	}
	b.add(figure{name: fmt.Sprintf("simulator: six columns of %s changes over loopback, one connection", quantity.Grouped(n)), ours: rate(n, six), baseline: rate(n, made) + " of canned rows",
		ratio: fmt.Sprintf("%.2f of canned rows", made/six), aim: ">= 400,000 rows/s", met: float64(n)/six >= 400_000})
	half, err := halfOf(ctx, db, n)
	if err != nil {
		return err
	}
	both, err := read("a read of six columns by two connections", func() (int64, error) { return readHalves(ctx, db, half) })
	if err != nil {
		return err
	}
	b.add(figure{name: "simulator: the same by two connections, driver and simulator on two cores", ours: rate(n, both), baseline: rate(n, six) + " by one", ratio: fmt.Sprintf("%.2f of one", six/both),
		aim: ">= 400,000 rows/s", met: float64(n)/both >= 400_000})
	eleven, err := read("the source's statement", func() (int64, error) { return readSource(ctx, db, q) })
	if err != nil {
		return err
	}
	b.add(figure{name: "simulator: eleven columns, as the source asks", ours: rate(n, eleven), baseline: seconds(eleven) + " for all",
		ratio: fmt.Sprintf("%.2f of six", six/eleven)})
	first, err := several(b.size.reads, func() (time.Duration, error) { return firstRow(ctx, db, q) })
	if err != nil {
		return err
	}
	b.add(figure{name: "simulator: first row of that range", ours: millis(first), baseline: seconds(eleven) + " for all",
		ratio: fmt.Sprintf("%.4f x all", first/eleven), aim: "<= 10 ms", met: first <= 0.010})
	return nil
}

// cannedRead is how long the same loop over the same columns takes where the
// rows were made beforehand.
func (b *bench) cannedRead(ctx context.Context, read func(string, func() (int64, error)) (float64, error)) (took float64, err error) {
	server, err := b.startServer(ctx, cannedServer)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, server.close()) }()
	if err := server.do(fmt.Sprintf("rows %d", b.size.read)); err != nil {
		return 0, err
	}
	db, err := sql.Open("sqlserver", server.url+"&packet+size=32767")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return read("a read of canned rows", func() (int64, error) { return readSix(ctx, db, zeroLSN, everyLSN) })
}

func millis(s float64) string { return fmt.Sprintf("%.1f ms", s*1e3) }
