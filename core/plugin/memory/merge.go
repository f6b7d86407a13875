package memory

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

func checkMerge(req plugin.BeginWriteRequest) error {
	m := req.Merge
	bad := func(format string, args ...any) error {
		return diag.Errorf(diag.KindInternal, "memory.merge", "", "The merge into %q "+format, append([]any{req.Table.Name}, args...)...).Err()
	}
	if len(m.Keys) == 0 {
		return bad("names no key")
	}
	needed := slices.Concat(m.Keys, m.UpdateColumns)
	if m.Guard != "" {
		needed = append(needed, m.Guard)
	}
	for _, name := range needed {
		if len(req.Schema.FieldIndices(name)) == 0 {
			return bad("names column %q, which its rows lack", name)
		}
	}
	return nil
}

// merge applies source rows by the rule of plugin.Merge.
func merge(result *plugin.CommitResult, req plugin.BeginWriteRequest, schema *arrow.Schema, target [][]cell, parts []part) ([][]cell, error) {
	source, err := sourceRows(req, schema, parts)
	if err != nil {
		return nil, err
	}
	m := req.Merge
	keys := columnsOf(schema, m.Keys)
	set := columnsOf(schema, m.UpdateColumns)
	if m.UpdateColumns == nil {
		for _, f := range req.Schema.Fields() {
			set = append(set, schema.FieldIndices(f.Name)[0])
		}
	}
	guard := -1
	if m.Guard != "" {
		guard = schema.FieldIndices(m.Guard)[0]
	}
	out := make([][]cell, 0, len(target))
	for _, row := range target {
		s, ok := source[keyOf(row, keys)]
		switch {
		case !ok && m.DeleteAbsent:
			result.Deleted++
			continue
		case !ok:
			out = append(out, row)
			continue
		}
		s.matched = true
		if guard >= 0 {
			order, comparable := compareCells(s.row[guard], row[guard])
			if !comparable {
				return nil, diag.Errorf(diag.KindInternal, "memory.merge", "", "The guard column %q of table %q has no order", m.Guard, req.Table.Name).Err()
			}
			if order <= 0 {
				out = append(out, row)
				continue
			}
		}
		if s.deletes {
			result.Deleted++
			continue
		}
		updated := slices.Clone(row)
		for _, c := range set {
			updated[c] = s.row[c]
		}
		result.Updated++
		out = append(out, updated)
	}
	for _, key := range sortedByArrival(source) {
		if s := source[key]; !s.matched && !s.deletes {
			result.Inserted++
			out = append(out, s.row)
		}
	}
	return out, nil
}

type sourceRow struct {
	row     []cell
	deletes bool
	matched bool
	arrival int
}

// sourceRows indexes the rows of all parts by key.
func sourceRows(req plugin.BeginWriteRequest, schema *arrow.Schema, parts []part) (map[string]*sourceRow, error) {
	m := req.Merge
	keys := columnsOf(schema, m.Keys)
	out := map[string]*sourceRow{}
	for _, p := range parts {
		for _, row := range p.rows {
			s := &sourceRow{row: make([]cell, schema.NumFields()), arrival: len(out)}
			for i, f := range p.schema.Fields() {
				if m.Action == "" || f.Name != m.Action {
					s.row[schema.FieldIndices(f.Name)[0]] = row[i]
					continue
				}
				switch row[i] {
				case "U":
				case "D":
					s.deletes = true
				default:
					return nil, diag.Errorf(diag.KindInternal, "memory.merge_action", "",
						"A row for table %q has action %v; U and D are known", req.Table.Name, row[i]).Err()
				}
			}
			key := keyOf(s.row, keys)
			if _, twice := out[key]; twice {
				return nil, diag.Errorf(diag.KindInternal, "memory.merge_duplicate", "",
					"Two rows for table %q have one key", req.Table.Name).Err()
			}
			out[key] = s
		}
	}
	return out, nil
}

func columnsOf(schema *arrow.Schema, names []string) []int {
	var out []int
	for _, name := range names {
		out = append(out, schema.FieldIndices(name)[0])
	}
	return out
}

func sortedByArrival(source map[string]*sourceRow) []string {
	keys := make([]string, len(source))
	for key, s := range source {
		keys[s.arrival] = key
	}
	return keys
}
