package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/gocty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// sourceSession is one session of the source role. It keeps nothing.
type sourceSession struct {
	db     *Database
	limits plugin.Limits
}

// Open starts a session. The object body of a table names it: {object = "dbo.orders"}.
func (d *Database) Open() plugin.Source {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &sourceSession{db: d, limits: d.limits}
}

func (s *sourceSession) Limits() plugin.Limits { return s.limits }
func (s *sourceSession) Close() error          { return nil }

// find returns the table that a request means.
func (s *sourceSession) find(t plugin.SourceTable) (*sourceTable, error) {
	name := textAttribute(t.Object, "object")
	found, ok := s.db.tables[name]
	if !ok {
		d := diag.Errorf(diag.KindConfiguration, "memory.no_table", "", "The database has no table %q", name).At("object")
		d.Address = t.Address
		return nil, d.Err()
	}
	if len(t.Key) == 0 {
		return found, nil
	}
	keyed := *found
	keyed.key = t.Key
	return &keyed, nil
}

// textAttribute reads a string attribute of a body, "" when it is absent.
func textAttribute(body cty.Value, name string) string {
	if body == cty.NilVal || body.IsNull() || !body.Type().HasAttribute(name) {
		return ""
	}
	v := body.GetAttr(name)
	if v.IsNull() || v.Type() != cty.String {
		return ""
	}
	return v.AsString()
}

func intAttribute(body cty.Value, name string, standard int) int {
	if body == cty.NilVal || body.IsNull() || !body.Type().HasAttribute(name) || body.GetAttr(name).IsNull() {
		return standard
	}
	var n int
	if err := gocty.FromCtyValue(body.GetAttr(name), &n); err != nil {
		return standard
	}
	return n
}

func (s *sourceSession) Inspect(_ context.Context, req plugin.InspectRequest) (plugin.InspectResponse, error) {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	out := plugin.InspectResponse{Identity: s.db.identity, Alias: s.db.alias, Display: "memory " + s.db.identity, Newest: s.db.position(len(s.db.log))}
	for _, table := range req.Tables {
		info := plugin.TableInfo{Address: table.Address, RowsEstimate: -1, Pending: -1}
		t, err := s.find(table)
		if err != nil {
			info.Object = textAttribute(table.Object, "object")
			info.Diagnostics = diag.FromError(err)
			out.Tables = append(out.Tables, info)
			continue
		}
		columns, err := readColumns(t, table, nil)
		if err != nil {
			info.Diagnostics = diag.FromError(err)
		} else {
			info.Schema = rowSchema(t, columns)
		}
		info.Object, info.Identity, info.Key = t.name, t.identity, t.key
		info.Instances = []string{t.instance}
		info.RowsEstimate = int64(len(s.db.current(t)))
		if t.low <= len(s.db.log) {
			info.Oldest = s.db.position(t.low)
		}
		if since, ok := req.Since[table.Address]; ok {
			pending := int64(len(s.db.log) - s.db.atOrBefore(since.Text))
			if req.PendingLimit > 0 {
				pending = min(pending, req.PendingLimit)
			}
			info.Pending = pending
			if err := s.checkEntry(since); err != nil {
				info.Diagnostics = append(info.Diagnostics, diag.FromError(err)...)
				info.Schema = nil
			}
		}
		out.Tables = append(out.Tables, info)
	}
	return out, nil
}

func (s *sourceSession) Start(_ context.Context, req plugin.StartRequest) (plugin.Position, error) {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	t, err := s.find(req.Table)
	if err != nil {
		return plugin.Position{}, err
	}
	switch req.From {
	case "", "earliest":
		return plugin.Position{Text: before(t.low)}, nil
	case "latest":
		return s.stamp(t), nil
	}
	if n := s.db.atOrBefore(req.From); n > 0 && lsn(n) == req.From {
		return s.db.position(n), nil
	}
	return plugin.Position{Text: req.From}, nil
}

// stamp is the newest position, but never one below the table's first.
func (s *sourceSession) stamp(t *sourceTable) plugin.Position {
	if newest := s.db.position(len(s.db.log)); newest.Text >= before(t.created+1) {
		return newest
	}
	return plugin.Position{Text: before(t.created + 1)}
}

func (s *sourceSession) Stamp(_ context.Context, table plugin.SourceTable) (plugin.Position, error) {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	t, err := s.find(table)
	if err != nil {
		return plugin.Position{}, err
	}
	return s.stamp(t), nil
}

// checkEntry finds a source that went back in time: a stored position with a
// commit time, not below the lowest low watermark, must still be an entry of
// the log with that time.
func (s *sourceSession) checkEntry(p plugin.Position) error {
	if p.IsZero() || !p.HasCommit {
		return nil
	}
	lowest := len(s.db.log) + 1
	for _, t := range s.db.tables {
		lowest = min(lowest, t.low)
	}
	n := s.db.atOrBefore(p.Text)
	if p.Text < lsn(lowest) && n < len(s.db.log) {
		return nil
	}
	if n == 0 || s.db.position(n) != p {
		return diag.Errorf(diag.KindRewound, "memory.rewound", "", "Position %s is no longer in the log of %s", p.Text, s.db.identity).Err()
	}
	return nil
}

