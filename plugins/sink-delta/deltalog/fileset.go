package deltalog

import (
	"hash/maphash"
	"iter"
	"maps"
	"slices"
	"sort"
	"strings"
)

// fileRecord is a live file as a snapshot keeps it. There may be a million of
// them: statistics stay text, partition values are shared, and what few files
// have is behind one pointer.
type fileRecord struct {
	path      string
	stats     string
	partition map[string]*string
	rare      *rareFacts
	size      int64
	modified  int64
}

type rareFacts struct {
	dv         *DeletionVector
	tags       map[string]string
	baseRowID  *int64
	rowVersion *int64
	clustering string
}

func recordOf(a *Add) fileRecord {
	r := fileRecord{path: a.Path, stats: a.Stats, partition: a.PartitionValues, size: a.Size, modified: a.ModificationTime}
	if a.DeletionVector != nil || len(a.Tags) > 0 || a.BaseRowID != nil || a.DefaultRowCommitVersion != nil || a.ClusteringProvider != "" {
		r.rare = &rareFacts{a.DeletionVector, a.Tags, a.BaseRowID, a.DefaultRowCommitVersion, a.ClusteringProvider}
	}
	return r
}

func (r *fileRecord) add() *Add {
	a := &Add{Path: r.path, Stats: r.stats, PartitionValues: r.partition, Size: r.size, ModificationTime: r.modified}
	if x := r.rare; x != nil {
		a.Tags, a.BaseRowID, a.DefaultRowCommitVersion, a.ClusteringProvider = x.tags, x.baseRowID, x.rowVersion, x.clustering
		if x.dv != nil {
			dv := *x.dv
			a.DeletionVector = &dv
		}
	}
	return a
}

func (r *fileRecord) dv() *DeletionVector {
	if r.rare == nil {
		return nil
	}
	return r.rare.dv
}

// fileSet holds the live files of a snapshot by path: of one path only one
// deletion vector can be live (Delta protocol: Add File and Remove File).
//
// Successive snapshots share the large part (base), which never changes once
// sealed, and copy the small part that says how they differ from it.
type fileSet struct {
	base  *fileBase
	owned bool // base is still being built and may be changed

	gone map[uint32]struct{} // files of base that are no longer live
	over map[string]fileRecord

	count int
	bytes int64
}

// fileBase is an open-addressing table: four bytes a slot beside the records.
type fileBase struct {
	seed  maphash.Seed
	files []fileRecord
	slots []uint32 // index into files + 1; 0 is free
	dead  int      // files whose path is "", removed while building
}

func newFileSet() *fileSet {
	return &fileSet{base: &fileBase{seed: maphash.MakeSeed()}, owned: true}
}

// fork returns a set that can be changed without changing f.
func (f *fileSet) fork() *fileSet {
	n := *f
	n.owned = false
	n.gone, n.over = maps.Clone(f.gone), maps.Clone(f.over)
	if len(n.gone)+len(n.over) > n.overlayLimit() {
		return n.rebuilt()
	}
	return &n
}

// overlayLimit balances what each fork copies against how often the whole is
// copied.
func (f *fileSet) overlayLimit() int {
	limit := 1024
	for limit*limit < 64*len(f.base.files) {
		limit *= 2
	}
	return limit
}

func (f *fileSet) rebuilt() *fileSet {
	n := newFileSet()
	n.base.files = make([]fileRecord, 0, f.count)
	for r := range f.all() {
		n.put(*r)
	}
	return n
}

// seal ends the building phase.
func (f *fileSet) seal() {
	if f.owned && f.base.dead > len(f.base.files)/4 {
		*f = *f.rebuilt()
	}
	f.owned = false
}

func (b *fileBase) find(path string) (index uint32, ok bool) {
	if len(b.slots) == 0 {
		return 0, false
	}
	mask := uint64(len(b.slots) - 1)
	for at := maphash.String(b.seed, path) & mask; ; at = (at + 1) & mask {
		slot := b.slots[at]
		if slot == 0 {
			return 0, false
		}
		if b.files[slot-1].path == path {
			return slot - 1, true
		}
	}
}

func (b *fileBase) insert(r fileRecord) {
	if 4*(len(b.files)+1) > 3*len(b.slots) {
		b.slots = make([]uint32, max(64, 2*len(b.slots)))
		for i := range b.files {
			if b.files[i].path != "" {
				b.place(b.files[i].path, uint32(i+1))
			}
		}
	}
	b.files = append(b.files, r)
	b.place(r.path, uint32(len(b.files)))
}

func (b *fileBase) place(path string, slot uint32) {
	mask := uint64(len(b.slots) - 1)
	at := maphash.String(b.seed, path) & mask
	for b.slots[at] != 0 {
		at = (at + 1) & mask
	}
	b.slots[at] = slot
}

