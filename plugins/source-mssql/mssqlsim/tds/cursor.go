package tds

import (
	"context"
	"fmt"
)

// cursor is a server cursor. Its rows are read, in their encoded form, when it opens (as SQL Server does for a static
// cursor); it is read-only.
type cursor struct {
	opened bool
	cols   []wireColumn
	data   []byte
	ends   []int // of each row in data
	at     int   // index of the first row of the last fetch; -1 is before the first
	n      int   // rows of the last fetch
	room   int64 // bytes that data may still grow by; negative is any number
}

// add keeps a row.
func (cu *cursor) add(row []byte) error {
	if cu.room >= 0 {
		if cu.room -= int64(len(row)); cu.room < 0 {
			return &Error{Number: numberUnbuilt, Class: 16, State: 1, Line: 1, Msg: "mssqlsim holds no more bytes of rows for the server cursors of one session, and puts none of them on disk: the flag -memory raises that"}
		}
	}
	cu.data = append(cu.data, row...)
	cu.ends = append(cu.ends, len(cu.data))
	return nil
}

// room is how many bytes of rows a new cursor of the session may hold; negative is any number.
func (s *Session) room(bound int64) int64 {
	if bound == 0 {
		return -1
	}
	for _, cu := range s.cursors {
		bound -= int64(len(cu.data))
	}
	return max(bound, 0)
}

// row is the encoded row i.
func (cu *cursor) row(i int) []byte {
	begin := 0
	if i > 0 {
		begin = cu.ends[i-1]
	}
	return cu.data[begin:cu.ends[i]]
}

// The types of a fetch (Microsoft: sp_cursorfetch).
const (
	fetchFirst    = 0x0001
	fetchNext     = 0x0002
	fetchPrev     = 0x0004
	fetchLast     = 0x0008
	fetchAbsolute = 0x0010
	fetchRelative = 0x0020
	fetchRefresh  = 0x0080
	fetchInfo     = 0x0100
)

// What sp_cursoropen answers (Microsoft: sp_cursoropen).
const (
	scrollKinds = 0x001F // keyset, dynamic, forward only, static, fast forward; the flags above are not taken up
	ccReadOnly  = 1
	rowFetched  = 1 // ROWSTAT
)

// opening says where the parameters of a procedure that opens a cursor stand.
type opening struct {
	cursor int // the handle that is returned
	scroll int // scroll option, concurrency option and row count from here on
	args   int // of the statement
}

// cursorCall answers the procedures of server cursors.
func (c *connection) cursorCall(ctx context.Context, name string, ps []Param, r *Results, more bool) error {
	s := c.sess
	switch name {
	case "sp_cursoropen": // cursor, statement, scroll, concurrency, rows [, declarations, arguments]
		if err := expect(ps, name, "cursor", "stmt"); err != nil {
			return refuse(r, err, more)
		}
		p := prepared{textAt(ps, 1), declaredNames(textAt(ps, 5))}
		return c.openCursor(ctx, p, ps, opening{cursor: 0, scroll: 2, args: 6}, r, more)
	case "sp_cursorprepare": // handle, declarations, statement, options
		if err := expect(ps, name, "prepared_handle", "params", "stmt"); err != nil {
			return refuse(r, err, more)
		}
		c.prepare(prepared{textAt(ps, 2), declaredNames(textAt(ps, 1))}, ps[0], r)
	case "sp_cursorprepexec": // handle, cursor, declarations, statement, scroll, concurrency, rows, arguments
		if err := expect(ps, name, "prepared_handle", "cursor", "params", "stmt"); err != nil {
			return refuse(r, err, more)
		}
		p := prepared{textAt(ps, 3), declaredNames(textAt(ps, 2))}
		c.prepare(p, ps[0], r)
		return c.openCursor(ctx, p, ps, opening{cursor: 1, scroll: 4, args: 7}, r, more)
	case "sp_cursorexecute": // handle, cursor, scroll, concurrency, rows, arguments
		if err := expect(ps, name, "prepared_handle", "cursor"); err != nil {
			return refuse(r, err, more)
		}
		p, ok := s.prepared[intAt(ps, 0)]
		if !ok {
			return refuse(r, noStatement(ps), more)
		}
		return c.openCursor(ctx, p, ps, opening{cursor: 1, scroll: 2, args: 5}, r, more)
	case "sp_cursor": // a positioned change
		return refuse(r, &Error{Number: 16929, Class: 16, State: 1, Msg: "The cursor is READ ONLY."}, more)
	default: // fetch, option, close: of a cursor that must be there
		cu := s.cursors[intAt(ps, 0)]
		if cu == nil {
			return refuse(r, &Error{Number: 16916, Class: 16, State: 1, Msg: fmt.Sprintf("A cursor with the name '%d' does not exist.", intAt(ps, 0))}, more)
		}
		switch name {
		case "sp_cursorfetch":
			return c.fetch(ctx, cu, ps, r, more)
		case "sp_cursorclose":
			delete(s.cursors, intAt(ps, 0))
		}
	}
	r.end(more)
	return nil
}

