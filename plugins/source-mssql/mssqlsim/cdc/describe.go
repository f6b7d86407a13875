package cdc

import (
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// tdsTypes are tds_type_id of sp_describe_first_result_set where it is not system_type_id: types of a length that can be
// NULL have a type of their own on the wire ([MS-TDS] Data type definitions).
var tdsTypes = map[sqltype.Kind]int64{sqltype.Bit: 104, sqltype.TinyInt: 38, sqltype.SmallInt: 38, sqltype.Int: 38, sqltype.BigInt: 38, sqltype.Real: 109, sqltype.Float: 109, sqltype.Money: 110, sqltype.SmallMoney: 110,
	sqltype.DateTime: 111, sqltype.SmallDateTime: 111, sqltype.RowVersion: 173}

// notNullTypes are those of columns that are never NULL.
var notNullTypes = map[sqltype.Kind]int64{sqltype.Bit: 50, sqltype.TinyInt: 48, sqltype.SmallInt: 52, sqltype.Int: 56, sqltype.BigInt: 127, sqltype.Real: 59, sqltype.Float: 62, sqltype.Money: 60, sqltype.SmallMoney: 122,
	sqltype.DateTime: 61, sqltype.SmallDateTime: 58}

// Describe gives columns as sp_describe_first_result_set does (Microsoft: sp_describe_first_result_set (Transact-SQL)).
func (s *Session) Describe(cols []tsql.Column) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{col("is_hidden", bit), col("column_ordinal", integer), ncol("name", sysname), col("is_nullable", bit), col("system_type_id", integer), ncol("system_type_name", sqltype.Str(sqltype.NVarChar, 256)),
		col("max_length", small), col("precision", tiny), col("scale", tiny), ncol("collation_name", sysname), ncol("user_type_id", integer), ncol("user_type_database", sysname), ncol("user_type_schema", sysname),
		ncol("user_type_name", sysname), ncol("assembly_qualified_type_name", sqltype.Str(sqltype.NVarChar, 4000)), ncol("xml_collection_id", integer), ncol("xml_collection_database", sysname), ncol("xml_collection_schema", sysname),
		ncol("xml_collection_name", sysname), col("is_xml_document", bit), col("is_case_sensitive", bit), col("is_fixed_length_clr_type", bit), ncol("source_server", sysname), ncol("source_database", sysname), ncol("source_schema", sysname),
		ncol("source_table", sysname), ncol("source_column", sysname), ncol("is_identity_column", bit), ncol("is_part_of_unique_key", bit), ncol("is_updateable", bit), ncol("is_computed_column", bit), ncol("is_sparse_column_set", bit),
		ncol("ordinal_in_order_by_list", small), ncol("order_by_list_length", small), ncol("order_by_is_descending", small), col("tds_type_id", integer), col("tds_length", integer), ncol("tds_collation_id", integer), ncol("tds_collation_sort_id", tiny)}}
	for i, c := range cols {
		n, p, sc := size(c.Type)
		collation, collationID, sortID := null, null, null
		if c.Type.Class() == sqltype.ClassString && c.Type.Kind != sqltype.XML {
			collation, collationID, sortID = text(collationOf(c.Type)), num(13632521), num(52)
		}
		id, tds, length := typeIDs[c.Type.Kind], typeIDs[c.Type.Kind], n
		if t := tdsTypes[c.Type.Kind]; t != 0 {
			tds = t
		}
		if t := notNullTypes[c.Type.Kind]; t != 0 && !c.Nullable {
			tds = t
		}
		if c.Type.Len == sqltype.Max || c.Type.Kind == sqltype.XML {
			length = 65535
		}
		cs := strings.Contains(strings.ToUpper(c.Type.Collation), "_CS") || strings.Contains(strings.ToUpper(c.Type.Collation), "_BIN")
		r.Data = append(r.Data, sqltype.Row{flag(false), num(int64(i + 1)), orNull(c.Name), flag(c.Nullable), num(id), text(c.Type.String()), num(n), num(p), num(sc), collation, null, null, null, null, null, null, null, null, null,
			flag(false), flag(cs), flag(false), null, null, null, null, null, flag(c.Identity), null, flag(!c.Computed), flag(c.Computed), flag(false), null, null, null, num(tds), num(length), collationID, sortID})
	}
	return r
}
