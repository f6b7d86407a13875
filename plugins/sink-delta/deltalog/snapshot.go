package deltalog

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// MappingMode is how columns are found in data files (Delta protocol: Column
// Mapping).
type MappingMode string

// The modes of column mapping.
const (
	MappingNone MappingMode = "none"
	MappingName MappingMode = "name"
	MappingID   MappingMode = "id"
)

// state is a version of a table while it is being replayed.
type state struct {
	table    *Table
	version  int64
	protocol *Protocol
	metadata *Metadata
	schema   *Struct
	mapping  MappingMode
	txns     map[string]Txn
	domains  map[string]DomainMetadata
	files    *fileSet
	tombs    *tombstones
	intern   interner
	ict      *int64     // in-commit timestamp of this version, if known
	commit   store.Info // the commit file of this version, if known
}

func newState(t *Table) *state {
	return &state{
		table: t, version: beforeFirst, txns: map[string]Txn{}, domains: map[string]DomainMetadata{},
		files: newFileSet(), intern: interner{},
	}
}

// fork returns a state that may be changed without changing s.
func (s *state) fork() *state {
	n := *s
	n.txns, n.domains = maps.Clone(s.txns), maps.Clone(s.domains)
	n.files = s.files.fork()
	n.intern = interner{}
	return &n
}

// batch is the content of one file of the log, ordered for replay.
type batch struct {
	info     *CommitInfo
	protocol *Protocol
	metadata *Metadata
	adds     []*Add
	removes  []*Remove
	txns     []*Txn
	domains  []*DomainMetadata
	cdc      int
}

// put sorts one action in.
func (b *batch) put(a *Action) {
	switch {
	case a.Add != nil:
		b.adds = append(b.adds, a.Add)
	case a.Remove != nil:
		b.removes = append(b.removes, a.Remove)
	case a.Metadata != nil:
		b.metadata = a.Metadata
	case a.Protocol != nil:
		b.protocol = a.Protocol
	case a.Txn != nil:
		b.txns = append(b.txns, a.Txn)
	case a.DomainMetadata != nil:
		b.domains = append(b.domains, a.DomainMetadata)
	case a.CommitInfo != nil:
		b.info = a.CommitInfo
	case a.CDC != nil:
		b.cdc++
	}
}

// parseCommit reads a commit or a compaction.
func parseCommit(name string, data []byte) (*batch, error) {
	// A file without content is what a writer leaves that shows names before
	// their content. It is not "no actions": the actions are lost.
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, fmt.Errorf("%w: the commit %s is empty; its writer was interrupted or does not write atomically", ErrCorrupt, name)
	}
	b := &batch{}
	err := parseActions(name, data, func(a *Action) error { b.put(a); return nil })
	if err != nil {
		return nil, err
	}
	return b, nil
}

// apply replays one file of the log (Delta protocol: Action Reconciliation).
// Removes go first: the order of actions in a commit means nothing, and a new
// deletion vector removes and adds one path.
func (s *state) apply(b *batch) {
	if b.protocol != nil {
		s.protocol = b.protocol
	}
	if b.metadata != nil {
		s.metadata, s.schema = b.metadata, nil
	}
	for _, t := range b.txns {
		s.txns[t.AppID] = *t
	}
	for _, d := range b.domains {
		if d.Removed {
			delete(s.domains, d.Domain)
		} else {
			s.domains[d.Domain] = *d
		}
	}
	if len(b.removes) > 0 {
		s.tombs = &tombstones{before: s.tombs, list: make([]tombstone, 0, len(b.removes))}
		for _, r := range b.removes {
			s.files.remove(r.Path, r.DeletionVector)
			t := tombstoneOf(r)
			t.partition = s.intern.share(t.partition)
			s.tombs.list = append(s.tombs.list, t)
		}
	}
	for _, a := range b.adds {
		r := recordOf(a)
		r.partition = s.intern.share(r.partition)
		s.files.put(r)
	}
}

// resolve parses what replay kept as text.
func (s *state) resolve() error {
	if s.schema != nil {
		return nil
	}
	schema, err := ParseSchema(s.metadata.SchemaString)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	mode, err := mappingMode(s.protocol, s.metadata)
	if err != nil {
		return err
	}
	if mode == MappingNone {
		// Without mapping, left-over physical names mean nothing.
		stripMapping(schema)
	}
	for _, name := range s.metadata.PartitionColumns {
		if _, at := schema.Field(name); at < 0 {
			return fmt.Errorf("%w: the partition column %q is not in the schema", ErrCorrupt, name)
		}
	}
	if err := checkTypeChanges(s.protocol, schema); err != nil {
		return err
	}
	s.schema, s.mapping = schema, mode
	return nil
}