// openCursor runs a statement into a cursor. The answer has the columns and no rows.
func (c *connection) openCursor(ctx context.Context, p prepared, ps []Param, at opening, r *Results, more bool) error {
	cu := &cursor{at: -1, room: c.sess.room(c.s.CursorMemory)}
	r.capture = cu
	err := c.run(ctx, Request{SQL: p.sql, Scoped: true, Params: bind(p.names, from(ps, at.args))}, r)
	r.capture, r.open, r.pending = nil, false, done{}
	if err == nil && r.err == nil && ctx.Err() == nil && !cu.opened {
		err = &Error{Number: 16937, Class: 16, State: 1, Msg: "A server cursor cannot be opened on the given statement or statements. Use a default result set or client cursor."}
	}
	if err != nil || r.err != nil || ctx.Err() != nil {
		return c.settle(ctx, err, r, more)
	}
	h := c.sess.handle()
	c.sess.cursors[h] = cu
	r.cursorColumns(cu)
	out := func(place int, v int64) {
		if place < len(ps) {
			r.Return(place, ps[place].Name, Int, v)
		}
	}
	out(at.cursor, h)
	out(at.scroll, intAt(ps, at.scroll)&scrollKinds)
	out(at.scroll+1, ccReadOnly)
	out(at.scroll+2, int64(len(cu.ends)))
	return c.settle(ctx, nil, r, more)
}

// cursorColumns opens a result of the columns of a cursor and of ROWSTAT, which Microsoft's JDBC driver wants to be the
// last one when the cursor opens, too.
func (r *Results) cursorColumns(cu *cursor) {
	status := Int
	status.Fixed = true
	r.closeResult()
	r.settle(true)
	r.rows, r.open = 0, true
	r.cols = append(append(r.cols[:0], cu.cols...), wireColumn{Column: Column{Name: "ROWSTAT", Type: Int}, wire: status})
	r.metadata()
}

// fetch moves the cursor and sends rows: cursor, type, row, number of rows.
func (c *connection) fetch(ctx context.Context, cu *cursor, ps []Param, r *Results, more bool) error {
	typ, row, n := intAt(ps, 1), intAt(ps, 2), max(intAt(ps, 3), 1)
	if len(ps) < 2 {
		typ = fetchNext
	}
	if typ == fetchInfo { // the place, from 1, and the number of rows; jTDS goes by their order
		for i, v := range []int{cu.at + 1, len(cu.ends)} {
			if place := 2 + i; place < len(ps) {
				r.Return(place, ps[place].Name, Int, int64(v))
			}
		}
		return c.settle(ctx, nil, r, more)
	}
	if err := cu.move(typ, row, n); err != nil {
		return refuse(r, err, more)
	}
	r.cursorColumns(cu)
	for i := max(cu.at, 0); i < min(cu.at+cu.n, len(cu.ends)); i++ {
		r.b = rowStatus(append(append(r.b, tokRow), cu.row(i)...), rowFetched)
		if r.endRow() != nil {
			break
		}
	}
	return c.settle(ctx, nil, r, more)
}

// move places the cursor for a fetch of n rows; it may come to lie before the first or after the last row.
func (cu *cursor) move(typ, row, n int64) error {
	size := int64(len(cu.ends))
	n = min(n, size+1)
	row = max(min(row, size+1), -size-1)
	at := int64(cu.at)
	switch typ {
	case fetchFirst:
		at = 0
	case fetchNext:
		at += int64(cu.n)
		if cu.at < 0 {
			at = 0
		}
	case fetchPrev:
		at = max(at-n, 0)
	case fetchLast:
		at = max(size-n, 0)
	case fetchAbsolute:
		at = row - 1
		if row < 0 {
			at = size + row
		}
	case fetchRelative:
		at += row
	case fetchRefresh:
		at = max(at, 0)
	default:
		return &Error{Number: 16902, Class: 16, State: 2, Proc: "sp_cursorfetch", Msg: "sp_cursorfetch: The value of the parameter fetchtype is invalid."}
	}
	cu.at, cu.n = int(max(min(at, size), -1)), int(n)
	return nil
}
