package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// session is one session of the tables role. Its open writes die with it.
type session struct {
	lake   *Lake
	writes map[string]*write
	opened int
	limits plugin.Limits
}

// Open starts a session that serves up to 8 parts at once.
func (l *Lake) Open() plugin.Tables {
	return &session{lake: l, writes: map[string]*write{}, limits: plugin.Limits{MaxReads: 8, MaxParts: 8}}
}

func (s *session) Limits() plugin.Limits { return s.limits }

func (s *session) Close() error {
	s.lake.mu.Lock()
	defer s.lake.mu.Unlock()
	clear(s.writes)
	return nil
}

func (s *session) GetTables(_ context.Context, req plugin.GetTablesRequest) ([]plugin.TableState, error) {
	s.lake.mu.Lock()
	defer s.lake.mu.Unlock()
	out := make([]plugin.TableState, 0, len(req.Tables))
	for _, ref := range req.Tables {
		state := plugin.TableState{Table: ref, Version: -1, Rows: -1, Bytes: -1, Writable: s.lake.ReadOnly}
		if t, ok := s.lake.tables[ref.Name]; ok {
			v := t.newest()
			state.Exists, state.ID, state.Version = true, t.id, v.commit.Version
			state.Schema, state.Description, state.Properties = v.schema, v.description, maps.Clone(v.properties)
			state.Rows, state.Txns, state.TxnsExpire = int64(len(v.rows)), map[string]int64{}, t.forgets
			for _, app := range req.AppIDs {
				if n, ok := v.txns[app]; ok {
					state.Txns[app] = n
				}
			}
		}
		out = append(out, state)
	}
	return out, nil
}

func (s *session) PlanTable(_ context.Context, spec plugin.TableSpec) (plugin.TablePlan, error) {
	s.lake.mu.Lock()
	defer s.lake.mu.Unlock()
	t, ok := s.lake.tables[spec.Table.Name]
	if !ok {
		return plugin.TablePlan{Action: plugin.TableCreate, Version: -1}, checkSpec(spec)
	}
	_, changes, err := converge(t.newest(), spec)
	if err != nil {
		return plugin.TablePlan{}, err
	}
	return plugin.TablePlan{Action: action(changes), Changes: changes, ID: t.id, Version: t.newest().commit.Version}, nil
}

func (s *session) ApplyTable(_ context.Context, req plugin.ApplyTableRequest) (plugin.ApplyTableResult, error) {
	s.lake.mu.Lock()
	defer s.lake.mu.Unlock()
	spec := req.Spec
	t, ok := s.lake.tables[spec.Table.Name]
	have := ""
	if ok {
		have = t.id
	}
	if err := requireID(spec.Table.Name, req.RequireID, have); err != nil {
		return plugin.ApplyTableResult{}, err
	}
	if err := s.writable(spec.Table.Name); err != nil {
		return plugin.ApplyTableResult{}, err
	}
	if !ok {
		if err := checkSpec(spec); err != nil {
			return plugin.ApplyTableResult{}, err
		}
		t = &table{id: s.lake.newID()}
		s.lake.tables[spec.Table.Name] = t
		v := version{schema: spec.Schema, description: spec.Description, properties: maps.Clone(spec.Properties)}
		return plugin.ApplyTableResult{Action: plugin.TableCreate, ID: t.id, Version: s.lake.commit(t, v, "CREATE TABLE", "", false, 0)}, nil
	}
	next, changes, err := converge(t.newest(), spec)
	if err != nil {
		return plugin.ApplyTableResult{}, err
	}
	if len(changes) > 0 {
		s.lake.commit(t, next, "ALTER TABLE", "", false, 0)
	}
	return plugin.ApplyTableResult{Action: action(changes), ID: t.id, Version: t.newest().commit.Version}, nil
}

func (s *session) writable(name string) error {
	if s.lake.ReadOnly == "" {
		return nil
	}
	return diag.Errorf(diag.KindPermission, "memory.read_only", "", "Table %q cannot be written: %s", name, s.lake.ReadOnly).Err()
}

