package cdc

import (
	"context"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// The functions of a capture instance and the row filters they know.
const (
	allChanges = "fn_cdc_get_all_changes_"
	netChanges = "fn_cdc_get_net_changes_"

	filterAll   = "all"
	filterOld   = "all update old"
	filterMask  = "all with mask"
	filterMerge = "all with merge"
)

// TableFunction finds cdc.fn_cdc_get_all_changes_<instance> and cdc.fn_cdc_get_net_changes_<instance>. For a login that
// may not see the instance both are denied (Microsoft: Work with change data, Validating LSN boundaries, which has the
// messages of both; the page of fn_cdc_get_net_changes says that it is not there then, as it does of ranges for which
// the former page has error 313).
func (s *Session) TableFunction(n tsql.Name) (*tsql.TableFunction, error) {
	if f := s.helpCollations(n); f != nil {
		return f, nil
	}
	if f := s.textFunction(n); f != nil {
		return f, nil
	}
	db, err := s.at(n)
	if err != nil {
		return nil, err
	}
	if !sqltype.EqualName(n.Schema, "cdc") {
		return nil, s.unbuilt(db, n)
	}
	db.mu.RLock()
	defer db.mu.RUnlock()
	name := cutPrefix(n.Object, allChanges)
	net := name == ""
	if net {
		name = cutPrefix(n.Object, netChanges)
	}
	in, ok := db.instance(name)
	switch {
	case !ok || net && !in.net:
		return nil, nil
	case !s.mayInstance(in):
		return nil, denied("SELECT", n.Object, db.Name, "cdc")
	case net:
		return in.changeFunction(in.netChanges, colStart, colOp, colMask), nil
	}
	return in.changeFunction(in.allChanges, colStart, colSeq, colOp, colMask), nil
}

// changeFunction is a function with some of the change table's first columns and the captured ones. None has __$end_lsn
// and __$command_id (verified on SQL Server 2022).
func (in *Instance) changeFunction(call func(from, to LSN, rows []change, filter string) (tsql.Cursor, error), first ...int) *tsql.TableFunction {
	all := in.changeColumns()
	f := &tsql.TableFunction{Params: []sqltype.Type{binLSN, binLSN, sqltype.Str(sqltype.NVarChar, 30)}}
	for _, c := range first {
		f.Columns = append(f.Columns, all[c])
	}
	f.Columns = append(f.Columns, all[colsBefore:len(all)-1]...)
	f.Call = func(_ context.Context, args []sqltype.Value) (tsql.Cursor, error) {
		from, ok1 := lsnOf(args[0])
		to, ok2 := lsnOf(args[1])
		db := in.table.db
		db.mu.RLock()
		top, ok3 := db.maxLSN()
		low, rows := in.low(), in.rows
		db.mu.RUnlock()
		var cur tsql.Cursor
		if ok1 && ok2 && ok3 && !low.IsZero() && !from.Less(low) && !to.Less(from) && !top.Less(to) {
			var err error
			if cur, err = call(from, to, rows, lower(strings.Trim(args[2].Str(), " "))); err != nil {
				return nil, err
			}
		}
		if cur == nil {
			return nil, outOfRange(len(first) == 3)
		}
		return cur, nil
	}
	return f
}

// outOfRange is what the functions answer when the range is not between the low watermark and the newest entry, is
// upside down or NULL, and when the row filter is none that they know (Microsoft: Work with change data, Range errors).
func outOfRange(net bool) error {
	name := allChanges
	if net {
		name = netChanges
	}
	return &sqltype.Error{Number: 313, State: 3, Class: 16, Message: "An insufficient number of arguments were supplied for the procedure or function cdc." + name + " ... ."}
}

func cutPrefix(s, prefix string) string {
	if len(s) > len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
		return s[len(prefix):]
	}
	return ""
}

