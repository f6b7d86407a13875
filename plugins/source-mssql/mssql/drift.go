package mssql

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/lsn"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

// silentAfter is how old the newest entry of capture may be. Without changes
// it writes one about every five minutes, so three are missing by then.
const silentAfter = 15 * time.Minute

// silence warns when capture has written nothing for long. Both times are the
// server's. A quiet database and a dead capture job look alike but for this.
func silence(newest plugin.Position, db record) diag.List {
	at, known := newest.Commit()
	now, ok := db.value("utc_now").(time.Time)
	if !known || !ok || now.Sub(at) < silentAfter {
		return nil
	}
	return diag.List{diag.Warningf(codeSilent, "Without changes it writes about every five minutes, so its job does not run: is SQL Server Agent running? Until it does, no change is seen, and cleanup does not wait.",
		"Capture has written nothing for %s", spoken(now.Sub(at)))}
}

// spoken is a length of time as a person says it.
func spoken(d time.Duration) string {
	switch {
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// drift warns of what changed at the source, or is not as a person may
// think. It costs no round trip but one where a column seems new, and one where
// snapshots are cut on columns of the user's choice.
func drift(ctx context.Context, c *conn, instances []captured, r resolved, cfg tableConfig, key []string, since plugin.Position) (diag.List, error) {
	list := instanceDrift(r, cfg, since)
	list = append(list, droppedColumns(instances, cfg)...)
	list = append(list, discontinuedColumns(instances, r, cfg)...)
	list = append(list, keyDoubts(instances, r, cfg, key)...)
	unfit, err := snapshotKeyDoubts(ctx, c, instances, r, cfg)
	if err != nil {
		return list, err
	}
	list = append(list, unfit...)
	added, err := addedColumns(ctx, c, instances[len(instances)-1], cfg)
	return append(list, added...), err
}

// snapshotKeyDoubts tells that the next snapshot would be refused for its keys.
// Nothing else needs them.
func snapshotKeyDoubts(ctx context.Context, c *conn, instances []captured, r resolved, cfg tableConfig) (diag.List, error) {
	if len(cfg.snapshotKeys) == 0 {
		return nil, nil
	}
	live, err := liveColumns(ctx, c, r.table)
	if err != nil {
		return nil, err
	}
	list := snapshotKeyProblems(instances, live, r, cfg)
	for i := range list {
		list[i].Severity = diag.Warning
	}
	return list, nil
}

// instanceDrift tells of a newer capture instance, and of one that is gone.
func instanceDrift(r resolved, cfg tableConfig, since plugin.Position) diag.List {
	var list diag.List
	newest := r.instances[len(r.instances)-1]
	if cfg.instance != "" && r.configured == nil {
		list = append(list, diag.Warningf(codeInstanceDisabled, "Name the table with object instead, or that instance: a custom name does not tell its table once it is gone.",
			"The capture instance %s is gone; %s of %s is followed", cfg.instance, newest.name, r.table).At(argCaptureInstance))
	}
	if len(r.instances) < 2 {
		return list
	}
	detail := "Until the older one is disabled, both capture every change."
	if at, err := lsn.Parse(since.Text); err == nil && newest.hasStart {
		if at.Less(newest.start) {
			detail = fmt.Sprintf("The stream goes on in it from %s on. Disable the older one only when the stream is past that by one more batch.", newest.start)
		} else {
			detail = "The stream has gone over to it. When a run has been complete since then, the older one can be disabled; as long as it is there, both capture every change."
		}
	}
	return append(list, diag.Warningf(codeInstanceSwitched, detail, "%s has a newer capture instance %s beside %s", r.table, newest.name,
		strings.Join(names(r.instances[:len(r.instances)-1]), ", ")).At(cfg.path()))
}

// droppedColumns are columns that are read and that the table has no more:
// SQL Server goes on to capture them as NULL (Microsoft: About change data
// capture).
func droppedColumns(instances []captured, cfg tableConfig) diag.List {
	var list diag.List
	var seen []string
	for _, ci := range slices.Backward(instances) {
		for _, col := range ci.columns {
			if i := findRule(cfg.rules, col.name); i >= 0 && cfg.rules[i].drop || slices.Contains(seen, strings.ToLower(col.name)) {
				continue
			}
			seen = append(seen, strings.ToLower(col.name))
			if col.dropped {
				list = append(list, diag.Warningf(codeColumnDropped, "It is NULL in every change since. Leave it out with exclude when its old values are not wanted either.",
					"The table has no column %s any more, which %s still captures", col.name, ci.name).At("columns", col.name))
			}
		}
	}
	return list
}

// discontinued are columns that the table has, that an older capture instance has,
// and that the newest one was made without (@captured_column_list of
// sys.sp_cdc_enable_table). Changes from its start on lack them.
func discontinued(instances []captured, cfg tableConfig) []string {
	newest := instances[len(instances)-1]
	var out []string
	for _, ci := range instances[:len(instances)-1] {
		for _, col := range ci.columns {
			ruled := findRule(cfg.rules, col.name)
			_, still := newest.find(col.name)
			if still || col.dropped || col.computed || ruled >= 0 && cfg.rules[ruled].drop || slices.Contains(out, col.name) {
				continue
			}
			out = append(out, col.name)
		}
	}
	return out
}

// discontinuedColumns tells of them.
func discontinuedColumns(instances []captured, r resolved, cfg tableConfig) diag.List {
	lacking := discontinued(instances, cfg)
	if lacking == nil {
		return nil
	}
	newest := r.instances[len(r.instances)-1]
	from := "From there on"
	if newest.hasStart {
		from = fmt.Sprintf("From %s on", newest.start)
	}
	return diag.List{diag.Warningf(codeColumnNotCaptured, from+" it is NULL in every change, and in silver. A DBA disables that instance and enables another one with all columns, with sys.sp_cdc_enable_table. Or leave the column out with exclude.",
		"The newest capture instance %s lacks the %s %s, which %s still captures", newest.name, map[bool]string{true: "column", false: "columns"}[len(lacking) == 1], strings.Join(lacking, ", "),
		strings.Join(names(r.instances[:len(r.instances)-1]), ", ")).At(cfg.path())}
}

// addedColumns are columns that came after the newest capture instance, which
// captures none of them (Microsoft: About change data capture). What was left
// out on purpose when capture was enabled is no such column: the history of DDL
// tells the two apart.
func addedColumns(ctx context.Context, c *conn, newest captured, cfg tableConfig) (diag.List, error) {
	if len(newest.later) == 0 {
		return nil, nil
	}
	var commands []string
	if err := c.each(ctx, tsql.DDLHistory(newest.name), func(r record) error {
		commands = append(commands, strings.ToLower(r.text("ddl_command")))
		return nil
	}); err != nil {
		return nil, err
	}
	var added []string
	for _, name := range newest.later {
		ruled := findRule(cfg.rules, name)
		if (ruled < 0 || !cfg.rules[ruled].drop) && slices.ContainsFunc(commands, func(text string) bool { return mentions(text, strings.ToLower(name)) }) {
			added = append(added, name)
		}
	}
	if added == nil {
		return nil, nil
	}
	return diag.List{diag.Warningf(codeColumnNotCaptured, "Its changes are lost until a capture instance has it: a DBA enables a second one with sys.sp_cdc_enable_table, which the stream then follows.",
		"No capture instance has the new %s %s", map[bool]string{true: "column", false: "columns"}[len(added) == 1], strings.Join(added, ", ")).At(cfg.path())}, nil
}

// mentions reports whether a command speaks of an identifier: the whole word, not
// a part of another one.
func mentions(command, identifier string) bool {
	part := func(r rune) bool {
		return r == '_' || r == '@' || r == '#' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	for rest := command; ; {
		before, after, found := strings.Cut(rest, identifier)
		if !found {
			return false
		}
		last, _ := utf8.DecodeLastRuneInString(before)
		next, _ := utf8.DecodeRuneInString(after)
		if (before == "" || !part(last)) && (after == "" || !part(next)) {
			return true
		}
		rest = after
	}
}

// keyDoubts tells what the source does not vouch for: that a declared key is
// unique, and that two keys stay two when they are written.
func keyDoubts(instances []captured, r resolved, cfg tableConfig, key []string) diag.List {
	var list diag.List
	path := cfg.path()
	if len(cfg.key) > 0 {
		path = "key"
		unique := slices.ContainsFunc(r.instances, func(i instance) bool {
			return len(i.keys) > 0 && !slices.ContainsFunc(i.keys, func(k string) bool {
				return !slices.ContainsFunc(cfg.key, func(own string) bool { return strings.EqualFold(own, k) })
			})
		})
		if !unique && len(key) == len(cfg.key) { // else a column of it is not there, which is said
			have := "capture was enabled without a unique index"
			if index := r.reader().keys; len(index) > 0 {
				have = "the unique index that it was enabled with is " + strings.Join(index, ", ")
			}
			list = append(list, diag.Warningf(codeKeyNotUnique, fmt.Sprintf("As far as change data capture tells: %s. Of several rows with one key silver keeps one, and a check finds the others missing.", have),
				"Nothing says that the key %s of %s is unique", strings.Join(cfg.key, ", "), r.table).At(path))
		}
	}
	newest := instances[len(instances)-1]
	for _, k := range key {
		col, ok := newest.find(k)
		if !ok || col.sql.fraction < 7 || col.sql.name != "datetime2" && col.sql.name != "datetimeoffset" {
			continue
		}
		list = append(list, diag.Warningf(codeKeyPrecision, "The tables keep six digits of a second, and the column has seven: keys that differ in the seventh only become one, and silver keeps one of their rows. A key without the column has no such limit.",
			"The key column %s is %s", col.name, col.sql).At(path))
	}
	return list
}
