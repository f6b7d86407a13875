package ledger

import (
	"context"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// CodeNameTaken is the code of the diagnostic about a table whose name another
// table of the lake has.
const CodeNameTaken = "ledger.name_taken"

// Place tells tables of one name apart: facts and control know a table by its
// name alone, and two configurations of one lake may put tables of one name into
// folders of their own.
type Place struct {
	// Path is where the table lies below the root of its sink.
	Path string
	// ID is the table's identity, new when it is created again.
	ID string
}

// PlaceOf is the place of a table that exists, or of one that is to be created,
// which has no ID yet.
func PlaceOf(t plugin.TableState) Place { return Place{Path: t.Table.Place(), ID: t.ID} }

// place looks at a table for its identity.
func (l *Ledger) place(ctx context.Context, ref plugin.TableRef) (Place, error) {
	state, err := l.look(ctx, ref)
	if err != nil {
		return Place{}, err
	}
	state.Table = ref
	return PlaceOf(state), nil
}

// same reports whether both may be one table: it was moved, or created again where
// it was. What is not known tells nothing.
func (p Place) same(other Place) bool {
	return p.Path == "" || other.Path == "" || p.Path == other.Path || p.ID != "" && p.ID == other.ID
}

// Names fails with kind stale when the row is about another table of this name,
// which lies elsewhere: its verdict and its position would be taken for those of
// this table. control is the name of the control table.
func (r ControlRow) Names(table string, at Place, control string) error {
	if r.Place.same(at) {
		return nil
	}
	d := diag.Errorf(diag.KindStale, CodeNameTaken,
		"Facts and control of a lake know a table by its name: its batches, its verdict and its position would be mixed with the other's. Give this one another target, and a stream another app_id. If the other table is no more, delete its row in "+control+", and its rows in facts.",
		"The name %s is that of a table at %q in this lake, and this one lies at %q", table, r.Place.Path, at.Path)
	return d.Err()
}
