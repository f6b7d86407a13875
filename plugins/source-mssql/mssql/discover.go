package mssql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

// resolved is a table and its capture instances, oldest first, never none.
type resolved struct {
	table     tsql.Table
	instances []instance
	// configured is the instance that the table block names; nil when it names
	// an object, or an instance that is gone.
	configured *instance
	// gone are names that this session saw and the table no longer has.
	gone []string
}

// reader is the instance that snapshots are taken for: the configured one,
// else the newest.
func (r resolved) reader() instance {
	if r.configured != nil {
		return *r.configured
	}
	return r.instances[len(r.instances)-1]
}

// readerOf is what reader captures, out of the captured columns of all instances.
func (r resolved) readerOf(all []captured) captured {
	for _, ci := range all {
		if ci.name == r.reader().name {
			return ci
		}
	}
	return captured{}
}

// resolve finds a table in a listing. known are the names of its instances
// that this session has seen, oldest first: a custom instance that was
// disabled after a newer one took over is followed through them.
func resolve(list []instance, cfg tableConfig, known []string) (resolved, error) {
	if cfg.instance == "" {
		return resolveObject(list, cfg, known)
	}
	var first error
	for i := len(known); i >= 0; i-- {
		name := cfg.instance
		if i < len(known) {
			name = known[i]
		}
		r, err := resolveInstance(list, name, cfg)
		if err == nil {
			r.configured, _ = byName(r.instances, cfg.instance)
			r.gone = goneOf(append([]string{cfg.instance}, known...), r)
			return r, nil
		}
		if first == nil {
			first = err
		}
	}
	return resolved{}, first
}

