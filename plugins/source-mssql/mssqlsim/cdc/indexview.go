package cdc

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// storage is an index, or the heap of a table without a clustered one, as the catalog shows it.
type storage struct {
	id        int
	name      string
	unique    bool
	primary   bool
	unconstr  bool // of a UNIQUE constraint
	cols      []int
	desc      []bool
	include   []int
	clustered bool
	of        *index // nil for a heap and for a change table
}

// storages lists the heap or clustered index of an object first, then its other indexes.
func (o *object) storages() (out []storage) {
	if o.in != nil { // a change table has the columns __$start_lsn, __$command_id, __$seqval and __$operation as its key
		n := len(o.in.changeColumns())
		return []storage{{id: 1, name: o.in.Name + "_CT_clustered_idx", unique: true, clustered: true, cols: []int{1, n, 3, 4}, desc: make([]bool, 4)}}
	}
	if o.table.clustered() == nil {
		out = append(out, storage{})
	}
	for _, clustered := range []bool{true, false} {
		for _, x := range o.table.indexes {
			if x.clustered == clustered {
				out = append(out, storage{x.id, x.name, x.unique, x.kind == tsql.PrimaryKey, x.kind == tsql.UniqueConstraint, x.cols, x.desc, x.include, x.clustered, x})
			}
		}
	}
	return out
}

func (x *storage) typ() (int64, string) {
	switch {
	case x.id == 0:
		return 0, "HEAP"
	case x.clustered:
		return 1, "CLUSTERED"
	}
	return 2, "NONCLUSTERED"
}

// sysIndexes is Microsoft: sys.indexes (Transact-SQL).
func sysIndexes(s *Session, db *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{col("object_id", integer), ncol("name", sysname), col("index_id", integer), col("type", tiny), ncol("type_desc", sqltype.Str(sqltype.NVarChar, 60)), ncol("is_unique", bit),
		ncol("data_space_id", integer), ncol("ignore_dup_key", bit), ncol("is_primary_key", bit), ncol("is_unique_constraint", bit), col("fill_factor", tiny), ncol("is_padded", bit), ncol("is_disabled", bit),
		ncol("is_hypothetical", bit), ncol("allow_row_locks", bit), ncol("allow_page_locks", bit), ncol("has_filter", bit), ncol("filter_definition", longText)}}
	for _, o := range s.objects(db) {
		for _, x := range o.storages() {
			typ, desc := x.typ()
			of := x.of
			if of == nil {
				of = &index{}
			}
			r.Data = append(r.Data, sqltype.Row{num(int64(o.id)), orNull(x.name), num(int64(x.id)), num(typ), text(desc), flag(x.unique), num(1), flag(false), flag(x.primary), flag(x.unconstr),
				num(of.fill), flag(of.padded), flag(false), flag(false), flag(!of.noRowLocks), flag(!of.noPageLocks), flag(false), null})
		}
	}
	return r
}

// sysIndexColumns is Microsoft: sys.index_columns (Transact-SQL).
func sysIndexColumns(s *Session, db *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{col("object_id", integer), col("index_id", integer), col("index_column_id", integer), col("column_id", integer), col("key_ordinal", tiny), col("partition_ordinal", tiny),
		ncol("is_descending_key", bit), ncol("is_included_column", bit)}}
	for _, o := range s.objects(db) {
		for _, x := range o.storages() {
			for i, id := range x.cols {
				r.Data = append(r.Data, sqltype.Row{num(int64(o.id)), num(int64(x.id)), num(int64(i + 1)), num(int64(id)), num(int64(i + 1)), num(0), flag(x.desc[i]), flag(false)})
			}
			for i, id := range x.include {
				r.Data = append(r.Data, sqltype.Row{num(int64(o.id)), num(int64(x.id)), num(int64(len(x.cols) + i + 1)), num(int64(id)), num(0), num(0), flag(false), flag(true)})
			}
		}
	}
	return r
}

// sysPartitions is Microsoft: sys.partitions (Transact-SQL): every table and index has one.
func sysPartitions(s *Session, db *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{col("partition_id", bigint), col("object_id", integer), col("index_id", integer), col("partition_number", integer), col("hobt_id", bigint), ncol("rows", bigint),
		col("data_compression", tiny), ncol("data_compression_desc", sqltype.Str(sqltype.NVarChar, 60))}}
	for _, o := range s.objects(db) {
		for _, x := range o.storages() {
			id := num(int64(x.id)<<48 | int64(o.id)<<16)
			compression, level := "NONE", int64(0)
			if x.of != nil && x.of.compression != "" {
				compression = x.of.compression
				level = map[string]int64{"ROW": 1, "PAGE": 2}[compression]
			}
			r.Data = append(r.Data, sqltype.Row{id, num(int64(o.id)), num(int64(x.id)), num(1), id, num(o.count()), num(level), text(compression)})
		}
	}
	return r
}

// count gives the number of rows.
func (o *object) count() int64 {
	if o.in != nil {
		return int64(len(o.in.rows))
	}
	return int64(o.table.rows.n)
}

// sysPartitionStats is Microsoft: sys.dm_db_partition_stats (Transact-SQL), with pages guessed from the rows.
func sysPartitionStats(s *Session, db *Database) *tsql.Rows {
	pages := []string{"in_row_data_page_count", "in_row_used_page_count", "in_row_reserved_page_count", "used_page_count", "reserved_page_count", "row_count"}
	r := &tsql.Rows{Cols: []tsql.Column{col("partition_id", bigint), col("object_id", integer), col("index_id", integer), col("partition_number", integer)}}
	for _, n := range pages {
		r.Cols = append(r.Cols, col(n, bigint))
	}
	for _, row := range sysPartitions(s, db).Data {
		n := row[5].Int()
		p := num(n/50 + 1)
		r.Data = append(r.Data, sqltype.Row{row[0], row[1], row[2], num(1), p, p, p, p, p, num(n)})
	}
	return r
}
