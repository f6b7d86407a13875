package cdc

import (
	"context"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

var (
	binLSN  = sqltype.Bin(sqltype.Binary, 10)
	sysname = sqltype.SysName
	integer = sqltype.Of(sqltype.Int)
)

// Function finds a scalar function of the schema sys.
func (s *Session) Function(n tsql.Name) (*tsql.Function, error) {
	db, err := s.at(n)
	if err != nil {
		return nil, err
	}
	if !sqltype.EqualName(n.Schema, "sys") {
		return nil, nil
	}
	fn := func(ret sqltype.Type, call func(args []sqltype.Value) (sqltype.Value, error), params ...sqltype.Type) (*tsql.Function, error) {
		return &tsql.Function{Params: params, Returns: ret, Call: func(args []sqltype.Value) (sqltype.Value, error) {
			db.mu.RLock()
			defer db.mu.RUnlock()
			return call(args)
		}}, nil
	}
	step := func(by int64) (*tsql.Function, error) {
		return fn(binLSN, func(args []sqltype.Value) (sqltype.Value, error) {
			l, ok := lsnOf(args[0])
			if !ok {
				return sqltype.Value{}, nil
			}
			return l.Add(by).Value(), nil
		}, binLSN)
	}
	switch lower(n.Object) {
	case "fn_cdc_get_max_lsn":
		return fn(binLSN, func([]sqltype.Value) (sqltype.Value, error) {
			if l, ok := db.maxLSN(); ok {
				return l.Value(), nil
			}
			return sqltype.Value{}, nil
		})
	case "fn_cdc_get_min_lsn": // zero for an unknown instance and for one the login may not see
		return fn(binLSN, func(args []sqltype.Value) (sqltype.Value, error) {
			in, ok := db.instance(args[0].Str())
			if !ok || !s.login.mayInstance(in) {
				return LSN{}.Value(), nil
			}
			return in.low().Value(), nil
		}, sysname)
	case "fn_cdc_increment_lsn":
		return step(1)
	case "fn_cdc_decrement_lsn":
		return step(-1)
	case "fn_cdc_map_lsn_to_time":
		return fn(sqltype.Of(sqltype.DateTime), func(args []sqltype.Value) (sqltype.Value, error) {
			l, ok := lsnOf(args[0])
			if i := db.entriesBefore(l); ok && i < len(db.mapping) && db.mapping[i].LSN == l {
				return sqltype.FromTicks(db.mapping[i].End), nil
			}
			return sqltype.Value{}, nil
		}, binLSN)
	case "fn_cdc_map_time_to_lsn":
		return fn(binLSN, func(args []sqltype.Value) (sqltype.Value, error) { return db.timeToLSN(args[0], args[1]) },
			sqltype.Str(sqltype.NVarChar, 30), sqltype.Of(sqltype.DateTime))
	case "fn_cdc_has_column_changed", "fn_cdc_is_bit_set", "fn_cdc_get_column_ordinal":
		return nil, sqltype.Unsupported("sys.%s", n.Object)
	}
	return nil, nil
}

// timeToLSN is sys.fn_cdc_map_time_to_lsn (Microsoft: sys.fn_cdc_map_time_to_lsn (Transact-SQL)).
func (db *Database) timeToLSN(op, at sqltype.Value) (sqltype.Value, error) {
	if op.IsNull() || at.IsNull() {
		return sqltype.Value{}, nil
	}
	t := at.Ticks()
	var found *Entry
	switch rel := lower(strings.TrimSpace(op.Str())); rel {
	case "largest less than", "largest less than or equal":
		for _, e := range db.mapping {
			if e.End < t || rel == "largest less than or equal" && e.End == t {
				found = e
			}
		}
	case "smallest greater than", "smallest greater than or equal":
		for i := len(db.mapping) - 1; i >= 0; i-- {
			if e := db.mapping[i]; e.End > t || rel == "smallest greater than or equal" && e.End == t {
				found = e
			}
		}
	default:
		return sqltype.Value{}, sqltype.Errorf(22914, "The relational operator '%s' is not valid for sys.fn_cdc_map_time_to_lsn.", op.Str())
	}
	if found == nil {
		return sqltype.Value{}, nil
	}
	return found.value, nil
}

// TableFunction finds cdc.fn_cdc_get_all_changes_<instance> and cdc.fn_cdc_get_net_changes_<instance>.
func (s *Session) TableFunction(n tsql.Name) (*tsql.TableFunction, error) {
	db, err := s.at(n)
	if err != nil {
		return nil, err
	}
	if !sqltype.EqualName(n.Schema, "cdc") {
		return nil, nil
	}
	db.mu.RLock()
	defer db.mu.RUnlock()
	name, net := "", false
	if name = cutPrefix(n.Object, "fn_cdc_get_all_changes_"); name == "" {
		name, net = cutPrefix(n.Object, "fn_cdc_get_net_changes_"), true
	}
	in, ok := db.instance(name)
	if name == "" || !ok || net && !in.net {
		return nil, nil
	}
	if !s.login.mayInstance(in) {
		return nil, denied("SELECT", n.Object, db.Name, "cdc")
	}
	// without __$end_lsn and __$command_id (verified on SQL Server 2022)
	all := in.changeColumns()
	cols := append([]tsql.Column{all[colStart], all[colSeq], all[colOp], all[colMask]}, all[colsBefore:len(all)-1]...)
	if net {
		cols = append([]tsql.Column{all[colStart], all[colOp], all[colMask]}, all[colsBefore:len(all)-1]...)
	}
	return &tsql.TableFunction{Params: []sqltype.Type{binLSN, binLSN, sqltype.Str(sqltype.NVarChar, 30)}, Columns: cols, Call: func(ctx context.Context, args []sqltype.Value) (tsql.Cursor, error) {
		if net {
			return in.netChanges(args)
		}
		return in.allChanges(args)
	}}, nil
}

func cutPrefix(s, prefix string) string {
	if len(s) > len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
		return s[len(prefix):]
	}
	return ""
}