func goneOf(known []string, r resolved) []string {
	var out []string
	for _, k := range known {
		if found, _ := byName(r.instances, k); found == nil && !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

func resolveObject(list []instance, cfg tableConfig, known []string) (resolved, error) {
	var exact, folded []tsql.Table
	for _, i := range list {
		if i.table == cfg.object {
			exact = []tsql.Table{i.table}
		}
		if strings.EqualFold(i.table.Schema, cfg.object.Schema) && strings.EqualFold(i.table.Name, cfg.object.Name) && !slices.Contains(folded, i.table) {
			folded = append(folded, i.table)
		}
	}
	if exact == nil {
		exact = folded
	}
	switch len(exact) {
	case 1:
		r := resolved{table: exact[0], instances: ofTable(list, exact[0])}
		r.gone = goneOf(known, r)
		return r, nil
	case 0:
		// A renamed table keeps its instances.
		for i := len(known) - 1; i >= 0; i-- {
			if found, _ := byName(list, known[i]); found != nil {
				r := resolved{table: found.table, instances: ofTable(list, found.table)}
				r.gone = goneOf(known, r)
				return r, nil
			}
		}
		return resolved{}, unknownTable(list, cfg)
	}
	var named []string
	for _, t := range exact {
		named = append(named, t.String())
	}
	return resolved{}, diag.Errorf(diag.KindConfiguration, codeAmbiguous, "Write the name exactly: "+strings.Join(named, " or ")+".",
		"%s names several tables when case is ignored", cfg.object).At(argObject).Err()
}

func resolveInstance(list []instance, name string, cfg tableConfig) (resolved, error) {
	found, all := byName(list, name)
	if found != nil {
		return resolved{table: found.table, instances: ofTable(list, found.table)}, nil
	}
	if len(all) > 1 {
		return resolved{}, diag.Errorf(diag.KindConfiguration, codeAmbiguous, "Write the name exactly: "+strings.Join(names(all), " or ")+".",
			"%s names several capture instances when case is ignored", name).At(argCaptureInstance).Err()
	}
	// The default name of a disabled instance still tells its table.
	var tables []tsql.Table
	for _, i := range list {
		if strings.EqualFold(i.table.Schema+"_"+i.table.Name, name) && !slices.Contains(tables, i.table) {
			tables = append(tables, i.table)
		}
	}
	if len(tables) == 1 {
		return resolved{table: tables[0], instances: ofTable(list, tables[0])}, nil
	}
	return resolved{}, unknownTable(list, cfg)
}

// unknownTable is what can be said from the listing alone; explain adds what
// the server knows.
func unknownTable(list []instance, cfg tableConfig) error {
	detail := "Either CDC has no such capture instance, or the login lacks SELECT on its captured columns or membership of its gating role: only what it may read is listed."
	if cfg.instance != "" {
		var near []string
		for _, i := range list {
			lower := strings.ToLower(i.name)
			name := strings.ToLower(cfg.instance)
			if strings.HasPrefix(lower, name) || strings.HasPrefix(name, strings.ToLower(i.table.Schema+"_"+i.table.Name+"_")) {
				near = append(near, fmt.Sprintf("%s (of %s)", i.name, i.table))
			}
		}
		if len(near) > 0 {
			detail += " There is " + strings.Join(near, ", ") + "; if it is the newer one, set capture_instance to it, or use object."
		} else if m := nearest(cfg.instance, names(list)); m != "" {
			detail += fmt.Sprintf(" Did you mean %s?", m)
		}
		d := diag.Errorf(diag.KindConfiguration, codeUnknownInstance, detail, "No capture instance %q", cfg.instance).At(argCaptureInstance)
		d.Data = map[string]string{"capture_instance": cfg.instance}
		return d.Err()
	}
	var tables []tsql.Table
	for _, i := range list {
		if !slices.Contains(tables, i.table) {
			tables = append(tables, i.table)
		}
	}
	d := diag.Errorf(diag.KindConfiguration, codeUnknownInstance, detail, "No capture instance of %s is listed", cfg.object).At(argObject)
	d.Data = map[string]string{"object": cfg.object.String()}
	if m := nearestTable(cfg.object, tables); m != "" {
		d.Detail += fmt.Sprintf(" Did you mean %s?", m)
		d.Data["nearest"] = m
	}
	return d.Err()
}

// unknownObject is what is said of a table that is not there, or not for the
// login to see; whether it is captured is another question. The owner of the
// database sees every table. To any other login the server hides what it has no
// right on (Microsoft: Metadata visibility configuration), so where no name is
// like it the missing grant is taken for the cause. A table that was read before
// had its name right.
//
// renamed is how that is called now which was read, "" when it is not found: its
// object id is the same (Microsoft: sp_rename).
func unknownObject(object tsql.Table, database, login, near, renamed string, read bool) error {
	kind, summary, detail := diag.KindConfiguration, "The database %s has no table %s that the login can see", "Check the name."
	if near != "" {
		detail = fmt.Sprintf("Check the name: did you mean %s?", near)
	}
	quoted, _ := object.Quoted()
	user, _ := tsql.Quote(login)
	grant := fmt.Sprintf("GRANT SELECT ON %s TO %s lets the login see it.", quoted, user)
	switch {
	case login == "dbo":
		summary = "The database %s has no table %s"
	case near != "":
		detail += " If the table exists, " + grant
	default:
		kind, detail = diag.KindPermission, "Either the login has no right on the table, or there is none: "+grant+" Else check the name."
	}
	switch {
	case renamed != "":
		kind, detail = diag.KindConfiguration, fmt.Sprintf("Its stream has read it, and it is called %s now: the table of that name has its object id. Write that, and the stream goes on.", renamed)
	case read:
		detail = "It was there: its stream has read it. Since then it was dropped or renamed"
		if login != "dbo" {
			detail += ", or the login lost its right on it: " + grant
		} else {
			detail += "."
		}
		detail += " If it was renamed, write its new name: the stream goes on."
		if near != "" {
			detail += fmt.Sprintf(" There is %s.", near)
		}
		detail += " If it was dropped, what was read of it stays as it is; a table that is made anew is another one. " + plugin.LoadAnew
	}
	d := diag.Errorf(kind, codeUnknownTable, detail, summary, database, object).At(argObject)
	d.Data = map[string]string{"object": object.String()}
	return d.Err()
}

// explain asks the server why a table was not found and returns the error to
// report: err itself when the server adds nothing. read tells that the table was
// read before, renamed how it is called now, where that is known.
func explain(ctx context.Context, c *conn, cfg tableConfig, database, renamed string, read bool, err error) error {
	var d *diag.Err
	if !asDiag(err, &d) || d.List[0].Code != codeUnknownInstance {
		return err
	}
	db, ok, dbErr := c.one(ctx, tsql.Database())
	if dbErr != nil {
		return dbErr
	}
	if ok && db.integer("is_cdc_enabled") == 0 {
		return diag.Errorf(diag.KindConfiguration, codeNotEnabled, "A DBA enables it with EXEC sys.sp_cdc_enable_db, then per table with sys.sp_cdc_enable_table.",
			"Change data capture is not enabled on the database %s", database).At(cfg.path()).Err()
	}
	if cfg.instance != "" {
		return err
	}
	q, qErr := tsql.TableState(cfg.object)
	if qErr != nil {
		return qErr
	}
	r, ok, rErr := c.one(ctx, q)
	if rErr != nil {
		return rErr
	}
	quoted, _ := cfg.object.Quoted()
	user, _ := tsql.Quote(r.text("login_user"))
	switch {
	case !ok || r.null("table_id"):
		return unknownObject(cfg.object, database, r.text("login_user"), d.List[0].Data["nearest"], renamed, read)
	case r.integer("can_select") == 0:
		return diag.Errorf(diag.KindPermission, codeSourceGrant, fmt.Sprintf("GRANT SELECT ON %s TO %s lets it; change data capture lists only what the login may read.", quoted, user),
			"The login may not read %s", cfg.object).At(argObject).Err()
	case r.integer("is_tracked") == 0:
		return diag.Errorf(diag.KindConfiguration, codeTableNotEnabled,
			fmt.Sprintf("A DBA enables it with EXEC sys.sp_cdc_enable_table @source_schema = N'%s', @source_name = N'%s', @role_name = NULL.", cfg.object.Schema, cfg.object.Name),
			"Change data capture is not enabled on %s", cfg.object).At(argObject).Err()
	}
	return err
}
