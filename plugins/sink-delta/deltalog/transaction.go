package deltalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// Transaction collects what one commit will do. It is not safe for concurrent
// use and good for one Commit. Mistakes in what it is given come out of Commit.
type Transaction struct {
	table    *Table
	snapshot *Snapshot

	creates    bool
	enablesICT bool
	protocol   *Protocol // changed protocol, nil if it is not
	metadata   *Metadata // changed metadata, nil if it is not
	schema     *Struct   // of metadata

	adds    []*Add
	removes []*Remove
	txns    []Txn
	domains []DomainMetadata

	userMetadata *string
	operation    string
	parameters   map[string]json.RawMessage
	metrics      map[string]string

	readAll    bool
	predicates []*pruner
	readFiles  map[string]struct{}

	removed map[string]string   // paths of removes with their vector's id, set by validate
	added   map[string]struct{} // paths of adds, set by validate

	committed bool
	err       error // the first mistake of the caller
}

// Begin starts a transaction on what the snapshot shows.
func (t *Table) Begin(s *Snapshot) *Transaction {
	return &Transaction{table: t, snapshot: s, operation: "WRITE", readFiles: map[string]struct{}{}}
}

// Snapshot is what the transaction was begun on.
func (tx *Transaction) Snapshot() *Snapshot { return tx.snapshot }

func (tx *Transaction) fail(format string, args ...any) {
	if tx.err == nil {
		tx.err = fmt.Errorf("%w: %w", ErrInvalidCommit, fmt.Errorf(format, args...))
	}
}

// AddFile adds a data file that has been written. Path must be percent-encoded
// (see EncodePath), PartitionValues keyed by physical name. Empty statistics
// are allowed, except with a deletion vector.
func (tx *Transaction) AddFile(a *Add) {
	c := *a
	tx.adds = append(tx.adds, &c)
}

// RemoveFile removes a file that the snapshot has. dataChange is false when the
// commit only rearranges rows.
func (tx *Transaction) RemoveFile(a *Add, dataChange bool) {
	have, ok := tx.snapshot.files.get(a.Path)
	if !ok || have.dv().ID() != a.DeletionVector.ID() {
		tx.fail("the file %s is not in version %d as it is to be removed", a.Path, tx.snapshot.version)
		return
	}
	r := have.add().Remove(tx.table.clock.Now().UnixMilli(), dataChange)
	tx.removes = append(tx.removes, r)
}

// ReplaceDeletionVector marks more rows of a file as deleted: it removes the
// file as it is and adds it with dv, which must hold the old rows too. Its
// statistics stay, as bounds that may be wide now.
func (tx *Transaction) ReplaceDeletionVector(a *Add, dv *DeletionVector) {
	tx.RemoveFile(a, true)
	have, ok := tx.snapshot.files.get(a.Path)
	if !ok {
		return // RemoveFile has said so
	}
	c := have.add()
	c.DeletionVector, c.DataChange = dv, true
	stats, err := wideStats(c.Stats)
	if err != nil {
		tx.fail("the file %s cannot get a deletion vector: %w", a.Path, err)
	}
	c.Stats = stats
	tx.adds = append(tx.adds, c)
}

// wideStats is the same statistics with tightBounds false. Nothing else is
// touched, so values of columns and types that are not known stay.
func wideStats(text string) (string, error) {
	if _, ok := (&Add{Stats: text}).NumRecords(); !ok {
		return "", fmt.Errorf("its statistics have no numRecords, which the protocol asks for")
	}
	out := []byte{'{'}
	scanFields(text, func(name, value string) bool {
		if name != "tightBounds" {
			key, _ := marshal(name) // a string is always JSON
			out = append(append(append(append(out, key...), ':'), value...), ',')
		}
		return true
	})
	out = append(out, `"tightBounds":false}`...)
	if !json.Valid(out) {
		return "", fmt.Errorf("its statistics are no JSON object")
	}
	return string(out), nil
}

// SetTxn records how far an application has come. Commit fails with *TxnError
// when the table has that version or a later one.
func (tx *Transaction) SetTxn(appID string, version int64) {
	now := tx.table.clock.Now().UnixMilli()
	for _, t := range tx.txns {
		if t.AppID == appID {
			tx.fail("two versions of the application %q", appID)
			return
		}
	}
	if appID == "" {
		tx.fail("an application without an id")
	}
	tx.txns = append(tx.txns, Txn{AppID: appID, Version: version, LastUpdated: &now})
}

// SetDomain sets the configuration of a metadata domain. The table must have
// the feature domainMetadata.
func (tx *Transaction) SetDomain(name, configuration string) {
	tx.setDomain(DomainMetadata{Domain: name, Configuration: configuration})
}

// RemoveDomain removes a metadata domain.
func (tx *Transaction) RemoveDomain(name string) {
	tx.setDomain(DomainMetadata{Domain: name, Configuration: tx.snapshot.domains[name].Configuration, Removed: true})
}

func (tx *Transaction) setDomain(d DomainMetadata) {
	if d.Domain == "" || slices.ContainsFunc(tx.domains, func(o DomainMetadata) bool { return o.Domain == d.Domain }) {
		tx.fail("the metadata domain %q is empty or set twice", d.Domain)
		return
	}
	tx.domains = append(tx.domains, d)
}

// SetUserMetadata sets the text that the commit carries, verbatim.
func (tx *Transaction) SetUserMetadata(text string) { tx.userMetadata = &text }

// SetOperation says what history shows: a name such as WRITE or MERGE and
// parameters. Parameter values are text, by Spark's habit often JSON.
func (tx *Transaction) SetOperation(name string, parameters map[string]string) {
	tx.operation = name
	tx.parameters = map[string]json.RawMessage{}
	for k, v := range parameters {
		raw, err := marshal(v)
		if err != nil {
			tx.fail("operation parameter %q: %w", k, err)
			continue
		}
		tx.parameters[k] = raw
	}
}

