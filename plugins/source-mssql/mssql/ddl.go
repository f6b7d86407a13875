package mssql

import (
	"context"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/lsn"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

// ddl is one DDL command that capture saw.
type ddl struct {
	lsn     lsn.LSN
	command string
}

// ddlHistory lists the DDL of an instance's table in (after, to], in order.
func ddlHistory(ctx context.Context, c *conn, instance string, after, to lsn.LSN) ([]ddl, error) {
	var out []ddl
	err := c.each(ctx, tsql.DDLHistory(instance), func(r record) error {
		l, ok, err := r.lsn("ddl_lsn")
		if err != nil {
			return err
		}
		if ok && after.Less(l) && l.Compare(to) <= 0 {
			out = append(out, ddl{l, strings.TrimSpace(r.text("ddl_command"))})
		}
		return nil
	})
	return out, err
}

// checkDDL looks for DDL in the batch. Types are then read anew: when every
// column still fits, each command is an event; else the batch fails before a
// row is read. It returns the pieces with fresh columns.
func (b *batch) checkDDL(ctx context.Context, c *conn, parts []piece) ([]piece, error) {
	var found []ddl
	var asked []string
	for _, p := range parts {
		if slices.Contains(asked, p.name) {
			continue
		}
		asked = append(asked, p.name)
		list, err := ddlHistory(ctx, c, p.name, b.start, b.end)
		if err != nil {
			return nil, err
		}
		for _, d := range list {
			// Two instances of a table record the same command.
			if !slices.ContainsFunc(found, func(have ddl) bool { return have.lsn == d.lsn }) {
				found = append(found, d)
			}
		}
	}
	if len(found) == 0 {
		return parts, nil
	}
	slices.SortFunc(found, func(x, y ddl) int { return x.lsn.Compare(y.lsn) })
	if b.cfg.read.policy == policyFail {
		d := diag.Errorf(diag.KindSchemaChanged, codeSchemaChanged,
			`The batch that is tried again holds it too: to go on past it, run once with read { schema_change_policy = "classify" }.`,
			"%s was changed at %s: %s", b.found.table, found[0].lsn, cut(found[0].command))
		d.Data = map[string]string{"lsn": found[0].lsn.String()}
		return nil, d.At(argSchemaPolicy).Err()
	}
	var err error
	if b.instances, err = b.columns(ctx, c, b.state, b.found, true); err != nil {
		return nil, err
	}
	var unfit []string
	for i, p := range parts {
		for _, ci := range b.instances {
			if ci.name == p.name {
				parts[i].captured = ci
				misfits, _ := b.shape.misfits(ci, b.cfg.rules)
				unfit = append(unfit, misfits...)
			}
		}
	}
	if len(unfit) > 0 {
		var commands []string
		for _, d := range found {
			commands = append(commands, cut(d.command))
		}
		d := diag.Errorf(diag.KindSchemaChanged, codeSchemaChanged,
			"Nothing of the batch was read. "+startAgain+" The commands were: "+strings.Join(commands, "; "),
			"%s has columns whose type changed: %s", b.found.table, strings.Join(slices.Compact(unfit), ", "))
		d.Data = map[string]string{"lsn": found[0].lsn.String()}
		return nil, d.Err()
	}
	for _, d := range found {
		when, known, err := b.clock.timeBefore(ctx, c, d.lsn)
		if err != nil {
			return nil, err
		}
		b.events = append(b.events, plugin.Event{Name: eventSchemaChange, Position: plugin.Position{Text: d.lsn.String(), CommitMicros: when, HasCommit: known}, Detail: cut(d.command)})
	}
	return parts, nil
}

// cut shortens a command to what an event keeps.
func cut(command string) string {
	runes := []rune(command)
	if len(runes) > maxDDLText {
		runes = runes[:maxDDLText]
	}
	return string(runes)
}
