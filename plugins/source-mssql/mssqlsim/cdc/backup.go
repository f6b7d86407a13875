package cdc

import (
	"maps"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// Backup is BACKUP DATABASE (Microsoft: BACKUP (Transact-SQL)). A backup is a copy of the database, log and all, that
// nobody reaches; it is kept in memory under the name of its device, behind those that are there unless anew.
func (s *Session) Backup(name, device string, anew bool) error {
	if s.srv.Version == Azure { // the page is of SQL Server and Managed Instance alone
		return notOnAzure("BACKUP DATABASE")
	}
	db := s.srv.Find(name)
	if db == nil {
		return noDatabase(name)
	}
	if db.Name == tempdb {
		return sqltype.Errorf(3147, "Backup and restore operations are not allowed on database tempdb.")
	}
	if !s.admin() && !s.dbo(db) && !s.can(db, "BACKUP DATABASE", wholeDatabase) {
		return missing("BACKUP DATABASE", db.Name)
	}
	if db.offline.Load() {
		return offline(db.Name)
	}
	b := newDatabase(s.srv, db.Name, db.ID)
	b.takeAll(db)
	b.placed.Store(db.placed.Load())
	s.srv.mu.Lock()
	defer s.srv.mu.Unlock()
	if s.srv.backups == nil {
		s.srv.backups = map[string][]*Database{}
	}
	sets := s.srv.backups[device]
	if anew {
		sets = nil
	}
	kept := len(sets) + 1
	for other, list := range s.srv.backups {
		if other != device {
			kept += len(list)
		}
	}
	if kept > mostBackups {
		return sqltype.Unsupported("more than %d backup sets, which it keeps in memory: BACKUP ... WITH INIT puts one in place of those of its device", mostBackups)
	}
	s.srv.backups[device] = append(sets, b)
	db.backedUp.Store(true)
	return nil
}

// mostBackups is how many backup sets of all devices are kept. Each holds the rows of its database that have changed since.
const mostBackups = 64

// notOnAzure is the error of a statement that Azure SQL Database does not have (Microsoft: Troubleshooting connectivity issues
// and other errors with Azure SQL Database, general errors).
func notOnAzure(statement string) *sqltype.Error {
	return sqltype.Errorf(40510, "Statement '%s' is not supported in this version of SQL Server.", statement)
}

func noDatabase(name string) *sqltype.Error {
	return sqltype.Errorf(911, "Database '%s' does not exist. Make sure that the name is entered correctly.", name)
}

// RestoreDatabase is RESTORE DATABASE (Microsoft: RESTORE statements (Transact-SQL)), of a database that is there or of
// one that is not. Everything is as it was at the backup, the log too, so that LSNs go back. A database that had another
// name then loses change data capture unless the caller keeps it, as one that comes from another server does; under
// which name a database is restored there is not what the documentation speaks of (Microsoft: Change data capture and
// other SQL Server features, Restore or attach a database enabled for CDC).
func (s *Session) RestoreDatabase(r tsql.Restore) error {
	if s.srv.Version == Azure {
		return notOnAzure("RESTORE DATABASE")
	}
	db, from, files, err := s.beginRestore(r)
	if err != nil {
		return err
	}
	db.takeAll(from)
	db.placed.Store(&files)
	db.mu.Lock()
	if !r.KeepCDC && !sqltype.EqualName(from.Name, db.Name) {
		db.disable()
	}
	db.resumeJobs()
	db.offline.Store(false)
	db.backedUp.Store(true)
	db.mu.Unlock()
	db.restoring.Store(false)
	return nil
}

// beginRestore finds what a database is restored from, and keeps others out of the database until it is. The server's lock is not
// held while the rows are copied: who looks at a database asks for it behind the database's own.
func (s *Session) beginRestore(r tsql.Restore) (db, from *Database, files []file, err error) {
	s.srv.mu.Lock()
	defer s.srv.mu.Unlock()
	sets := s.srv.backups[r.Device]
	switch {
	case !s.admin():
		return nil, nil, nil, missing("CREATE DATABASE", "master") // or of a member of dbcreator, a role that is not kept apart here
	case systemDatabase(r.Database):
		return nil, nil, nil, sqltype.Unsupported("RESTORE of the database %s", r.Database)
	case sets == nil:
		return nil, nil, nil, sqltype.Errorf(3201, "Cannot open backup device '%s'. Operating system error 2(The system cannot find the file specified.).", r.Device)
	case r.Set < 1 || r.Set > len(sets):
		return nil, nil, nil, sqltype.Errorf(4038, "Cannot find file ID %d on device '%s'.", r.Set, r.Device)
	}
	from = sets[r.Set-1]
	db = s.srv.dbs[lower(r.Database)]
	switch {
	case db == nil:
	case db == s.db:
		return nil, nil, nil, sqltype.Errorf(3102, "RESTORE cannot process database '%s' because it is in use by this session. It is recommended that the master database be used when performing this operation.", db.Name)
	case db.sessions > 0 || db.open.Load() > 0 || db.restoring.Load():
		return nil, nil, nil, sqltype.Errorf(3101, "Exclusive access could not be obtained because the database is in use.")
	case !r.Replace && db.family != from.family:
		return nil, nil, nil, sqltype.Errorf(3154, "The backup set holds a backup of a database other than the existing '%s' database.", db.Name)
	case !r.Replace && *db.recovery.Load() != "SIMPLE" && db.backedUp.Load():
		return nil, nil, nil, sqltype.Errorf(3159, "The tail of the log for the database \"%s\" has not been backed up. Use BACKUP LOG WITH NORECOVERY to backup the log if it contains work you do not want to lose. Use the WITH REPLACE or WITH STOPAT clause of the RESTORE statement to just overwrite the contents of the log.", db.Name)
	}
	if files, err = s.srv.placeFiles(from, r); err != nil {
		return nil, nil, nil, err
	}
	if db == nil {
		db = s.srv.add(r.Database)
	}
	db.restoring.Store(true)
	return db, from, files, nil
}

// placeFiles gives the files of a backup set where a RESTORE puts them, which must not be where another database has its own
// (Microsoft: Backup and restore to URL using managed identities, Duplicate database name: 1834, 3156; Database engine events and
// errors, 3119, 3234). The server's lock is held.
func (s *Server) placeFiles(from *Database, r tsql.Restore) ([]file, error) {
	files := slices.Clone(from.files())
	for _, m := range r.Moves {
		i := slices.IndexFunc(files, func(f file) bool { return sqltype.EqualName(f.name, m.Logical) })
		if i < 0 {
			return nil, sqltype.Errorf(3234, "Logical file '%s' is not part of database '%s'. Use RESTORE FILELISTONLY to list the logical file names.", m.Logical, r.Database)
		}
		files[i].path = m.Path
	}
	var failed *sqltype.Error
	then := func(state uint8, number int32, format string, args ...any) {
		e := sqltype.Errorf(number, format, args...)
		e.State, e.First, failed = state, failed, e
	}
	for _, f := range files {
		for _, other := range s.dbs {
			if !sqltype.EqualName(other.Name, r.Database) && slices.ContainsFunc(other.files(), func(o file) bool { return strings.EqualFold(o.path, f.path) }) {
				then(1, 1834, "The file '%s' cannot be overwritten.  It is being used by database '%s'.", f.path, other.Name)
				then(4, 3156, "File '%s' cannot be restored to '%s'. Use WITH MOVE to identify a valid location for the file.", f.name, f.path)
			}
		}
	}
	if failed == nil {
		return files, nil
	}
	then(1, 3119, "Problems were identified while planning for the RESTORE statement. Previous messages provide details.")
	return nil, failed
}

// resumeJobs brings the jobs, which are not in a backup but in msdb, together with what was restored. Without a capture
// job that runs nobody captures. The lock is held.
func (db *Database) resumeJobs() {
	captures := slices.ContainsFunc(db.tables, func(t *Table) bool { return len(t.inst) > 0 })
	if !captures {
		db.capture, db.cleanup = nil, nil
	}
	db.jobsMade = captures
	db.stopped = captures && (db.capture == nil || db.capture.active == nil)
	db.lastEntry = db.srv.clock.Now()
	db.recover()
	db.srv.poke()
}

// takeAll makes the database a copy of another one, all but its name, its id, its sessions and what the server remembers
// of its scans. Nobody may be in it.
func (db *Database) takeAll(from *Database) {
	from.mu.RLock()
	defer from.mu.RUnlock()
	db.mu.Lock()
	defer db.mu.Unlock()
	db.family = from.family
	db.schemas, db.routines = slices.Clone(from.schemas), maps.Clone(from.routines)
	db.nextObject, db.rowVersion, db.last, db.tran, db.ddls = from.nextObject, from.rowVersion, from.last, from.tran, from.ddls
	db.snapshots.Store(settled(from.snapshots.Load()))
	db.rcsi.Store(from.rcsi.Load())
	db.single.Store(from.single.Load())
	db.enabled.Store(from.enabled.Load())
	db.guid.Store(from.guid.Load())
	db.recovery.Store(from.recovery.Load())
	db.sec.take(from.sec.copy())
	db.mapping = slices.Clip(from.mapping)
	copies := map[*Table]*Table{}
	db.shapes++ // for transactions that have begun, all tables are others now
	db.tables = nil
	for _, t := range from.tables {
		if !isTemporary(t.Name) {
			own := t.restored(db)
			copies[t] = own
			db.tables = append(db.tables, own)
		}
	}
	for _, t := range db.tables {
		for _, k := range t.foreign {
			k.to = copies[k.to]
		}
	}
	db.keepQueue(nil)
	for _, r := range from.queue {
		own := *r
		own.ops = nil
		for _, o := range r.ops {
			if o.table = copies[o.table]; o.table != nil {
				own.ops = append(own.ops, o)
			}
		}
		if r.ddl != nil {
			d := *r.ddl
			if d.table = copies[d.table]; d.table == nil {
				continue // dropped since
			}
			own.ddl = &d
		}
		db.keepQueue(append(db.queue, &own))
	}
}

// restored gives a copy of a table, with its capture instances, for another database.
func (t *Table) restored(db *Database) *Table {
	own := t.copy()
	own.db, own.locks, own.kept, own.hooks, own.shaper = db, map[string]*Tx{}, nil, nil, nil
	own.shaped = db.shapes
	own.indexes = slices.Clone(t.indexes)
	own.inst = nil
	for _, in := range t.inst {
		x := *in
		x.table, x.rows, x.ddl, x.captured = own, slices.Clip(in.rows), slices.Clip(in.ddl), nil
		for _, c := range in.captured {
			col := *c
			x.captured = append(x.captured, &col)
		}
		own.inst = append(own.inst, &x)
	}
	return own
}

// take makes everything of another one, which nobody else has, this one's. It stays the same one: sessions of other databases look at
// it without the database's lock.
func (s *security) take(from *security) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.principals, s.perms, s.owners, s.nextID = from.principals, from.perms, from.owners, from.nextID
}

// copy gives principals and permissions of their own.
func (s *security) copy() *security {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := &security{owners: map[string]*principal{}, nextID: s.nextID}
	copies := map[*principal]*principal{}
	for _, p := range s.principals {
		own := *p
		copies[p] = &own
		out.principals = append(out.principals, &own)
	}
	for _, p := range out.principals {
		if p.members == nil {
			continue
		}
		members := map[*principal]bool{}
		for m, in := range p.members {
			if c := copies[m]; c != nil {
				members[c] = in
			}
		}
		p.members = members
	}
	for _, g := range s.perms {
		own := *g
		own.grantee, own.grantor = copies[g.grantee], copies[g.grantor]
		out.perms = append(out.perms, &own)
	}
	for schema, p := range s.owners {
		out.owners[schema] = copies[p]
	}
	return out
}
