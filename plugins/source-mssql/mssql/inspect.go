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

// Inspect looks at all tables of the source over one connection: a few round
// trips for the database and a fixed number for each table. It scans and
// counts nothing. What is wrong with one table stands in its diagnostics and
// leaves the others alone.
func (s *session) Inspect(ctx context.Context, req plugin.InspectRequest) (plugin.InspectResponse, error) {
	var out plugin.InspectResponse
	err := s.plan(ctx, methodInspect, func(c *conn) error {
		var err error
		out, err = s.inspect(ctx, c, req)
		return err
	})
	return out, err
}

func (s *session) inspect(ctx context.Context, c *conn, req plugin.InspectRequest) (plugin.InspectResponse, error) {
	var out plugin.InspectResponse
	db, err := c.databaseRow(ctx)
	if err != nil {
		return out, err
	}
	is := originOf(db)
	out.Identity, out.Alias, out.Display = is.database.Identity, is.database.Alias, is.display
	if db.integer("is_cdc_enabled") == 0 {
		return out, diag.Errorf(diag.KindConfiguration, codeNotEnabled, "A DBA enables it with EXEC sys.sp_cdc_enable_db, then per table with sys.sp_cdc_enable_table.",
			"Change data capture is not enabled on the database %s", db.text("name")).At(s.config.place).Err()
	}
	newest, err := maxLSN(ctx, c)
	if err != nil {
		return out, err
	}
	if !newest.IsZero() {
		if out.Newest, err = s.position(ctx, c, newest); err != nil {
			return out, err
		}
	}
	list, err := listInstances(ctx, c, tsql.CaptureInstances())
	if err != nil {
		return out, s.listingError(err)
	}
	for i, t := range req.Tables {
		info, err := s.inspectTable(ctx, c, t, list, newest, req)
		info.Diagnostics = append(info.Diagnostics, s.isolationDoubts(db)...)
		if i == 0 { // they are all of the database's: said once
			info.Diagnostics = append(info.Diagnostics, silence(out.Newest, db)...)
			info.Diagnostics = append(info.Diagnostics, s.clocks.said()...)
		}
		if err != nil {
			var d *diag.Err
			if !asDiag(err, &d) {
				if transient(err) || cancelled(err) || !c.usable() {
					return out, err
				}
				asDiag(s.config.diagnose(err), &d)
			}
			info.Diagnostics = append(info.Diagnostics, d.List...)
		}
		if info.Diagnostics.HasErrors() {
			info.Schema = nil
		}
		out.Tables = append(out.Tables, info)
	}
	return out, nil
}

// isolationAdvice is what to do where the database does not allow snapshot isolation.
const isolationAdvice = "A DBA allows it with ALTER DATABASE ... SET ALLOW_SNAPSHOT_ISOLATION ON; else set isolation = \"read_committed\"."

// isolationDoubts tells that the next snapshot would be refused for its isolation.
// Nothing else is read under it.
func (s *session) isolationDoubts(db record) diag.List {
	if s.config.locking.Isolation != tsql.Snapshot || db.integer("snapshot_isolation_state") == 1 {
		return nil
	}
	return diag.List{diag.Warningf(plugin.CodeSnapshotIsolation, "The source reads snapshots with isolation = \"snapshot\". "+isolationAdvice,
		"The database %s does not allow snapshot isolation", db.text("name"))}
}

func (s *session) inspectTable(ctx context.Context, c *conn, table plugin.SourceTable, list []instance, newest lsn.LSN, req plugin.InspectRequest) (plugin.TableInfo, error) {
	info := plugin.TableInfo{Address: table.Address, RowsEstimate: -1, Pending: -1}
	cfg, st, err := s.parse(table)
	if err != nil {
		return info, err
	}
	info.Object = cfg.label()
	st.mu.Lock()
	known := slices.Clone(st.known)
	st.mu.Unlock()
	r, err := resolve(list, cfg, known)
	if err != nil {
		return info, explain(ctx, c, cfg, s.config.driver.Database, renamed(list, req.Identities[table.Address]), len(known) > 0 || !req.Since[table.Address].IsZero(), err)
	}
	if _, err := r.table.Quoted(); err != nil { // only by its capture instance one gets here
		return info, diag.Errorf(diag.KindConfiguration, codeTableName, "Rename it at the source, and enable it for change data capture anew.",
			"The table that %s captures cannot be named in a statement: %v", r.instances[0].name, err).At(cfg.path()).Err()
	}
	st.remember(r)
	info.Object, info.Identity = r.table.String(), r.instances[0].tableID
	info.Instances = rowInstances(list, r, cfg)
	for _, ci := range r.instances {
		list, err := inspectChangeTable(ctx, c, ci, cfg)
		if err != nil {
			return info, err
		}
		info.Diagnostics = append(info.Diagnostics, list...)
	}
	instances, err := s.columns(ctx, c, st, r, true)
	if err != nil {
		return info, withPath(err, cfg.path())
	}
	sh, problems := inferShape(instances, cfg)
	info.Diagnostics = append(info.Diagnostics, problems...)
	key, problems := s.inspectKey(instances, r, cfg, sh)
	info.Key, info.Diagnostics = key, append(info.Diagnostics, problems...)
	info.Schema, info.Discontinued = sh.arrow(nil), discontinued(instances, cfg)
	if newest := instances[len(instances)-1]; info.Discontinued != nil && newest.hasStart {
		info.DiscontinuedFrom.Text = newest.start.String()
	}
	changed, err := drift(ctx, c, instances, r, cfg, key, req.Since[table.Address])
	if err != nil {
		return info, err
	}
	info.Diagnostics = append(info.Diagnostics, changed...)
	if !problems.HasErrors() {
		if _, err := s.shape(st, instances, cfg); err != nil && !info.Diagnostics.HasErrors() {
			return info, err
		}
	}
	if n, err := rowEstimate(ctx, c, r.table); err == nil {
		info.RowsEstimate = n
	} else if transient(err) || cancelled(err) || !c.usable() {
		return info, err
	}
	m, err := minLSN(ctx, c, r.instances[0].name)
	if err != nil {
		return info, err
	}
	if m.IsZero() {
		info.Diagnostics = append(info.Diagnostics, diag.Warningf(codeNotReady, "Capture has not processed its creation yet; is SQL Server Agent running?", "The low watermark of %s is not known yet", r.instances[0].name).At(cfg.path()))
	} else if info.Oldest, err = s.position(ctx, c, m); err != nil {
		return info, err
	}
	return info, s.inspectSince(ctx, c, req, r.instances, newest, &info)
}