// get returns the live file of that path.
func (f *fileSet) get(path string) (*fileRecord, bool) {
	if r, ok := f.over[path]; ok {
		return &r, true
	}
	i, ok := f.base.find(path)
	if !ok {
		return nil, false
	}
	if _, gone := f.gone[i]; gone {
		return nil, false
	}
	return &f.base.files[i], true
}

// put makes a file live, in place of one with the same path.
func (f *fileSet) put(r fileRecord) {
	f.drop(r.path)
	f.count++
	f.bytes += r.size
	if f.owned {
		f.base.insert(r)
		return
	}
	if f.over == nil {
		f.over = map[string]fileRecord{}
	}
	f.over[r.path] = r
}

// drop takes a path out of the set.
func (f *fileSet) drop(path string) {
	r, ok := f.get(path)
	if !ok {
		return
	}
	f.count--
	f.bytes -= r.size
	if _, ok := f.over[path]; ok {
		delete(f.over, path)
		return
	}
	i, _ := f.base.find(path)
	if f.owned {
		f.base.files[i] = fileRecord{}
		f.base.dead++
		return
	}
	if f.gone == nil {
		f.gone = map[uint32]struct{}{}
	}
	f.gone[i] = struct{}{}
}

// remove takes a logical file out of the set: the path with that deletion
// vector. Another vector under the path is another logical file and stays.
func (f *fileSet) remove(path string, dv *DeletionVector) {
	if r, ok := f.get(path); ok && r.dv().ID() == dv.ID() {
		f.drop(path)
	}
}

// all yields the live files in an order that is the same for the same history.
func (f *fileSet) all() iter.Seq[*fileRecord] {
	return func(yield func(*fileRecord) bool) {
		for i := range f.base.files {
			r := &f.base.files[i]
			if r.path == "" {
				continue
			}
			if _, gone := f.gone[uint32(i)]; gone {
				continue
			}
			if !yield(r) {
				return
			}
		}
		for _, path := range slices.Sorted(maps.Keys(f.over)) {
			r := f.over[path]
			if !yield(&r) {
				return
			}
		}
	}
}

// tombstone is a removed file that the table still remembers.
type tombstone struct {
	path       string
	dv         *DeletionVector
	partition  map[string]*string
	rowVersion *int64
	baseRowID  *int64
	deleted    int64 // milliseconds since 1970
	size       int64 // -1 when not known
	dataChange bool
	extended   bool
}

func tombstoneOf(r *Remove) tombstone {
	t := tombstone{
		path: r.Path, dv: r.DeletionVector, partition: r.PartitionValues, size: -1,
		dataChange: r.DataChange, extended: r.ExtendedFileMetadata,
		rowVersion: r.DefaultRowCommitVersion, baseRowID: r.BaseRowID,
	}
	if r.DeletionTimestamp != nil {
		t.deleted = *r.DeletionTimestamp
	}
	if r.Size != nil {
		t.size = *r.Size
	}
	return t
}

func (t *tombstone) id() string { return t.path + "\x00" + t.dv.ID() }

// tombstones is a list that grows at its end; snapshots share what is before.
type tombstones struct {
	before *tombstones
	list   []tombstone
}

// live returns the tombstones younger than the cutoff (milliseconds since 1970)
// whose file did not come back, each once, by path.
func (t *tombstones) live(files *fileSet, cutoff int64) []tombstone {
	seen := map[string]bool{}
	var out []tombstone
	for ; t != nil; t = t.before {
		for i := len(t.list) - 1; i >= 0; i-- {
			e := &t.list[i]
			// deletionTimestamp is optional; without one the file counts as long gone.
			if e.deleted <= cutoff || seen[e.id()] {
				continue
			}
			seen[e.id()] = true
			if r, ok := files.get(e.path); ok && r.dv().ID() == e.dv.ID() {
				continue
			}
			out = append(out, *e)
		}
	}
	sort.Slice(out, func(i, j int) bool { return strings.Compare(out[i].id(), out[j].id()) < 0 })
	return out
}

// interner shares equal partition values.
type interner map[string]map[string]*string

func (in interner) share(values map[string]*string) map[string]*string {
	if len(values) == 0 {
		return noValues
	}
	var key strings.Builder
	for _, name := range slices.Sorted(maps.Keys(values)) {
		key.WriteString(name)
		if v := values[name]; v != nil {
			key.WriteString("\x00=")
			key.WriteString(*v)
		}
		key.WriteString("\x00;")
	}
	if have, ok := in[key.String()]; ok {
		return have
	}
	in[key.String()] = values
	return values
}

// noValues are the partition values of files of a table without partitions.
// Nobody writes to it.
var noValues = map[string]*string{}
