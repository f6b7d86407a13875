package mssql

import (
	"fmt"
)

// sqlType is a column's type as sys.sp_cdc_get_captured_columns reports it;
// an alias type is reported as its base type.
type sqlType struct {
	name string
	// length is in characters or bytes as declared, -1 for max.
	length int
	// precision and scale are those of decimals.
	precision, scale int
	// fraction is the scale of times.
	fraction int
}

// String is the type as it is declared.
func (t sqlType) String() string {
	switch t.name {
	case "decimal", "numeric":
		return fmt.Sprintf("%s(%d,%d)", t.name, t.precision, t.scale)
	case "char", "varchar", "nchar", "nvarchar", "binary", "varbinary":
		if t.length < 0 {
			return t.name + "(max)"
		}
		return fmt.Sprintf("%s(%d)", t.name, t.length)
	case "datetime2", "datetimeoffset", "time":
		return fmt.Sprintf("%s(%d)", t.name, t.fraction)
	}
	return t.name
}

// output is the type that rows have, false for types that have none.
func (t sqlType) output() (outType, bool) {
	switch t.name {
	case "bit":
		return outType{kind: kindBool}, true
	case "tinyint", "smallint":
		return outType{kind: kindInt16}, true
	case "int":
		return outType{kind: kindInt32}, true
	case "bigint":
		return outType{kind: kindInt64}, true
	case "real":
		return outType{kind: kindFloat32}, true
	case "float":
		return outType{kind: kindFloat64}, true
	case "decimal", "numeric":
		return decimalOf(t.precision, t.scale), true
	case "money":
		return decimalOf(19, 4), true
	case "smallmoney":
		return decimalOf(10, 4), true
	case "date":
		return outType{kind: kindDate}, true
	case "datetime", "smalldatetime", "datetime2":
		return outType{kind: kindTimestampNTZ}, true
	case "datetimeoffset":
		return outType{kind: kindTimestamp}, true
	case "time", "char", "varchar", "nchar", "nvarchar", "text", "ntext", "xml", "uniqueidentifier", "sysname":
		return outType{kind: kindString}, true
	case "binary", "varbinary", "image", "timestamp", "rowversion":
		return outType{kind: kindBinary}, true
	}
	return outType{}, false
}

// isInteger reports whether a key of the type is cut by arithmetic.
func (t sqlType) isInteger() bool {
	switch t.name {
	case "tinyint", "smallint", "int", "bigint":
		return true
	}
	return false
}

// bound is the type text to which a bound of a key column is converted, and
// false when no bound can be bound. last tells the last column of a key: a
// bound is cut to microseconds, which keeps the order of its own column but
// not of columns behind it.
func (t sqlType) bound(collation string, last bool) (string, bool) {
	if _, ok := t.output(); !ok {
		return "", false
	}
	switch t.name {
	case "char", "varchar":
		if collation == "" {
			return "", false
		}
		return t.String() + " COLLATE " + collation, true
	case "datetime2", "datetimeoffset":
		return t.String(), t.fraction < 7 || last
	case "time":
		return "", false
	case "timestamp", "rowversion":
		return "binary(8)", true
	}
	return t.String(), true
}

// sortable reports whether SQL Server orders the type and takes its MIN.
func (t sqlType) sortable() bool {
	switch t.name {
	case "bit", "text", "ntext", "image", "xml":
		return false
	}
	return true
}