// SetMetrics sets the operation metrics, for example numOutputRows.
func (tx *Transaction) SetMetrics(metrics map[string]int64) {
	tx.metrics = make(map[string]string, len(metrics))
	for k, v := range metrics {
		tx.metrics[k] = strconv.FormatInt(v, 10)
	}
}

// ReadPredicate says that the rows that p selects were read: a commit in
// between that adds or removes files with such rows is a conflict. A
// transaction that reads nothing and only adds is a blind append.
func (tx *Transaction) ReadPredicate(p Predicate) {
	if len(p) == 0 {
		tx.readAll = true
		return
	}
	if err := p.validate(); err != nil {
		tx.fail("read predicate: %w", err)
		return
	}
	tx.predicates = append(tx.predicates, newPruner(p, tx.snapshot.schema, tx.snapshot.metadata.PartitionColumns))
}

// ReadTable says that everything was read.
func (tx *Transaction) ReadTable() { tx.readAll = true }

// ReadFile says that one file was read.
func (tx *Transaction) ReadFile(a *Add) { tx.readFiles[a.Path] = struct{}{} }

// reads reports whether the commit depends on what is in the table.
func (tx *Transaction) reads() bool {
	return tx.readAll || len(tx.predicates) > 0 || len(tx.readFiles) > 0
}

// blindAppend holds for commits that only add rows and read none.
func (tx *Transaction) blindAppend() bool {
	if tx.reads() || len(tx.removes) > 0 || len(tx.adds) == 0 {
		return false
	}
	return !slices.ContainsFunc(tx.adds, func(a *Add) bool { return !a.DataChange })
}

// validate reports what breaks the protocol (Delta protocol: Additional
// Requirements for Writers).
func (tx *Transaction) validate() error {
	if tx.committed {
		tx.fail("the transaction was committed already")
	}
	if tx.err != nil {
		return tx.err
	}
	protocol, metadata, schema := tx.currentProtocol(), tx.currentMetadata(), tx.Schema()
	if err := checkWrite(protocol, metadata, schema); err != nil {
		return err
	}
	props := Properties(metadata.Configuration)
	removed := map[string]string{}
	added := map[string]struct{}{}
	tx.removed, tx.added = removed, added
	for _, r := range tx.removes {
		if _, ok := removed[r.Path]; ok {
			tx.fail("the file %s is removed twice", r.Path)
		}
		removed[r.Path] = r.DeletionVector.ID()
		if !r.DataChange {
			continue
		}
		if props.AppendOnly() {
			return fmt.Errorf("%w: %s is true and the commit removes the file %s (%s)", ErrAppendOnly, PropAppendOnly, r.Path, featAppendOnly)
		}
		if protocol.supports(featCDF) && props.Bool(PropChangeDataFeed, false) {
			return &UnsupportedError{Features: []string{featCDF}, Detail: PropChangeDataFeed + " is true, and changed or deleted rows would have to be written as change data files"}
		}
	}
	var partition []string
	for _, name := range metadata.PartitionColumns {
		f, _ := schema.Field(name)
		partition = append(partition, f.PhysicalName())
	}
	for _, a := range tx.adds {
		if err := tx.validateAdd(a, partition); err != nil {
			tx.fail("file %s: %w", a.Path, err)
		}
		if _, ok := added[a.Path]; ok {
			tx.fail("the file %s is added twice", a.Path)
		}
		added[a.Path] = struct{}{}
		if have, live := tx.snapshot.files.get(a.Path); live {
			// The same logical file may be added again, to change its facts.
			if _, gone := removed[a.Path]; !gone && have.dv().ID() != a.DeletionVector.ID() {
				tx.fail("the file %s is in the table with another deletion vector, which must be removed in the same commit", a.Path)
			}
		}
		if id, gone := removed[a.Path]; gone && id == a.DeletionVector.ID() {
			tx.fail("the file %s is added and removed", a.Path)
		}
		if a.DeletionVector != nil {
			have, live := tx.snapshot.files.get(a.Path)
			changed := !live || have.dv().ID() != a.DeletionVector.ID()
			if !protocol.supports(featDV) || changed && !props.DeletionVectors() {
				tx.fail("the file %s has a deletion vector, but %s is not true", a.Path, PropDeletionVectors)
			}
		}
	}
	if len(tx.domains) > 0 && !protocol.supports(featDomain) {
		tx.fail("the table does not have the feature %s", featDomain)
	}
	return tx.err
}

func (tx *Transaction) validateAdd(a *Add, partition []string) error {
	location, object, err := decodePath(a.Path)
	switch {
	case err != nil:
		return err
	case location == "" && object == "":
		return fmt.Errorf("it has no path")
	case a.Size <= 0:
		return fmt.Errorf("its size is %d", a.Size)
	case len(a.PartitionValues) != len(partition):
		return fmt.Errorf("it has %d partition values, the table %d partition columns", len(a.PartitionValues), len(partition))
	}
	for _, name := range partition {
		if _, ok := a.PartitionValues[name]; !ok {
			return fmt.Errorf("it has no value for the partition column %q", name)
		}
	}
	if a.Stats != "" && !json.Valid([]byte(a.Stats)) {
		return fmt.Errorf("its statistics are no JSON")
	}
	if a.DeletionVector != nil {
		if n, ok := a.NumRecords(); !ok {
			return fmt.Errorf("it has a deletion vector and no numRecords in its statistics")
		} else if a.DeletionVector.Cardinality > n {
			return fmt.Errorf("its deletion vector takes away %d rows of %d", a.DeletionVector.Cardinality, n)
		}
	}
	return nil
}
