package plan

import (
	"fmt"
	"slices"

	"github.com/pipectl/pipectl/core/diag"
)

// Class says what a change of a table means for what the table holds.
type Class string

// Classes, the mildest first.
const (
	// ClassInPlace adds to the table and touches nothing that it holds.
	ClassInPlace Class = "in place"
	// ClassRestart is in place, and a run that is under way follows it only after
	// it was started again.
	ClassRestart Class = "restart"
	// ClassResnapshot makes the rows that the table holds wrong for what is
	// declared: they have to be read once more.
	ClassResnapshot Class = "re-snapshot"
	// ClassDestructive gives up values that the table holds.
	ClassDestructive Class = "destructive"
)

var classes = []Class{ClassInPlace, ClassRestart, ClassResnapshot, ClassDestructive}

// Change is one difference between what is declared and what stands: a column
// or a key, as the source, the tables and what was accepted show it.
type Change struct {
	// Code is that of the diagnostic, where the change has one; documented.
	Code  string
	Class Class
	// Table is the dotted name of the table that it concerns, Column the column,
	// "" for a key.
	Table, Column string
	// Text says what changes and what becomes of the rows, for people.
	Text string
	// Refused is true for a change that is not carried out; an error of the step
	// says the way out.
	Refused bool
}

// String is the change in one line: column note of bronze.orders: ... (in place).
func (c Change) String() string {
	what := "key"
	if c.Column != "" {
		what = "column " + diag.Column(c.Column)
	}
	return fmt.Sprintf("%s of %s: %s (%s)", what, c.Table, c.Text, c.Class)
}

// Worst is the class of the changes of a table that means most; "" for none.
func Worst(changes []Change, table string) Class {
	worst := -1
	for _, c := range changes {
		if c.Table == table {
			worst = max(worst, slices.Index(classes, c.Class))
		}
	}
	if worst < 0 {
		return ""
	}
	return classes[worst]
}
