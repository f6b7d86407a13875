package cdc

import (
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
		return nil, s.unbuilt(db, n)
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
			if !ok || !s.mayInstance(in) {
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
	case "fn_cdc_get_column_ordinal":
		return fn(integer, func(args []sqltype.Value) (sqltype.Value, error) { return s.columnOrdinal(db, args[0], args[1]), nil }, sysname, sysname)
	case "fn_cdc_is_bit_set":
		return fn(bit, func(args []sqltype.Value) (sqltype.Value, error) { return bitSet(args[0], args[1]), nil }, integer, updateMask)
	case "fn_cdc_has_column_changed":
		return fn(bit, func(args []sqltype.Value) (sqltype.Value, error) {
			return bitSet(s.columnOrdinal(db, args[0], args[1]), args[2]), nil
		},
			sysname, sysname, updateMask)
	}
	return nil, s.unbuilt(db, n)
}

// updateMask is the type of __$update_mask.
var updateMask = sqltype.Bin(sqltype.VarBinary, 128)

// columnOrdinal is sys.fn_cdc_get_column_ordinal (Microsoft: sys.fn_cdc_get_column_ordinal (Transact-SQL)). It is NULL
// for an instance that is not there or that the login may not see, and for a column that is not captured.
func (s *Session) columnOrdinal(db *Database, instance, column sqltype.Value) sqltype.Value {
	in, ok := db.instance(instance.Str())
	if !ok || !s.mayInstance(in) {
		return null
	}
	if n := in.ordinal(column.Str()); n > 0 {
		return num(int64(n))
	}
	return null
}

// bitSet is sys.fn_cdc_is_bit_set (Microsoft: sys.fn_cdc_is_bit_set (Transact-SQL)): positions count from the right, from
// 1. What it gives for NULL is not documented; here that is NULL.
func bitSet(position, mask sqltype.Value) sqltype.Value {
	if position.IsNull() || mask.IsNull() {
		return null
	}
	n, bits := position.Int()-1, mask.Str()
	at := int64(len(bits)) - 1 - n/8
	return flag(n >= 0 && at >= 0 && bits[at]&(1<<(n%8)) != 0)
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
	} // a function cannot raise an error: any other operator finds nothing
	if found == nil {
		return sqltype.Value{}, nil
	}
	return found.value, nil
}