// cursor delivers change rows with some of the first columns and the captured ones.
func (in *Instance) cursor(rows []change, first ...int) *changeCursor {
	places := first
	for _, x := range in.captured {
		places = append(places, x.id)
	}
	return changes(rows, false, places)
}

// between cuts change rows to a range. Entries of rows never change, so it needs no lock.
func between(rows []change, from, to LSN) []change {
	lo, hi := firstAt(rows, from), firstAt(rows, to.Add(1))
	return rows[lo:max(lo, hi)]
}

// allChanges is Microsoft: cdc.fn_cdc_get_all_changes_<capture_instance> (Transact-SQL).
func (in *Instance) allChanges(from, to LSN, rows []change, filter string) (tsql.Cursor, error) {
	c := in.cursor(between(rows, from, to), placeStart, placeSeq, placeOp, placeMask)
	switch filter {
	case filterOld:
		return c, nil
	case filterAll:
		return &afterCursor{c}, nil
	}
	return nil, nil
}

// afterCursor leaves before-images out.
type afterCursor struct{ c *changeCursor }

func (a *afterCursor) Next() (sqltype.Row, error) {
	for len(a.c.rows) > 0 && a.c.rows[0].op == opBefore {
		a.c.rows = a.c.rows[1:]
	}
	return a.c.Next()
}

func (a *afterCursor) Close() {}

// opMerge stands for an insert or an update.
const opMerge = 5

// netChange is what happened to one row of the source.
type netChange struct {
	first int8 // operation
	last  change
	n     int
	mask  []byte
}

// netChanges gives one row per key of the index that tells rows apart: its last image with the operation that leads
// there from the beginning of the range, or nothing for a row that came and went. Only "all with mask" has a mask, and
// only for updates: all columns that changed in the range
// (Microsoft: cdc.fn_cdc_get_net_changes_<capture_instance> (Transact-SQL), and the text of the functions that
// sys.sp_cdc_enable_table makes, for the mask).
func (in *Instance) netChanges(from, to LSN, rows []change, filter string) (tsql.Cursor, error) {
	if filter != filterAll && filter != filterMask && filter != filterMerge {
		return nil, nil
	}
	index := map[string]*netChange{}
	var order []*netChange
	types := in.keyTypes()
	var key []byte
	for _, x := range between(rows, from, to) {
		if x.op == opBefore {
			continue
		}
		key = key[:0]
		for i, id := range in.key {
			key = at(x.image, id).AppendKey(key, types[i])
		}
		n := index[string(key)]
		if n == nil {
			n = &netChange{first: x.op}
			index[string(key)] = n
			order = append(order, n)
		}
		n.last = x
		n.n++
		if filter == filterMask {
			n.add(x.mask.Str())
		}
	}
	var out []change
	for _, n := range order {
		if x, ok := n.change(filter); ok {
			out = append(out, x)
		}
	}
	return in.cursor(out, placeStart, placeOp, placeMask), nil
}

// add puts the bits of a mask into the sum of all.
func (n *netChange) add(mask string) {
	if n.mask == nil {
		n.mask = []byte(mask)
		return
	}
	for i := range min(len(mask), len(n.mask)) {
		n.mask[i] |= mask[i]
	}
}

func (n *netChange) change(filter string) (change, bool) {
	x := n.last
	born := n.first == opInsert
	switch {
	case x.op == opDelete && born && n.n > 1:
		return x, false
	case filter == filterMerge && x.op != opDelete:
		x.op = opMerge
	case x.op != opDelete && n.n > 1 && born:
		x.op = opInsert
	case x.op != opDelete && n.n > 1:
		x.op = opAfter
	}
	x.mask = null
	if filter == filterMask && x.op == opAfter {
		x.mask = sqltype.FromBytes(string(n.mask))
	}
	return x, true
}

// keyTypes gives the types of the columns that tell rows apart.
func (in *Instance) keyTypes() (types []sqltype.Type) {
	for _, id := range in.key {
		types = append(types, in.table.byID(id).Type)
	}
	return types
}
