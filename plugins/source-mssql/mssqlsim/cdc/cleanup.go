package cdc

import (
	"sort"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// entriesBefore gives the number of mapping entries below an LSN.
func (db *Database) entriesBefore(l LSN) int {
	return sort.Search(len(db.mapping), func(i int) bool { return !db.mapping[i].LSN.Less(l) })
}

// sharedTime lowers an LSN that is an entry's to the first entry with the same commit time
// (Microsoft: sys.sp_cdc_cleanup_change_table (Transact-SQL)). The lock is held for reading at least.
func (db *Database) sharedTime(low LSN) LSN {
	i := db.entriesBefore(low)
	if i == len(db.mapping) || db.mapping[i].LSN != low {
		return low
	}
	for i > 0 && db.mapping[i-1].End == db.mapping[i].End {
		i--
	}
	return db.mapping[i].LSN
}

// raise moves the low watermark up; it never goes down.
func (in *Instance) raise(low LSN) {
	if in.start.Less(low) {
		in.start = low
	}
}

// Cleanup is sys.sp_cdc_cleanup_change_table: it moves the low watermark first and then deletes change rows below it,
// and mapping entries below every instance's. The mark is lowered to the first entry that shares its commit time.
func (db *Database) Cleanup(instance string, low LSN) error {
	db.mu.RLock()
	low = db.sharedTime(low)
	db.mu.RUnlock()
	return db.CleanupAt(instance, low, nil)
}

// CleanupAt is Cleanup at exactly the given mark. first runs, if given, after the watermark moved and before rows go.
func (db *Database) CleanupAt(instance string, low LSN, first func()) error {
	db.mu.Lock()
	in, ok := db.instance(instance)
	if !ok {
		db.mu.Unlock()
		return noInstance()
	}
	in.raise(low)
	db.mu.Unlock()
	if first != nil {
		first()
	}
	db.purge([]*Instance{in}, 0, func() bool { return true })
	return nil
}

// purge deletes what lies below the low watermarks: change rows of the instances, at most threshold of them at a time
// while others may read (0 is all), then mapping entries that no instance needs. It stops when going gives false, which
// is asked with the lock held.
func (db *Database) purge(instances []*Instance, threshold int64, going func() bool) {
	for _, in := range instances {
		for left := true; left; {
			db.mu.Lock()
			if !going() {
				db.mu.Unlock()
				return
			}
			n := in.before(in.start)
			if left = threshold > 0 && int64(n) > threshold; left {
				n = int(threshold)
			}
			if in.rows = in.rows[n:]; !left {
				in.rows = append([]change(nil), in.rows...)
			}
			db.mu.Unlock()
		}
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.recover() // rows that a column's new type did not fit may be gone
	lowest, any := LSN{}, false
	for _, t := range db.tables {
		for _, x := range t.inst {
			if !any || x.start.Less(lowest) {
				lowest, any = x.start, true
			}
		}
	}
	k := db.entriesBefore(lowest)
	if k == len(db.mapping) && k > 0 {
		k-- // the newest entry stays: it is where capture is
	}
	db.mapping = append([]*Entry(nil), db.mapping[k:]...)
}

// runCleanup is a run of the cleanup job, which somebody has marked active: the newest commit time less the retention
// becomes the low watermark of all instances at once, and then rows go
// (Microsoft: Administer and monitor change data capture, Structure of the cleanup job).
func (db *Database) runCleanup() {
	db.mu.Lock()
	j := db.cleanup
	if j == nil || j.active == nil {
		db.mu.Unlock()
		return
	}
	settings := *j.active
	var instances []*Instance
	if n := len(db.mapping); n > 0 {
		oldest := db.mapping[n-1].End - settings.retention*sqltype.TicksPerMinute
		low := db.mapping[n-1].LSN
		for _, e := range db.mapping { // times may go back where a clock was set: the first that is young enough
			if e.End >= oldest {
				low = e.LSN
				break
			}
		}
		for _, t := range db.tables {
			for _, in := range t.inst {
				in.raise(low)
				instances = append(instances, in)
			}
		}
	}
	db.mu.Unlock()
	db.purge(instances, settings.threshold, func() bool { return db.cleanup == j && j.active != nil })
	db.mu.Lock()
	db.over(j)
	db.mu.Unlock()
}