// renamed is the name of the table with an identity, "" when none is listed.
func renamed(list []instance, identity string) string {
	for _, i := range list {
		if identity != "" && i.tableID == identity {
			return i.table.String()
		}
	}
	return ""
}

// rowInstances are the names under which rows of a table may appear, lower case:
// those that are listed or were in this session, the one of the table block, and
// the default name, which tells its table also after it was dropped, unless an
// instance of another table has it.
func rowInstances(list []instance, r resolved, cfg tableConfig) []string {
	all := append(names(r.instances), r.gone...)
	all = append(all, cfg.instance)
	if standard := r.table.Schema + "_" + r.table.Name; !slices.ContainsFunc(list, func(i instance) bool {
		return strings.EqualFold(i.name, standard) && i.table != r.table
	}) {
		all = append(all, standard)
	}
	var out []string
	for _, name := range all {
		if lower := strings.ToLower(name); lower != "" && !slices.Contains(out, lower) {
			out = append(out, lower)
		}
	}
	return out
}

// inspectChangeTable looks whether the login may read an instance's change
// table, and whether it has what is to be read.
func inspectChangeTable(ctx context.Context, c *conn, ci instance, cfg tableConfig) (diag.List, error) {
	q, err := tsql.ChangeTableState(ci.name)
	if err != nil {
		return diag.List{diag.Errorf(diag.KindUnsupported, codeUnknownInstance, "Its name cannot stand in a statement. A DBA disables that instance with sys.sp_cdc_disable_table, and enables capture of the table under another name: EXEC sys.sp_cdc_enable_table ..., @capture_instance = N'NAME'. One beside it is not enough.", "%s", err).At(cfg.path())}, nil
	}
	r, ok, err := c.one(ctx, q)
	if err != nil || !ok || r.null("allowed") {
		return nil, err
	}
	if r.integer("allowed") == 0 {
		return diag.FromError(withPath(changeGrant(ci.name, r.text("login_user")), cfg.path())), nil
	}
	if r.null("command_id") && cfg.read.commandID {
		return diag.List{diag.Warningf(codeMissingColumn, "The server lacks the update that brought it. Set read { include_command_id = false }; changes of one commit are then ordered by __$seqval.",
			"The change table of %s has no __$command_id", ci.name).At(cfg.path())}, nil
	}
	return nil, nil
}

// inspectKey is the table's key in the spelling of its rows.
func (s *session) inspectKey(instances []captured, r resolved, cfg tableConfig, sh shape) ([]string, diag.List) {
	var list diag.List
	key, declared := cfg.key, true
	if len(key) == 0 {
		key, declared = r.reader().keys, false
	}
	var out []string
	for i, k := range key {
		if col, ok := sh.find(k); ok {
			out = append(out, col.name)
			continue
		}
		path := diag.Path{cfg.path()}
		if declared {
			path = diag.Path{"key", i}
		}
		list = append(list, unusableKey(k, path, instances, cfg))
	}
	return out, list
}

// unusableKey says why the rows have no such key column, and what to do.
func unusableKey(k string, path diag.Path, instances []captured, cfg tableConfig) diag.Diagnostic {
	for _, ci := range instances {
		col, ok := ci.find(k)
		switch {
		case ok && col.computed:
			return diag.Errorf(diag.KindConfiguration, codeKey, "Name other columns with key.",
				"The key column %s cannot be used: it is a computed column, which change data capture stores as NULL", k).At(path...)
		case ok && findRule(cfg.rules, k) >= 0:
			return diag.Errorf(diag.KindConfiguration, codeKey, "Do not leave it out: take it out of exclude, or its drop out of columns. Or name other columns with key.",
				"The key column %s is left out: without it rows cannot be told apart", col.name).At("columns", cfg.rules[findRule(cfg.rules, k)].name)
		}
	}
	d := unknownColumn(k, instances).At(path...)
	d.Code = codeKey
	return d
}

// inspectSince counts the commits after a position up to a limit, and looks
// whether the position is still one of this database.
func (s *session) inspectSince(ctx context.Context, c *conn, req plugin.InspectRequest, instances []instance, newest lsn.LSN, info *plugin.TableInfo) error {
	since, asked := req.Since[info.Address]
	if !asked || since.IsZero() {
		return nil
	}
	l, err := lsn.Parse(since.Text)
	if err != nil {
		return diag.Errorf(diag.KindConfiguration, codePosition, positionAdvice, "The position of %s: %s", info.Address, err).Err()
	}
	q, err := tsql.Pending(l.String(), max(1, req.PendingLimit))
	if err != nil {
		return err
	}
	r, ok, err := c.one(ctx, q)
	if err != nil || !ok {
		return err
	}
	info.Pending = r.integer("n")
	now, err := r.localTime("local_time")
	if err != nil {
		return err
	}
	if err := s.past(ctx, c, since, l, newest); err != nil {
		return err
	}
	return s.onTimeLine(ctx, c, since, l, now, instances)
}