func action(changes []string) plugin.TableAction {
	if len(changes) == 0 {
		return plugin.TableNone
	}
	return plugin.TableAlter
}

func checkSpec(spec plugin.TableSpec) error {
	if spec.Schema == nil || spec.Schema.NumFields() == 0 {
		return diag.Errorf(diag.KindInternal, "memory.no_columns", "", "The spec of table %q has no columns", spec.Table.Name).Err()
	}
	return nil
}

// converge returns a version with what the spec has and the table lacks.
func converge(v version, spec plugin.TableSpec) (version, []string, error) {
	fields, changes, err := mergeFields(spec.Table.Name, v.schema, spec.Schema, len(v.rows) == 0 && isOurs(v, spec))
	if err != nil {
		return v, nil, err
	}
	for i, f := range fields {
		want := spec.Schema.FieldIndices(f.Name)
		if len(want) == 0 || i >= v.schema.NumFields() {
			continue
		}
		comment, _ := spec.Schema.Field(want[0]).Metadata.GetValue("comment")
		if have, _ := f.Metadata.GetValue("comment"); comment != "" && have != comment {
			fields[i].Metadata = arrow.NewMetadata([]string{"comment"}, []string{comment})
			changes = append(changes, "comment on column "+f.Name)
		}
	}
	next := v
	next.schema = arrow.NewSchema(fields, nil)
	next.rows = widen(v.rows, len(fields))
	if spec.Description != "" && spec.Description != v.description {
		next.description = spec.Description
		changes = append(changes, "description")
	}
	next.properties = maps.Clone(v.properties)
	for _, key := range slices.Sorted(maps.Keys(spec.Properties)) {
		follows := slices.ContainsFunc(spec.Converge, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
		if follows && v.properties[key] != spec.Properties[key] {
			if next.properties == nil {
				next.properties = map[string]string{}
			}
			next.properties[key] = spec.Properties[key]
			changes = append(changes, fmt.Sprintf("set property %s = %s", key, spec.Properties[key]))
		}
	}
	return next, changes, nil
}

// isOurs reports whether the table shows a property that converges.
func isOurs(v version, spec plugin.TableSpec) bool {
	for key := range v.properties {
		if slices.ContainsFunc(spec.Converge, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
			return true
		}
	}
	return false
}

// mergeFields returns the fields of have and then those that only want has. A
// column of another type takes it when retype is set, else it is an error.
func mergeFields(name string, have, want *arrow.Schema, retype bool) ([]arrow.Field, []string, error) {
	fields := slices.Clone(have.Fields())
	var changes []string
	for _, f := range want.Fields() {
		index := have.FieldIndices(f.Name)
		if len(index) == 0 {
			fields = append(fields, f)
			changes = append(changes, fmt.Sprintf("add column %s %s", f.Name, f.Type))
			continue
		}
		if old := have.Field(index[0]).Type; !arrow.TypeEqual(old, f.Type) {
			if retype {
				fields[index[0]].Type = f.Type
				changes = append(changes, fmt.Sprintf("column %s %s in place of %s", f.Name, f.Type, old))
				continue
			}
			return nil, nil, diag.Errorf(diag.KindSchemaChanged, "memory.column_type", "",
				"Column %q of table %q is %s, not %s", f.Name, name, old, f.Type).Err()
		}
	}
	return fields, changes, nil
}

// widen gives rows NULLs for columns added at the end.
func widen(rows [][]cell, columns int) [][]cell {
	if len(rows) == 0 || len(rows[0]) == columns {
		return rows
	}
	out := make([][]cell, len(rows))
	for i, row := range rows {
		out[i] = append(slices.Clone(row), make([]cell, columns-len(row))...)
	}
	return out
}

func (s *session) History(_ context.Context, req plugin.HistoryRequest) ([]plugin.Commit, error) {
	s.lake.mu.Lock()
	defer s.lake.mu.Unlock()
	if _, err := s.lake.existing(req.Table.Name); err != nil {
		return nil, err
	}
	out := s.lake.history(req.Table.Name, req.After)
	if req.Limit > 0 && len(out) > req.Limit {
		out = out[len(out)-req.Limit:]
	}
	return out, nil
}
