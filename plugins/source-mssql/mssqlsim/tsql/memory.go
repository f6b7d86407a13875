package tsql

import "github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"

// DefaultMemory is how many bytes of rows a session may hold when nothing else is said.
const DefaultMemory = 1 << 30

// memory bounds what a session holds of rows: those that a statement collects to sort, group, join, compare or change
// them, as long as it runs, and those of open cursors. A server puts them into tempdb (Microsoft: tempdb database,
// Internal objects); here they would fill the memory. Rows of tables are not counted, since they are there anyway.
type memory struct {
	// limit is in bytes; 0 is DefaultMemory.
	limit int64
	held  int64
}

// hold is what one step of a statement holds of the session's memory.
type hold struct {
	run  *run
	held int64
}

// take counts bytes that the step keeps. When there are too many, the statement fails at its next look at run.err.
func (h *hold) take(bytes int) { h.held += h.run.take(bytes) }

// drop is called when the step begins anew: it has nothing yet.
func (h *hold) drop(r *run) {
	r.give(h.held)
	h.run, h.held = r, 0
}

// take counts bytes that the statement keeps until its end.
func (r *run) take(bytes int) int64 {
	n := int64(bytes)
	r.held += n
	if r.memory.held += n; r.memory.held > r.memory.bound() {
		r.fail(sqltype.Errorf(sqltype.NumberUnsupported, "mssqlsim holds no more than %d bytes of rows for one session, in its sorts, groups, joins, changes and open cursors, and puts none of them on disk: the flag -memory raises that", r.memory.bound()))
	}
	return n
}

// keep copies a row that the statement keeps until its end. Past the bound it fails.
func (r *run) keep(row sqltype.Row) (sqltype.Row, error) {
	r.take(row.Size())
	return append(sqltype.Row(nil), row...), r.err
}

func (r *run) give(n int64) {
	r.memory.held -= n
	r.held -= n
}

// end gives back what the statement holds.
func (r *run) end() { r.give(r.held) }

func (m *memory) bound() int64 {
	if m.limit == 0 {
		return DefaultMemory
	}
	return m.limit
}

// LimitMemory sets how many bytes of rows the session may hold; 0 is DefaultMemory.
func (s *Settings) LimitMemory(bytes int64) { s.memory.limit = bytes }

// holds makes the session hold the rows of a cursor that was opened, or lets it go.
func (c *heldCursor) holds(s *Settings, rows []sqltype.Row) {
	s.memory.held -= c.held
	c.rows, c.held = rows, 0
	for _, row := range rows {
		c.held += int64(row.Size())
	}
	s.memory.held += c.held
}

// ends lets go of what the cursors hold that end with the batch.
func (b *batch) ends(s *Settings) {
	for _, c := range b.cursors {
		c.holds(s, nil)
	}
	for _, v := range b.cursorVars {
		if v.cursor != nil && !s.cursors.has(v.cursor) {
			v.cursor.holds(s, nil)
		}
	}
}

func (c *cursors) has(o *heldCursor) bool {
	for _, g := range c.global {
		if g == o {
			return true
		}
	}
	return false
}

// mapEntry is about how many bytes an entry of a map takes besides its key, placeSize those of a place in a list.
const (
	mapEntry  = 48
	placeSize = 8
)

// keySet is a set of rows that were seen.
type keySet struct {
	hold hold
	keys map[string]bool
}

func (s *keySet) begin(r *run) {
	s.hold.drop(r)
	s.keys = map[string]bool{}
}

// add tells whether a key is new.
func (s *keySet) add(key []byte) bool {
	if s.keys[string(key)] {
		return false
	}
	s.hold.take(mapEntry + len(key))
	s.keys[string(key)] = true
	return true
}

// rowKey gives the bytes by which rows are compared.
func rowKey(row sqltype.Row, cols []Column) (k []byte) {
	for i, v := range row {
		k = v.AppendKey(k, cols[i].Type)
	}
	return k
}
