package main

import (
	"fmt"
	"maps"
	"strings"
)

// kinds counts what is in a workload, as its changes tell it.
type kinds struct {
	changes                    int
	inserts, updates, deletes  int // events of operation c, u and d
	moves                      int // keys: an insert and a delete of one transaction that differ in the key alone
	transactions               int
	overTwo                    int // transactions with changes of both tables
	several                    int // transactions with more than one change of a table
	secondInstance, lateColumn int // changes that the second capture instance gives; those with a value in the column that came late
}

// count looks at changes in the order of their LSNs.
func count(changes []event) kinds {
	n := kinds{changes: len(changes)}
	for len(changes) > 0 {
		end := 1
		for end < len(changes) && changes[end].commit == changes[0].commit {
			end++
		}
		n.transaction(changes[:end])
		changes = changes[end:]
	}
	return n
}

// transaction counts the changes of one commit.
func (n *kinds) transaction(changes []event) {
	n.transactions++
	of := map[string]int{}
	var gone []event
	for _, e := range changes {
		of[e.table]++
		switch e.op {
		case "c":
			n.inserts++
		case "u":
			n.updates++
		case "d":
			n.deletes++
			gone = append(gone, e)
		}
		if e.instance == secondInstance {
			n.secondInstance++
		}
		if e.before[lateColumn] != "" || e.after[lateColumn] != "" {
			n.lateColumn++
		}
	}
	for _, e := range changes {
		for i, d := range gone {
			if e.op == "c" && e.table == d.table && moved(e.table, d.before, e.after) {
				n.moves++
				gone[i].table = "" // it has moved once
				break
			}
		}
	}
	if len(of) > 1 {
		n.overTwo++
	}
	for _, rows := range of {
		if rows > 1 {
			n.several++
			break
		}
	}
}

// moved tells whether a row is another one with a new key. SQL Server logs the change of a key as a delete and an insert
// (Microsoft: cdc.<capture_instance>_CT).
func moved(table string, from, to image) bool {
	rest, same := maps.Clone(from), maps.Clone(to)
	changed := false
	for _, column := range keyOf[table] {
		changed = changed || from[column] != to[column]
		delete(rest, column)
		delete(same, column)
	}
	return changed && maps.Equal(rest, same)
}

// complete holds that every kind was there, and as many changes as were asked for: two programs that see nothing agree, too.
func (n kinds) complete(changes int) error {
	var absent []string
	for _, k := range n.named() {
		if k.count == 0 {
			absent = append(absent, k.name)
		}
	}
	if len(absent) > 0 {
		return fmt.Errorf("both programs agree, but the workload had no %s: %s", strings.Join(absent, ", no "), n)
	}
	if n.changes < changes {
		return fmt.Errorf("both programs agree, but there were %d changes only, not %d: %s", n.changes, changes, n)
	}
	return nil
}

type named struct {
	count int
	name  string
}

func (n kinds) named() []named {
	return []named{
		{n.inserts, "inserts"}, {n.updates, "updates"}, {n.deletes, "deletes"}, {n.moves, "key updates"},
		{n.overTwo, "transactions over two tables"}, {n.several, "transactions with several rows of a table"},
		{n.secondInstance, "changes of the second capture instance"}, {n.lateColumn, "changes with the added column"},
	}
}

func (n kinds) String() string {
	parts := make([]string, 0, 8)
	for _, k := range n.named() {
		parts = append(parts, fmt.Sprintf("%d %s", k.count, k.name))
	}
	return fmt.Sprintf("%d changes in %d transactions: %s", n.changes, n.transactions, strings.Join(parts, ", "))
}