// between checks the range of a query function; outside of it the function answers error 313.
func (in *Instance) between(args []sqltype.Value, options ...string) ([]change, error) {
	db := in.table.db
	db.mu.RLock()
	defer db.mu.RUnlock()
	from, ok1 := lsnOf(args[0])
	to, ok2 := lsnOf(args[1])
	top, ok3 := db.maxLSN()
	low := in.low()
	if !ok1 || !ok2 || !ok3 || low.IsZero() || from.Less(low) || to.Less(from) || top.Less(to) || !named(options, args[2].Str()) {
		return nil, &sqltype.Error{Number: 313, State: 3, Class: 16, Message: "An insufficient number of arguments were supplied for the procedure or function cdc.fn_cdc_get_all_changes_ ... ."}
	}
	return in.rows[in.before(from):in.after(to)], nil
}

func (in *Instance) allChanges(args []sqltype.Value) (tsql.Cursor, error) {
	rows, err := in.between(args, "all", "all update old")
	if err != nil {
		return nil, err
	}
	old := lower(args[2].Str()) == "all update old"
	c := &changeCursor{cols: []int{placeStart, placeSeq, placeOp, placeMask}, out: make(sqltype.Row, 4+len(in.captured))}
	for _, x := range in.captured {
		c.cols = append(c.cols, x.id)
	}
	if old {
		c.rows = rows
		return c, nil
	}
	for _, x := range rows {
		if x.op != opBefore {
			c.rows = append(c.rows, x)
		}
	}
	return c, nil
}

// netChanges gives one row per key: its last image, or nothing for a row that came and went
// (Microsoft: cdc.fn_cdc_get_net_changes_<capture_instance> (Transact-SQL)).
func (in *Instance) netChanges(args []sqltype.Value) (tsql.Cursor, error) {
	rows, err := in.between(args, "all", "all with mask", "all with merge")
	if err != nil {
		return nil, err
	}
	type net struct {
		first, last change
	}
	index := map[string]*net{}
	var order []*net
	for _, x := range rows {
		if x.op == opBefore {
			continue
		}
		k := in.table.lockKey(x.image)
		n := index[k]
		if n == nil {
			n = &net{first: x}
			index[k] = n
			order = append(order, n)
		}
		n.last = x
	}
	c := &changeCursor{cols: []int{placeStart, placeOp, placeMask}, out: make(sqltype.Row, 3+len(in.captured))}
	for _, x := range in.captured {
		c.cols = append(c.cols, x.id)
	}
	merge := lower(args[2].Str()) == "all with merge"
	for _, n := range order {
		x := n.last
		born := n.first.op == opInsert
		switch {
		case x.op == opDelete && born:
			continue
		case x.op == opInsert && !born:
			x.op = opAfter
		case x.op == opAfter && born:
			x.op = opInsert
		}
		if merge && x.op != opDelete {
			x.op = 5
		}
		if lower(args[2].Str()) != "all with mask" {
			x.mask = sqltype.Value{}
		}
		c.rows = append(c.rows, x)
	}
	return c, nil
}
