package tsql

import "github.com/sqlc-dev/teesql/ast"

// LockHint is what the table hints of a reference ask of locks (Microsoft: Table hints (Transact-SQL)).
type LockHint struct {
	Isolation Isolation // for this table; 0 is the session's
	// Update and Exclusive ask for update or exclusive locks in place of shared ones, kept until the transaction ends.
	Update, Exclusive bool
	Table             bool // of the whole table
	NoWait            bool
	NoVersions        bool // locks, also where READ COMMITTED reads row versions
}

// Hinted is a relation whose locks hints can change. For others hints mean nothing.
type Hinted interface {
	Hinted(LockHint) Relation
}

// lockHints say what each hint asks for. Hints of plans, and of which size locks are, change no answer.
var lockHints = map[string]LockHint{
	"HoldLock": {Isolation: Serializable}, "Serializable": {Isolation: Serializable}, "RepeatableRead": {Isolation: RepeatableRead},
	"ReadCommitted": {Isolation: ReadCommitted}, "NoLock": {Isolation: ReadUncommitted}, "ReadUncommitted": {Isolation: ReadUncommitted},
	"ReadCommittedLock": {NoVersions: true}, "UpdLock": {Update: true}, "XLock": {Exclusive: true}, "TabLock": {Table: true},
	"TabLockX": {Table: true, Exclusive: true}, "NoWait": {NoWait: true}, "Nowait": {NoWait: true},
	"Rowlock": {}, "PagLock": {}, "ForceSeek": {}, "ForceScan": {},
}

// lockHint adds up the hints of a table; target tells that it is the one a statement changes.
func lockHint(list []ast.TableHintType, target bool) (h LockHint) {
	for _, x := range list {
		t, ok := x.(*ast.TableHint)
		one, known := LockHint{}, false
		if ok {
			one, known = lockHints[t.HintKind]
		}
		if !known {
			unsupported("the table hint %s", hintName(x))
		}
		if one.Isolation != 0 {
			if h.Isolation != 0 && h.Isolation != one.Isolation {
				failf(1047, "Conflicting locking hints specified.")
			}
			h.Isolation = one.Isolation
		}
		h.Update, h.Exclusive, h.Table = h.Update || one.Update, h.Exclusive || one.Exclusive, h.Table || one.Table
		h.NoWait, h.NoVersions = h.NoWait || one.NoWait, h.NoVersions || one.NoVersions
	}
	if h.Isolation == ReadUncommitted {
		switch {
		case target:
			failf(1065, "The NOLOCK and READUNCOMMITTED lock hints are not allowed for target tables of INSERT, UPDATE, DELETE or MERGE statements.")
		case h.Update || h.Exclusive || h.Table || h.NoVersions:
			failf(1047, "Conflicting locking hints specified.")
		}
	}
	return h
}

// hinted gives the relation as its hints want it.
func hinted(rel Relation, h LockHint) Relation {
	if r, ok := rel.(Hinted); ok && h != (LockHint{}) {
		return r.Hinted(h)
	}
	return rel
}

func hintName(h ast.TableHintType) string {
	if t, ok := h.(*ast.TableHint); ok {
		return optionWord(t.HintKind)
	}
	return nodeName(h)
}
