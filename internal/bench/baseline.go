package main

import (
	"bufio"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	mssqldb "github.com/microsoft/go-mssqldb"
	"golang.org/x/sync/errgroup"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

// allChanges is the statement that the source plugin reads changes with, over
// the whole change table.
func allChanges() (tsql.Query, error) {
	q := tsql.Changes{Instance: shopInstance, From: "0x00000000000000000000", To: "0xFFFFFFFFFFFFFFFFFFFF", CommandID: true}
	for _, c := range shopColumns() {
		q.Columns = append(q.Columns, c.Name)
	}
	return q.Query()
}

// wholeTable reads the source table.
const wholeTable = "SELECT * FROM " + shopTable

// driverLoop pulls the rows of a statement through the bare driver, looks at
// none, and counts them.
func driverLoop(ctx context.Context, url, statement string, args ...driver.NamedValue) (n int64, err error) {
	connector, err := mssqldb.NewConnector(url)
	if err != nil {
		return 0, err
	}
	conn, err := connector.Connect(ctx)
	if err != nil {
		return 0, fmt.Errorf("connecting with the bare driver: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	stmt, err := conn.(driver.ConnPrepareContext).PrepareContext(ctx, statement)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, stmt.Close()) }()
	rows, err := stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	values := make([]driver.Value, len(rows.Columns()))
	for {
		err := rows.Next(values)
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		n++
	}
}

// driverChanges reads all changes through the bare driver.
func driverChanges(ctx context.Context, url string) (int64, error) {
	q, err := allChanges()
	if err != nil {
		return 0, err
	}
	args := make([]driver.NamedValue, len(q.Args))
	for i, a := range q.Args {
		args[i] = driver.NamedValue{Name: a.Name, Ordinal: i + 1, Value: a.Value}
	}
	return driverLoop(ctx, url, q.Text, args...)
}

// dataFiles are the Parquet files of a table's folder.
func dataFiles(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no data files in %s", dir)
	}
	return files, err
}

// readFiles reads columns of files with arrow-go alone, as many files at once
// as there are processors; nil means all columns. It passes every batch to
// each, under no lock, when there is one.
func readFiles(ctx context.Context, files []string, columns []int, each func(arrow.RecordBatch)) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	if each != nil {
		g.SetLimit(1)
	}
	for _, path := range files {
		g.Go(func() error {
			f, err := file.OpenParquetFile(path, false)
			if err != nil {
				return err
			}
			defer f.Close()
			r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{BatchSize: 64 << 10}, memory.DefaultAllocator)
			if err != nil {
				return err
			}
			batches, err := r.GetRecordReader(ctx, columns, nil)
			if err != nil {
				return err
			}
			defer batches.Release()
			for batches.Next() {
				if each != nil {
					rec := batches.RecordBatch()
					rec.Retain()
					each(rec)
				}
			}
			if err := batches.Err(); err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			return nil
		})
	}
	return g.Wait()
}

// load reads files into memory.
func load(ctx context.Context, files []string) (batches []arrow.RecordBatch, rows int64, err error) {
	err = readFiles(ctx, files, nil, func(rec arrow.RecordBatch) {
		batches = append(batches, rec)
		rows += rec.NumRows()
	})
	return batches, rows, err
}

// writeParquet writes batches with arrow-go alone into one durable file, with
// the compression that our files have and dictionaries as arrow-go chooses.
func writeParquet(path string, batches []arrow.RecordBatch) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	buf := bufio.NewWriterSize(f, 1<<20)
	props := parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Zstd), parquet.WithCompressionLevel(1),
		parquet.WithVersion(parquet.V2_6), parquet.WithMaxRowGroupLength(1<<20), parquet.WithStoreDecimalAsInteger(true))
	w, err := pqarrow.NewFileWriter(batches[0].Schema(), buf, props, pqarrow.DefaultWriterProps())
	if err != nil {
		return err
	}
	for _, rec := range batches {
		if err := w.WriteBuffered(rec); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	if err := buf.Flush(); err != nil {
		return err
	}
	return f.Sync()
}
