package reconcile

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
)

// schemaVersionProperty counts the migrations that a table has had; report
// tables have had none.
const schemaVersionProperty = "mssql_cdc.schema_version"

var (
	stampType = &arrow.TimestampType{Unit: arrow.Microsecond}
	sumType   = &arrow.Decimal128Type{Precision: 38}
)

// reportSchema are the columns of a report, in order.
var reportSchema = arrow.NewSchema([]arrow.Field{
	commented("run_id", arrow.BinaryTypes.String, "Run that wrote the row."),
	commented("run_at", stampType, "When the run began, UTC."),
	commented("silver", arrow.BinaryTypes.String, "Table that was checked."),
	commented("silver_version", arrow.PrimitiveTypes.Int64, "Version of it that was compared."),
	commented("silver_lsn", arrow.BinaryTypes.String, "Position silver stood at: every change up to it is in that version."),
	commented("source_lsn", arrow.BinaryTypes.String, "Newest position of the source before it was counted (buckets) or its rows were read (keys)."),
	commented("bucket_lo", arrow.BinaryTypes.String, "First key of the bucket or chunk, JSON, inclusive; NULL is the open end."),
	commented("bucket_hi", arrow.BinaryTypes.String, "Key it ends before, JSON; NULL is the open end."),
	commented("source_rows", arrow.PrimitiveTypes.Int64, "Buckets: rows at the source."),
	commented("source_key_sum", sumType, "Buckets: sum of the keys at the source; a date counts as days since 1970-01-01. NULL where keys have no sum."),
	commented("silver_rows", arrow.PrimitiveTypes.Int64, "Buckets: rows in silver."),
	commented("silver_key_sum", sumType, "Buckets: sum of the keys in silver."),
	commented("status", arrow.BinaryTypes.String, "Buckets: MATCH, IN_FLIGHT or MISMATCH."),
	commented("hashed", arrow.FixedWidthTypes.Boolean, "Buckets: whether rows were compared too."),
	commented("key", arrow.BinaryTypes.String, "Keys: JSON object of the key columns."),
	commented("failure_type", arrow.BinaryTypes.String, "Keys: MISSING_TARGET, MISSING_SOURCE, RECORD_DIFF, IN_FLIGHT. Chunks: CHUNK_TILING, CHUNK_ROWS, CHUNK_STAMP."),
	commented("detail", arrow.BinaryTypes.String, "Keys: JSON of silver_start_lsn and the columns that differ. Chunks: JSON of snapshot, chunk and what is wrong."),
}, nil)

func commented(name string, t arrow.DataType, comment string) arrow.Field {
	return arrow.Field{Name: name, Type: t, Nullable: true, Metadata: arrow.NewMetadata([]string{"comment"}, []string{comment})}
}

func reportSpec(name string) plugin.TableSpec {
	return plugin.TableSpec{
		Table:       plugin.TableRef{Name: name},
		Schema:      reportSchema,
		Description: "Results of checks of silver tables against their sources: one row per bucket, per key that differs and per finding about a chunked snapshot.",
		Properties:  map[string]string{schemaVersionProperty: "0"},
		Layout:      plugin.LayoutSmall,
	}
}

// reportBatch is how many rows are sent at once.
const reportBatch = 4096

// writeReport appends all rows of the run in one write. A run that has nothing to
// say leaves a row, too: the newest one of a table tells how it stands.
func (r *run) writeReport(ctx context.Context) error {
	if r.settings.report == "" {
		return nil
	}
	spec := reportSpec(r.settings.report)
	id, err := r.checkReport(ctx, spec)
	if err != nil {
		return err
	}
	// Of the table that exists, only that one is changed; apply alone makes one.
	if _, err := r.host.Tables.ApplyTable(ctx, plugin.ApplyTableRequest{Spec: spec, RequireID: id}); err != nil {
		return fmt.Errorf("preparing %s: %w", r.settings.report, err)
	}
	write, err := r.host.Tables.BeginWrite(ctx, plugin.BeginWriteRequest{Table: spec.Table, Mode: plugin.WriteAppend, Schema: reportSchema, BaseVersion: -1})
	if err == nil {
		if err = r.sendReport(ctx, write.WriteID); err != nil {
			// The write is void either way; its own error is the one to tell.
			_ = r.host.Tables.Abort(context.WithoutCancel(ctx), write.WriteID)
		}
	}
	if err != nil {
		return fmt.Errorf("appending the report to %s: %w", r.settings.report, err)
	}
	return nil
}

