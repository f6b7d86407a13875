package delta

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/sink-delta/deltatable"
)

// deletionVectorsProperty asks writers for deletion vectors (Delta protocol:
// Deletion Vectors, writer requirements).
const deletionVectorsProperty = "delta.enableDeletionVectors"

// difference is what a table lacks of its spec.
type difference struct {
	changes deltatable.Changes
	lines   []string
}

func (d difference) empty() bool { return len(d.lines) == 0 }

// compare finds what to add. Columns are never dropped, and types never changed of a
// table that is another program's or has had rows.
func compare(snap *deltatable.Snapshot, spec plugin.TableSpec) difference {
	var d difference
	d.changes.Retype = retypable(snap, spec)
	d.changes.Comments, d.changes.Properties = map[string]string{}, map[string]string{}
	have := map[string]arrow.Field{}
	for _, f := range snap.Schema().Fields() {
		have[strings.ToLower(f.Name)] = f
	}
	for _, f := range spec.Schema.Fields() {
		old, ok := have[strings.ToLower(f.Name)]
		if !ok {
			d.changes.AddColumns = append(d.changes.AddColumns, f)
			d.lines = append(d.lines, fmt.Sprintf("add column %s %s", f.Name, f.Type))
			continue
		}
		if slices.ContainsFunc(d.changes.Retype, func(c arrow.Field) bool { return c.Name == f.Name }) {
			d.lines = append(d.lines, fmt.Sprintf("column %s %s in place of %s", old.Name, f.Type, old.Type))
		}
		if text, ok := f.Metadata.GetValue("comment"); ok {
			if current, _ := old.Metadata.GetValue("comment"); current != text {
				d.changes.Comments[old.Name] = text
				d.lines = append(d.lines, "comment of column "+old.Name)
			}
		}
	}
	if spec.Description != "" && spec.Description != snap.Log().Metadata().Description {
		d.changes.Description = &spec.Description
		d.lines = append(d.lines, "description")
	}
	properties := snap.Log().Properties()
	for _, name := range slices.Sorted(maps.Keys(spec.Properties)) {
		converges := slices.ContainsFunc(spec.Converge, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
		if value := spec.Properties[name]; converges && properties[name] != value {
			d.changes.Properties[name] = value
			d.lines = append(d.lines, fmt.Sprintf("property %s = %q", name, value))
		}
	}
	return d
}

// ours reports whether the table shows one of the properties that converge: it
// was written under this spec before.
func ours(snap *deltatable.Snapshot, spec plugin.TableSpec) bool {
	for name := range snap.Log().Properties() {
		if slices.ContainsFunc(spec.Converge, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			return true
		}
	}
	return false
}

// retypable are the columns whose types follow the spec: nothing of ours was written
// with the types that they have.
func retypable(snap *deltatable.Snapshot, spec plugin.TableSpec) []arrow.Field {
	if !ours(snap, spec) {
		return nil
	}
	return snap.Retypable(spec.Schema)
}

// fits refuses a table when rows of the spec could never be written into it.
func (s *session) fits(ctx context.Context, snap *deltatable.Snapshot, spec plugin.TableSpec) error {
	if changing := retypable(snap, spec); len(changing) > 0 {
		spec.Schema = without(spec.Schema, changing)
	}
	doing := "taking over"
	if ours(snap, spec) {
		doing = "writing"
	}
	if err := snap.CheckWrite(); err != nil {
		return s.failed(ctx, spec.Table, doing, err)
	}
	return s.failed(ctx, spec.Table, doing, snap.Fits(spec.Schema))
}

// without is the schema without some of its columns.
func without(schema *arrow.Schema, columns []arrow.Field) *arrow.Schema {
	return arrow.NewSchema(slices.DeleteFunc(slices.Clone(schema.Fields()), func(f arrow.Field) bool {
		return slices.ContainsFunc(columns, func(c arrow.Field) bool { return c.Name == f.Name })
	}), nil)
}

// PlanTable compares a table with its spec, and finds out whether rows of the
// spec can be written into it, and anything at all into its folder.
func (s *session) PlanTable(ctx context.Context, spec plugin.TableSpec) (plugin.TablePlan, error) {
	if err := s.probe(ctx, spec.Table); err != nil {
		return plugin.TablePlan{}, err
	}
	snap, err := s.snapshot(ctx, spec.Table, -1)
	if err != nil {
		return plugin.TablePlan{}, err
	}
	if snap == nil {
		return plugin.TablePlan{Action: plugin.TableCreate, Version: -1}, nil
	}
	plan := plugin.TablePlan{Action: plugin.TableNone, ID: snap.Log().Metadata().ID, Version: snap.Version()}
	if err := s.fits(ctx, snap, spec); err != nil {
		return plugin.TablePlan{}, err
	}
	if d := compare(snap, spec); !d.empty() {
		plan.Action, plan.Changes = plugin.TableAlter, d.lines
	}
	return plan, nil
}

// ApplyTable creates the table or adds what it lacks.
func (s *session) ApplyTable(ctx context.Context, req plugin.ApplyTableRequest) (plugin.ApplyTableResult, error) {
	spec := req.Spec
	snap, err := s.snapshot(ctx, spec.Table, -1)
	if err != nil {
		return plugin.ApplyTableResult{}, err
	}
	if err := s.require(spec.Table, req.RequireID, snap); err != nil {
		return plugin.ApplyTableResult{}, err
	}
	if snap == nil {
		return s.create(ctx, spec)
	}
	return s.alter(ctx, snap, spec, plugin.TableNone)
}

func (s *session) require(ref plugin.TableRef, id string, snap *deltatable.Snapshot) error {
	switch {
	case id == "" || id == "-" && snap == nil:
		return nil
	case snap != nil && snap.Log().Metadata().ID == id:
		return nil
	case snap == nil:
		return stale(ref, "it does not exist any more")
	case id == "-":
		return stale(ref, "it exists by now")
	}
	return stale(ref, "it was dropped and made again")
}

func (s *session) create(ctx context.Context, spec plugin.TableSpec) (plugin.ApplyTableResult, error) {
	at, err := place(spec.Table)
	if err != nil {
		return plugin.ApplyTableResult{}, err
	}
	st, err := s.lake(ctx)
	if err != nil {
		return plugin.ApplyTableResult{}, err
	}
	properties := maps.Clone(spec.Properties)
	if spec.Layout == plugin.LayoutMerge && s.settings.deletionVectors {
		if properties == nil {
			properties = map[string]string{}
		}
		properties[deletionVectorsProperty] = "true"
	}
	t, created, err := deltatable.CreateIfAbsent(ctx, st, at, deltatable.Spec{Schema: spec.Schema, Description: spec.Description, Properties: properties}, s.options)
	if err != nil {
		return plugin.ApplyTableResult{}, s.failed(ctx, spec.Table, creating, err)
	}
	s.keep(at, t)
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return plugin.ApplyTableResult{}, s.failed(ctx, spec.Table, "reading", err)
	}
	action := plugin.TableNone
	if created {
		action = plugin.TableCreate
	}
	// A creation that lost a race takes the winner's table, and adds what it lacks.
	return s.alter(ctx, snap, spec, action)
}

func (s *session) alter(ctx context.Context, snap *deltatable.Snapshot, spec plugin.TableSpec, action plugin.TableAction) (plugin.ApplyTableResult, error) {
	result := plugin.ApplyTableResult{Action: action, ID: snap.Log().Metadata().ID, Version: snap.Version()}
	d := compare(snap, spec)
	if d.empty() {
		return result, nil
	}
	// A table of another program would be changed first, and for nothing. One of
	// ours was planned on: what comes between is found by its writes.
	if !ours(snap, spec) {
		if err := s.fits(ctx, snap, spec); err != nil {
			return result, err
		}
	}
	version, changed, err := snap.Alter(ctx, d.changes)
	if err != nil {
		return result, s.failed(ctx, spec.Table, "changing", err)
	}
	result.Version = version
	if changed && action == plugin.TableNone {
		result.Action = plugin.TableAlter
	}
	return result, nil
}