// mappingMode is the mode in force: the property counts only when the protocol
// has the feature.
func mappingMode(p *Protocol, m *Metadata) (MappingMode, error) {
	if !p.supports(featMapping) {
		return MappingNone, nil
	}
	switch mode := MappingMode(m.Configuration[PropColumnMappingMode]); mode {
	case "", MappingNone:
		return MappingNone, nil
	case MappingName, MappingID:
		return mode, nil
	default:
		return "", fmt.Errorf("%w: %s is %q, not none, name or id", ErrCorrupt, PropColumnMappingMode, mode)
	}
}

func stripMapping(s *Struct) {
	walkFields(s, nil, func(_ []string, f *Field) bool {
		f.Metadata = f.Metadata.Without(metaMappingID).Without(metaPhysicalName)
		return true
	})
}

// Snapshot is one version of a table. It does not change and is safe for
// concurrent use.
type Snapshot struct {
	state
}

// Table is the table that the snapshot is of.
func (s *Snapshot) Table() *Table { return s.table }

// Version is the table version.
func (s *Snapshot) Version() int64 { return s.version }

// Timestamp is the in-commit timestamp of the version, else the time of its
// commit file; the zero time when that file is gone.
func (s *Snapshot) Timestamp() time.Time {
	if s.ict != nil {
		return time.UnixMilli(*s.ict).UTC()
	}
	return s.commit.Modified.UTC()
}

// Metadata is what the table is. It must not be changed.
func (s *Snapshot) Metadata() *Metadata { return s.metadata }

// Protocol is what the table needs. It must not be changed.
func (s *Snapshot) Protocol() *Protocol { return s.protocol }

// Schema is the table's schema, partition columns included. It must not be
// changed. PhysicalName of its fields is right for every table.
func (s *Snapshot) Schema() *Struct { return s.schema }

// PartitionColumns are display names, in order.
func (s *Snapshot) PartitionColumns() []string { return s.metadata.PartitionColumns }

// Properties are the table properties. They must not be changed.
func (s *Snapshot) Properties() Properties { return s.metadata.Configuration }

// MappingMode is the column mapping in force.
func (s *Snapshot) MappingMode() MappingMode { return s.mapping }

// Txn is the newest version that the application has recorded.
func (s *Snapshot) Txn(appID string) (version int64, ok bool) {
	t, ok := s.txns[appID]
	return t.Version, ok
}

// Txns yields what applications have recorded, by application.
func (s *Snapshot) Txns() iter.Seq[Txn] {
	return func(yield func(Txn) bool) {
		for _, id := range slices.Sorted(maps.Keys(s.txns)) {
			if !yield(s.txns[id]) {
				return
			}
		}
	}
}

// Domain is the configuration of a metadata domain.
func (s *Snapshot) Domain(name string) (configuration string, ok bool) {
	d, ok := s.domains[name]
	return d.Configuration, ok
}

// Domains are the names of the metadata domains, sorted.
func (s *Snapshot) Domains() []string { return slices.Sorted(maps.Keys(s.domains)) }

// NumFiles is the number of live files.
func (s *Snapshot) NumFiles() int { return s.files.count }

// SizeInBytes is the sum of the sizes of the live files.
func (s *Snapshot) SizeInBytes() int64 { return s.files.bytes }

// Files yields the live files that may hold rows for which p is true: more
// than needed, never fewer. Columns that p names and the table does not have
// restrict nothing. The Add is the caller's own, but the maps in it are shared
// and must not be changed. DataChange is false in it: it is of a commit, not of
// a file.
func (s *Snapshot) Files(p Predicate) iter.Seq[*Add] {
	return func(yield func(*Add) bool) {
		pr := newPruner(p, s.schema, s.metadata.PartitionColumns)
		for r := range s.files.all() {
			if pr.mayMatch(r.partition, r.stats) && !yield(r.add()) {
				return
			}
		}
	}
}

// File returns the live file of that path, as the log writes it.
func (s *Snapshot) File(path string) (a *Add, ok bool) {
	r, ok := s.files.get(path)
	if !ok {
		return nil, false
	}
	return r.add(), true
}

// PartitionValue reads a partition value of a file by its column's display
// name and type.
func (s *Snapshot) PartitionValue(a *Add, column string) (Value, error) {
	f, at := s.schema.Field(column)
	if at < 0 || !slices.Contains(s.metadata.PartitionColumns, f.Name) {
		return Value{}, fmt.Errorf("%q is no partition column; those are %s", column, strings.Join(s.metadata.PartitionColumns, ", "))
	}
	v, err := ParsePartitionValue(a.PartitionValues[f.PhysicalName()], f.Type)
	if err != nil {
		return Value{}, fmt.Errorf("file %s, column %q: %w", a.Path, column, err)
	}
	return v, nil
}

// CheckWrite says whether this package may write the table: nil, or an
// *UnsupportedError that names the features in the way.
func (s *Snapshot) CheckWrite() error {
	if err := checkWrite(s.protocol, s.metadata, s.schema); err != nil {
		return fmt.Errorf("table %q, version %d: %w", s.table.path, s.version, err)
	}
	return nil
}