// checkReport returns the id of the report's table. It finds one that is gone
// since the check was planned, and one that took its name and was made for
// something else: it lacks columns of a report and has others, which would stay
// NULL for ever.
func (r *run) checkReport(ctx context.Context, spec plugin.TableSpec) (id string, err error) {
	states, err := r.host.Tables.GetTables(ctx, plugin.GetTablesRequest{Tables: []plugin.TableRef{spec.Table}})
	if err != nil {
		return "", fmt.Errorf("looking at %s: %w", spec.Table.Name, err)
	}
	if !states[0].Exists {
		return "", diag.Errorf(diag.KindStale, "reconcile.report_gone", "Restore it, or let pipectl apply make it anew: what it held is gone then.",
			"Table %s does not exist any more", spec.Table.Name).At(argReport).Err()
	}
	has := func(s *arrow.Schema, name string) bool {
		return slices.ContainsFunc(s.Fields(), func(f arrow.Field) bool { return strings.EqualFold(f.Name, name) })
	}
	have := states[0].Schema
	foreign := slices.IndexFunc(have.Fields(), func(f arrow.Field) bool { return !has(reportSchema, f.Name) })
	lacking := slices.IndexFunc(reportSchema.Fields(), func(f arrow.Field) bool { return !has(have, f.Name) })
	if foreign < 0 || lacking < 0 {
		return states[0].ID, nil
	}
	return "", diag.Errorf(diag.KindSchemaChanged, "reconcile.report_other", "Give the report a table of its own, under a name that nothing has.",
		"Table %s is no report: it has the column %q, and lacks %q", spec.Table.Name, have.Field(foreign).Name, reportSchema.Field(lacking).Name).At(argReport).Err()
}

func (r *run) sendReport(ctx context.Context, writeID string) error {
	frames := rows.Produce(ctx, reportSchema, func(ctx context.Context, w *rows.Writer) error {
		b := &reportRows{run: r, builder: array.NewRecordBuilder(r.alloc, reportSchema), to: w}
		defer b.builder.Release()
		return b.all(ctx)
	})
	part, err := r.host.Tables.WritePart(ctx, plugin.WritePartRequest{WriteID: writeID}, frames)
	if err != nil {
		return err
	}
	_, err = r.host.Tables.Commit(ctx, plugin.CommitRequest{WriteID: writeID, Tokens: []string{part.Token}})
	return err
}

// reportRow is one row; what it leaves nil is NULL.
type reportRow struct {
	span
	bucket                             *bucket
	source, key, failureType, jsonText string
}

// summary is the row of a run that has no other: of two empty tables, or of a
// later look at keys that are all equal by now.
func (r *run) summary() (reportRow, error) {
	if r.keysCompared == 0 {
		return reportRow{source: r.result.SourceEnd, bucket: &bucket{status: statusMatch}}, nil
	}
	text, err := json.Marshal(struct {
		Keys int64 `json:"keys_equal"`
	}{r.keysCompared})
	if err != nil {
		return reportRow{}, fmt.Errorf("encoding a row of the report: %w", err)
	}
	return reportRow{source: r.rowsEnd, jsonText: string(text)}, nil
}

// reportRows turns rows into batches.
type reportRows struct {
	run     *run
	builder *array.RecordBuilder
	to      *rows.Writer
	n       int
}

func (w *reportRows) all(ctx context.Context) error {
	r := w.run
	for i := range r.buckets {
		b := &r.buckets[i]
		if err := w.add(reportRow{span: b.span, bucket: b, source: r.result.SourceEnd}); err != nil {
			return err
		}
	}
	err := r.eachFinding(ctx, func(key []byte, f finding) error {
		text, err := keyJSON(r.subject.key, key)
		if err != nil {
			return err
		}
		detail, err := f.detail(r.names(f))
		if err != nil {
			return err
		}
		return w.add(reportRow{span: f.span, source: r.rowsEnd, key: text, failureType: f.kind.String(), jsonText: detail})
	})
	if err != nil {
		return err
	}
	for _, c := range r.chunks {
		if err := w.add(reportRow{span: c.span, failureType: c.kind, jsonText: c.detail}); err != nil {
			return err
		}
	}
	if len(r.buckets) == 0 && len(r.chunks) == 0 && r.findings.records == 0 {
		row, err := r.summary()
		if err != nil {
			return err
		}
		if err := w.add(row); err != nil {
			return err
		}
	}
	return w.flush()
}

func (w *reportRows) add(row reportRow) error {
	r := w.run
	text := func(column int, v string) {
		if b := w.builder.Field(column).(*array.StringBuilder); v == "" {
			b.AppendNull()
		} else {
			b.Append(v)
		}
	}
	number := func(column int, v int64) { w.builder.Field(column).(*array.Int64Builder).Append(v) }
	sum := func(column int, v decimal128.Num) { w.builder.Field(column).(*array.Decimal128Builder).Append(v) }
	text(0, r.result.RunID)
	w.builder.Field(1).(*array.TimestampBuilder).Append(arrow.Timestamp(r.at.UnixMicro()))
	text(2, r.req.Silver.Name)
	number(3, r.result.SilverVersion)
	text(4, r.result.SilverApplied)
	text(5, row.source)
	text(6, row.lo)
	text(7, row.hi)
	if b := row.bucket; b != nil {
		number(8, b.source.rows)
		number(10, b.silver.rows)
		if b.summed {
			sum(9, b.source.sum())
			sum(11, b.silver.sum())
		} else {
			w.builder.Field(9).AppendNull()
			w.builder.Field(11).AppendNull()
		}
		text(12, b.status)
		w.builder.Field(13).(*array.BooleanBuilder).Append(b.hashed)
	} else {
		for column := 8; column <= 13; column++ {
			w.builder.Field(column).AppendNull()
		}
	}
	text(14, row.key)
	text(15, row.failureType)
	text(16, row.jsonText)
	if w.n++; w.n == reportBatch {
		return w.flush()
	}
	return nil
}

func (w *reportRows) flush() error {
	w.n = 0
	batch := w.builder.NewRecordBatch()
	defer batch.Release()
	return w.to.Write(batch)
}
