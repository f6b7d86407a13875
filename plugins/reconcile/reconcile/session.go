package reconcile

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/google/uuid"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// session is a session of check "reconcile". A run goes through these steps,
// in this order:
//
//	read the ledger, then pin silver     (so silver holds every change up to the position read)
//	read the source's newest position, then count the source
//	wait for capture to pass that count, where asked to, and look for keys in flight, if counts differ
//	read the newest position again, then the rows of the chosen buckets, once
//	wait for capture, and look for keys in flight again, if rows differ
//	check the records of the newest chunked snapshot
//	append the report
//
// It writes nothing but the report, so a run that dies is simply run again.
type session struct {
	budget   int64
	spillDir string
	alloc    memory.Allocator
	now      func() time.Time
}

var _ plugin.Check = (*session)(nil)

func (s *session) Close() error { return nil }

// bookkeeping are the columns of rows that are not captured ones.
var bookkeeping = []string{
	plugin.ColumnCaptureInstance, plugin.ColumnStartLSN, plugin.ColumnSeqval, plugin.ColumnOperation,
	plugin.ColumnCommandID, plugin.ColumnCommitTS, plugin.ColumnBatchID, plugin.ColumnSnapshot, plugin.ColumnChunk,
}

// subject is what a request compares: the key, and all columns that both
// sides can hold, as the source's schema has them. (A source leaves computed
// columns out of its schema, or reads them as NULL everywhere.)
type subject struct {
	key, columns []kind
}

func subjectOf(req plugin.CheckRequest) (subject, error) {
	var s subject
	if req.SourceSchema == nil {
		return s, diag.Errorf(diag.KindInternal, "reconcile.no_schema", "", "The shape of %s is not known", req.Object).Err()
	}
	if len(req.Key) == 0 {
		return s, diag.Errorf(diag.KindConfiguration, "reconcile.no_key",
			"Name the columns that identify a row in the table block: key = [\"...\"].",
			"%s has no key: the source table has no unique index", req.Object).Err()
	}
	found := map[string]kind{}
	for _, f := range req.SourceSchema.Fields() {
		if slices.Contains(bookkeeping, f.Name) {
			continue
		}
		k, err := kindOf(f)
		if err != nil {
			return s, err
		}
		found[f.Name] = k
		s.columns = append(s.columns, k)
	}
	var missing []string
	for _, name := range req.Key {
		k, ok := found[name]
		if !ok {
			missing = append(missing, strconv.Quote(name))
		}
		s.key = append(s.key, k)
	}
	if len(missing) > 0 {
		return s, diag.Errorf(diag.KindConfiguration, "reconcile.key_not_captured",
			"A key may only name columns that are captured, spelled as at the source. Capture the columns, or name another key in the table block.",
			"Key columns of %s are not captured: %s", req.Object, strings.Join(missing, ", ")).Err()
	}
	return s, nil
}

// rangeKey returns how the key is counted in buckets; false when it can only
// be counted as a whole.
func (s subject) rangeKey() (rangeKey, bool) {
	if len(s.key) != 1 {
		return rangeKey{}, false
	}
	id := s.key[0].typ.ID()
	return rangeKey{kind: s.key[0], date: id == arrow.DATE32}, arrow.IsInteger(id) || id == arrow.DATE32
}

// PlanCheck tells from estimates how much would be compared, and which table
// the report needs. It scans nothing.
func (s *session) PlanCheck(ctx context.Context, req plugin.CheckRequest, host plugin.Host) (plugin.CheckPlan, error) {
	var plan plugin.CheckPlan
	set, faults := parseSettings(req.Body)
	if err := faults.Err(); err != nil {
		return plan, err
	}
	subject, err := subjectOf(req)
	if err != nil {
		return plan, err
	}
	if set.report != "" {
		plan.Tables = []plugin.TableSpec{reportSpec(set.report)}
	}
	rows, err := estimate(ctx, req, host)
	if err != nil {
		return plan, err
	}
	_, buckets := subject.rangeKey()
	plan.Summary = summary(rows, buckets, set)
	return plan, nil
}

// estimate is the number of rows that will be compared, -1 when unknown:
// silver's by its statistics, else the source's by its metadata.
func estimate(ctx context.Context, req plugin.CheckRequest, host plugin.Host) (int64, error) {
	states, err := host.Tables.GetTables(ctx, plugin.GetTablesRequest{Tables: []plugin.TableRef{req.Silver}})
	if err != nil {
		return 0, fmt.Errorf("looking at %s: %w", req.Silver.Name, err)
	}
	if states[0].Exists && states[0].Rows > 0 || host.Source == nil {
		return states[0].Rows, nil
	}
	info, err := host.Source.Inspect(ctx, plugin.InspectRequest{Tables: []plugin.SourceTable{req.Source}})
	if err != nil {
		return 0, fmt.Errorf("looking at %s: %w", req.Object, err)
	}
	return info.Tables[0].RowsEstimate, nil
}

// summary says how much is compared: "2 buckets, 1 % compared row by row".
func summary(rows int64, buckets bool, set settings) string {
	compared := "counts only"
	if set.sample > 0 {
		compared = strconv.FormatFloat(set.sample*100, 'g', 6, 64) + " % compared row by row"
	}
	pieces := (max(rows, 0) + set.bucketRows - 1) / set.bucketRows
	switch {
	case rows < 0 && buckets:
		return "buckets of " + strconv.FormatInt(set.bucketRows, 10) + " rows, " + compared
	case buckets:
		return counted(pieces, "bucket") + ", " + compared
	case rows < 0:
		return "one count of all rows, " + compared
	}
	return "one count of all rows, " + compared + " in " + counted(max(pieces, 1), "range")
}

func counted(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.FormatInt(n, 10) + " " + noun + "s"
}

// RunCheck compares.
func (s *session) RunCheck(ctx context.Context, req plugin.CheckRequest, host plugin.Host, events plugin.CheckEvents) (plugin.CheckResult, error) {
	r := &run{
		session: s, req: req, host: host, events: events, at: s.now().UTC(),
		result: plugin.CheckResult{RunID: uuid.NewString(), Failures: map[string]int64{}, SilverVersion: -1},
	}
	var faults diag.List
	if r.settings, faults = parseSettings(req.Body); faults.HasErrors() {
		return r.result, faults.Err()
	}
	if host.Source == nil {
		return r.result, diag.Errorf(diag.KindInternal, "reconcile.no_source", "", "The check of %s was given no source", req.Silver.Name).Err()
	}
	var err error
	if r.subject, err = subjectOf(req); err != nil {
		return r.result, err
	}
	r.random = r.settings.chooser()
	r.findings = newSpool(s.spillDir, s.budget/16, 0)
	defer r.findings.close()
	err = r.all(ctx)
	return r.result, err
}