func (s *sourceSession) Latest(_ context.Context, req plugin.LatestRequest) (plugin.LatestResponse, error) {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	if _, err := s.find(req.Table); err != nil {
		return plugin.LatestResponse{}, err
	}
	if err := s.checkEntry(req.After); err != nil {
		return plugin.LatestResponse{}, err
	}
	out := plugin.LatestResponse{End: req.After, Newest: s.db.position(len(s.db.log))}
	if req.CaptureLag {
		out.CaptureLag = new(time.Duration(0)) // a commit is in the log at once
	}
	upper := len(s.db.log)
	if !req.Until.IsZero() {
		upper = s.db.atOrBefore(req.Until.Text)
	}
	first := s.db.atOrBefore(req.After.Text)
	if upper <= first {
		return out, nil
	}
	if req.MaxCommits > 0 {
		upper = min(upper, first+req.MaxCommits)
	}
	out.End = s.db.position(upper)
	return out, nil
}

// piece is what a Range holds.
type piece struct {
	From, To int // commits, both included
	Last     bool
	// Start and End are the batch's.
	Start, End string
}

func (s *sourceSession) PlanBatch(_ context.Context, req plugin.PlanBatchRequest) (plugin.BatchPlan, error) {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	t, err := s.find(req.Table)
	if err != nil {
		return plugin.BatchPlan{}, err
	}
	if err := s.checkEntry(req.Start); err != nil {
		return plugin.BatchPlan{}, err
	}
	columns, err := readColumns(t, req.Table, nil)
	if err != nil {
		return plugin.BatchPlan{}, err
	}
	out := plugin.BatchPlan{Schema: rowSchema(t, columns)}
	from, to := s.db.atOrBefore(req.Start.Text)+1, s.db.atOrBefore(req.End.Text)
	if s.lost(t, req.Start.Text) {
		if !req.SkipLost {
			return plugin.BatchPlan{}, t.lossError(req.Start.Text)
		}
		skipped := min(t.low-1, to)
		out.Events = append(out.Events, plugin.Event{Name: "data_skipped", Position: plugin.Position{Text: before(t.low)},
			Detail: fmt.Sprintf(`{"from": %q, "to": %q, "certain": true}`, req.Start.Text, before(t.low))})
		out.Warnings = append(out.Warnings, diag.Warningf("memory.skipped", "", "changes of %s from %s up to %s are lost and were skipped", t.name, req.Start.Text, before(t.low)))
		from = skipped + 1
	}
	for _, e := range t.events {
		if e.Position.Text > req.Start.Text && e.Position.Text <= req.End.Text {
			out.Events = append(out.Events, e)
		}
	}
	if from > to {
		return out, nil
	}
	parts := min(max(intAttribute(req.Table.Read, "partitions", 1), 1), to-from+1)
	for i := range parts {
		p := piece{
			From: from + i*(to-from+1)/parts, To: from + (i+1)*(to-from+1)/parts - 1,
			Last: i == parts-1, Start: req.Start.Text, End: req.End.Text,
		}
		data, err := json.Marshal(p)
		if err != nil {
			return plugin.BatchPlan{}, fmt.Errorf("encoding a range: %w", err)
		}
		out.Ranges = append(out.Ranges, data)
	}
	return out, nil
}

// lost reports whether a change right after the position was purged.
func (s *sourceSession) lost(t *sourceTable, position string) bool {
	return position < before(t.low) && s.db.atOrBefore(position) < t.low-1
}

func (t *sourceTable) lossError(start string) error {
	d := diag.Errorf(diag.KindDataLoss, "memory.data_loss", "", "Changes of %s after %s no longer exist", t.name, start)
	d.Data = map[string]string{"capture_instance": t.instance, "lsn": start, "oldest": lsn(t.low)}
	return d.Err()
}

func (s *sourceSession) Lost(_ context.Context, req plugin.LostRequest) (plugin.LostResponse, error) {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	t, err := s.find(req.Table)
	if err != nil {
		return plugin.LostResponse{}, err
	}
	out := plugin.LostResponse{Oldest: plugin.Position{Text: before(t.low)}}
	if t.low <= len(s.db.log) {
		out.Oldest = s.db.position(t.low)
	}
	for _, p := range req.Positions {
		out.Lost = append(out.Lost, s.lost(t, p.Text))
	}
	return out, nil
}

// readColumns chooses captured columns: those not dropped by a rule and, when
// names is not nil, named in it. A name that the table lacks is an error.
func readColumns(t *sourceTable, table plugin.SourceTable, names []string) ([]int, error) {
	dropped := map[string]bool{}
	for _, rule := range table.Columns {
		if len(t.schema.FieldIndices(rule.Name)) == 0 {
			d := diag.Errorf(diag.KindConfiguration, "memory.no_column", "", "Table %s has no column %q", t.name, rule.Name).At("columns", rule.Name)
			d.Address = table.Address
			return nil, d.Err()
		}
		if rule.As != "" {
			return nil, diag.Errorf(diag.KindUnsupported, "memory.as", "", "The memory source reads no column as another type").At("columns", rule.Name, "as").Err()
		}
		dropped[rule.Name] = rule.Drop
	}
	var out []int
	for i, f := range t.schema.Fields() {
		if !dropped[f.Name] && (names == nil || slices.Contains(names, f.Name)) {
			out = append(out, i)
		}
	}
	return out, nil
}

// rowSchema is the shape of rows: metadata columns, then the chosen ones.
func rowSchema(t *sourceTable, columns []int) *arrow.Schema {
	fields := metadataFields()
	for _, c := range columns {
		fields = append(fields, t.schema.Field(c))
	}
	return arrow.NewSchema(fields, nil)
}

// metadataFields are the columns that every row begins with.
func metadataFields() []arrow.Field {
	return []arrow.Field{
		{Name: plugin.ColumnCaptureInstance, Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: plugin.ColumnStartLSN, Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: plugin.ColumnSeqval, Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: plugin.ColumnOperation, Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: plugin.ColumnCommandID, Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: plugin.ColumnCommitTS, Type: &arrow.TimestampType{Unit: arrow.Microsecond}, Nullable: true},
	}
}
