package mssql

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/lsn"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

// A stream goes over to a newer capture instance at its start. Where that one is
// not as the rows are read (it lacks a column, has a new one, or another type) a
// person decides first, so a batch ends before it: what the older one holds is
// read, and what follows waits.

// beforeSwitch is the end of a batch in (after, upper]: the last commit before a
// newer instance that a person has to look at, upper when there is none or when
// nothing lies before it.
func (s *session) beforeSwitch(ctx context.Context, c *conn, table plugin.SourceTable, after, upper lsn.LSN) (lsn.LSN, error) {
	cfg, st, err := s.parse(table)
	if err != nil {
		return upper, err
	}
	r, err := s.discover(ctx, c, cfg, st)
	if err != nil {
		return upper, err
	}
	for i, ci := range r.instances[1:] {
		if !ci.hasStart || !after.Less(ci.start) || upper.Less(ci.start) {
			continue
		}
		instances, err := s.columns(ctx, c, st, r, false)
		if err != nil {
			return upper, err
		}
		sh, err := s.shape(st, instances, cfg)
		if err != nil {
			return upper, err
		}
		newer := instances[i+1]
		lacks, _ := sh.lacking(instances, newer)
		unfit, unknown := sh.misfits(newer, cfg.rules)
		if len(lacks)+len(unfit)+len(unknown) == 0 {
			continue
		}
		prev, err := decrement(ctx, c, ci.start)
		if err != nil {
			return upper, err
		}
		q, err := tsql.EntryBefore(prev.String(), "")
		if err != nil {
			return upper, err
		}
		last, _, err := c.lsn(ctx, q)
		if err != nil {
			return upper, err
		}
		if after.Less(last) {
			return last, nil
		}
		return upper, nil
	}
	return upper, nil
}

// lacking are columns of the shape that an instance does not capture, nor a newer
// one, and an older one does; the table has them. Columns that came later are
// another matter: older changes never had them. Of unknown ones no instance is left
// that had them, so it is not known whether the table does.
func (s shape) lacking(instances []captured, in captured) (lacks, unknown []string) {
	at := max(0, slices.IndexFunc(instances, func(ci captured) bool { return ci.name == in.name }))
	for _, col := range s.columns {
		has := func(ci captured) bool { _, ok := ci.find(col.name); return ok }
		if slices.ContainsFunc(instances[at:], has) {
			continue
		}
		older := slices.IndexFunc(instances[:at], has)
		if older < 0 {
			unknown = append(unknown, col.name)
		} else if had, _ := instances[older].find(col.name); !had.dropped {
			lacks = append(lacks, col.name)
		}
	}
	return lacks, unknown
}

// discontinued are the columns that the table has and that rows of the batch lack.
func (b *batch) discontinued(ctx context.Context, c *conn, parts []piece) ([]string, error) {
	var out, unknown []string
	for _, p := range parts {
		lacks, more := b.shape.lacking(b.instances, p.captured)
		out, unknown = append(out, lacks...), append(unknown, more...)
	}
	if unknown != nil {
		live, err := liveColumns(ctx, c, b.found.table)
		if err != nil {
			return nil, err
		}
		for _, name := range unknown {
			if slices.ContainsFunc(live, func(l liveColumn) bool { return strings.EqualFold(l.name, name) && !l.computed }) {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// freshColumns reads the columns of the table anew before an instance that lacks
// some is read for the first time in this session: whether the table still has
// them decides what that means, and what is remembered may be older.
func (b *batch) freshColumns(ctx context.Context, c *conn, parts []piece) ([]piece, error) {
	if !slices.ContainsFunc(parts, func(p piece) bool {
		lacks, _ := b.shape.lacking(b.instances, p.captured)
		return !b.state.isChecked(p.name) && lacks != nil
	}) {
		return parts, nil
	}
	var err error
	if b.instances, err = b.columns(ctx, c, b.state, b.found, true); err != nil {
		return nil, err
	}
	for i, p := range parts {
		for _, ci := range b.instances {
			if ci.name == p.name {
				parts[i].captured = ci
			}
		}
	}
	return parts, nil
}

// switches records where the batch goes on in a newer instance.
func (b *batch) switches(ctx context.Context, c *conn, parts []piece) error {
	for i := 1; i < len(b.instances); i++ {
		older, newer := b.instances[i-1], b.instances[i]
		if !slices.ContainsFunc(parts, func(p piece) bool { return p.name == newer.name && p.from == newer.start }) {
			continue
		}
		missing := []string{}
		for _, col := range b.shape.columns {
			_, had := older.find(col.name)
			if _, has := newer.find(col.name); had && !has {
				missing = append(missing, col.name)
			}
		}
		text := older.name + " -> " + newer.name
		if len(missing) > 0 {
			text += "; no longer captured, read as NULL: " + strings.Join(missing, ", ")
		}
		detail, err := json.Marshal(struct {
			StartLSN    string   `json:"start_lsn"`
			NotCaptured []string `json:"not_captured"`
			Text        string   `json:"text"`
			Old         string   `json:"old"`
			New         string   `json:"new"`
		}{newer.start.String(), missing, text, older.name, newer.name})
		if err != nil {
			return fmt.Errorf("encoding an event: %w", err)
		}
		when, known, err := b.clock.time(ctx, c, newer.start)
		if err != nil {
			return err
		}
		b.events = append(b.events, plugin.Event{Name: eventSwitched, Position: plugin.Position{Text: newer.start.String(), CommitMicros: when, HasCommit: known}, Detail: string(detail)})
	}
	return nil
}
