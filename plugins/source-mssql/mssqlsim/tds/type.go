package tds

import (
	"fmt"
	"math"
)

// The type tokens of Microsoft: [MS-TDS] Data Types (variable-length forms; see Type.Fixed for the others).
const (
	IDNull           = 0x1F // an untyped NULL parameter
	IDImage          = 0x22
	IDText           = 0x23
	IDGUID           = 0x24
	IDIntN           = 0x26
	IDDate           = 0x28
	IDTime           = 0x29
	IDDateTime2      = 0x2A
	IDDateTimeOffset = 0x2B
	IDVariant        = 0x62
	IDNText          = 0x63
	IDBitN           = 0x68
	IDDecimalN       = 0x6A
	IDNumericN       = 0x6C
	IDFloatN         = 0x6D
	IDMoneyN         = 0x6E
	IDDateTimeN      = 0x6F
	IDVarBinary      = 0xA5
	IDVarChar        = 0xA7
	IDBinary         = 0xAD
	IDChar           = 0xAF
	IDNVarChar       = 0xE7
	IDNChar          = 0xEF
	IDUDT            = 0xF0
	IDXML            = 0xF1
)

// Type is a SQL Server type as the wire describes it. Types can be compared with ==.
type Type struct {
	// ID is the type token, one of the ID constants.
	ID byte
	// Size is in bytes, also for national characters; -1 means (max).
	Size int
	// Prec and Scale are those of decimal and numeric; Scale also is the number of fractional digits of time,
	// datetime2 and datetimeoffset (0 to 7) and 4 for money.
	Prec, Scale byte
	// Name is that of a UDT.
	Name string
	// Fixed: a value is sent without its length, as SQL Server does for NOT NULL columns of the old fixed-length types.
	// Results sets it; a handler does not.
	Fixed bool
	// Collation is that of a character type; zero is DefaultCollation.
	Collation Collation
}

// The types without a length or scale.
var (
	TinyInt       = Type{ID: IDIntN, Size: 1}
	SmallInt      = Type{ID: IDIntN, Size: 2}
	Int           = Type{ID: IDIntN, Size: 4}
	BigInt        = Type{ID: IDIntN, Size: 8}
	Bit           = Type{ID: IDBitN, Size: 1}
	Real          = Type{ID: IDFloatN, Size: 4}
	Float         = Type{ID: IDFloatN, Size: 8}
	Money         = Type{ID: IDMoneyN, Size: 8, Scale: 4}
	SmallMoney    = Type{ID: IDMoneyN, Size: 4, Scale: 4}
	DateTime      = Type{ID: IDDateTimeN, Size: 8}
	SmallDateTime = Type{ID: IDDateTimeN, Size: 4}
	Date          = Type{ID: IDDate, Size: 3}
	UniqueID      = Type{ID: IDGUID, Size: 16}
	XML           = Type{ID: IDXML, Size: -1}
	Variant       = Type{ID: IDVariant, Size: 8009}
	Text          = Type{ID: IDText, Size: math.MaxInt32}
	NText         = Type{ID: IDNText, Size: math.MaxInt32 - 1}
	Image         = Type{ID: IDImage, Size: math.MaxInt32}
)

// Decimal is decimal(p, s), 1 <= p <= 38, s <= p.
func Decimal(p, s byte) Type { return Type{ID: IDDecimalN, Size: decimalSize(p), Prec: p, Scale: s} }

// Numeric is numeric(p, s); clients show another type name than for Decimal and nothing else differs.
func Numeric(p, s byte) Type { return Type{ID: IDNumericN, Size: decimalSize(p), Prec: p, Scale: s} }

// Time is time(s), s from 0 to 7.
func Time(s byte) Type { return Type{ID: IDTime, Size: timeSize(s), Scale: s} }

// DateTime2 is datetime2(s), s from 0 to 7.
func DateTime2(s byte) Type { return Type{ID: IDDateTime2, Size: timeSize(s) + 3, Scale: s} }

// DTOffset is datetimeoffset(s), s from 0 to 7.
func DTOffset(s byte) Type { return Type{ID: IDDateTimeOffset, Size: timeSize(s) + 5, Scale: s} }

// Binary is binary(n); shorter values are padded with zeros.
func Binary(n int) Type { return Type{ID: IDBinary, Size: n} }

// VarBinary is varbinary(n); -1 is varbinary(max).
func VarBinary(n int) Type { return Type{ID: IDVarBinary, Size: n} }

// Char is char(n); shorter values are padded with spaces.
func Char(n int) Type { return Type{ID: IDChar, Size: n} }

// VarChar is varchar(n); -1 is varchar(max).
func VarChar(n int) Type { return Type{ID: IDVarChar, Size: n} }

// NChar is nchar(n), n in UTF-16 code units; shorter values are padded with spaces.
func NChar(n int) Type { return Type{ID: IDNChar, Size: 2 * n} }

// NVarChar is nvarchar(n), n in UTF-16 code units; -1 is nvarchar(max).
func NVarChar(n int) Type {
	if n > 0 {
		n *= 2
	}
	return Type{ID: IDNVarChar, Size: n}
}

// UDT is a CLR type of the schema sys: hierarchyid, geometry or geography.
func UDT(name string) Type { return Type{ID: IDUDT, Size: -1, Name: name} }

// decimalSize is the length of a decimal value with its sign byte (Microsoft: [MS-TDS] Data Types, DECIMALN).
func decimalSize(p byte) int {
	switch {
	case p <= 9:
		return 5
	case p <= 19:
		return 9
	case p <= 28:
		return 13
	}
	return 17
}

// timeSize is the length of the time part of a value with s fractional digits (Microsoft: [MS-TDS] Data Types, TIMEN).
func timeSize(s byte) int {
	switch {
	case s <= 2:
		return 3
	case s <= 4:
		return 4
	}
	return 5
}

// fixedID is the token of the fixed-length form of a type, 0 if it has none.
func fixedID(t Type) byte {
	switch t.ID {
	case IDIntN:
		switch t.Size {
		case 1:
			return 0x30
		case 2:
			return 0x34
		case 4:
			return 0x38
		case 8:
			return 0x7F
		}
	case IDBitN:
		return 0x32
	case IDFloatN:
		if t.Size == 4 {
			return 0x3B
		}
		return 0x3E
	case IDMoneyN:
		if t.Size == 4 {
			return 0x7A
		}
		return 0x3C
	case IDDateTimeN:
		if t.Size == 4 {
			return 0x3A
		}
		return 0x3D
	}
	return 0
}

// fixedType is the type of a fixed-length token.
func fixedType(id byte) (t Type, ok bool) {
	switch id {
	case 0x30:
		t = TinyInt
	case 0x34:
		t = SmallInt
	case 0x38:
		t = Int
	case 0x7F:
		t = BigInt
	case 0x32:
		t = Bit
	case 0x3B:
		t = Real
	case 0x3E:
		t = Float
	case 0x7A:
		t = SmallMoney
	case 0x3C:
		t = Money
	case 0x3A:
		t = SmallDateTime
	case 0x3D:
		t = DateTime
	default:
		return t, false
	}
	t.Fixed = true
	return t, true
}

// isNational: the text of the type travels as UTF-16.
func (t *Type) isNational() bool {
	switch t.ID {
	case IDNVarChar, IDNChar, IDNText, IDXML:
		return true
	}
	return false
}

// isText: values of the type are text.
func (t *Type) isText() bool {
	switch t.ID {
	case IDVarChar, IDChar, IDText:
		return true
	}
	return t.isNational()
}

// String is the type as T-SQL writes it.
func (t Type) String() string {
	sized := func(name string, unit int) string {
		if t.Size < 0 {
			return name + "(max)"
		}
		return fmt.Sprintf("%s(%d)", name, t.Size/unit)
	}
	pick := func(size int, small, large string) string {
		if t.Size == size {
			return small
		}
		return large
	}
	switch t.ID {
	case IDNull:
		return "null"
	case IDIntN:
		switch t.Size {
		case 1:
			return "tinyint"
		case 2:
			return "smallint"
		case 4:
			return "int"
		}
		return "bigint"
	case IDBitN:
		return "bit"
	case IDFloatN:
		return pick(4, "real", "float")
	case IDMoneyN:
		return pick(4, "smallmoney", "money")
	case IDDateTimeN:
		return pick(4, "smalldatetime", "datetime")
	case IDDecimalN:
		return fmt.Sprintf("decimal(%d,%d)", t.Prec, t.Scale)
	case IDNumericN:
		return fmt.Sprintf("numeric(%d,%d)", t.Prec, t.Scale)
	case IDDate:
		return "date"
	case IDTime:
		return fmt.Sprintf("time(%d)", t.Scale)
	case IDDateTime2:
		return fmt.Sprintf("datetime2(%d)", t.Scale)
	case IDDateTimeOffset:
		return fmt.Sprintf("datetimeoffset(%d)", t.Scale)
	case IDGUID:
		return "uniqueidentifier"
	case IDVarBinary:
		return sized("varbinary", 1)
	case IDBinary:
		return sized("binary", 1)
	case IDVarChar:
		return sized("varchar", 1)
	case IDChar:
		return sized("char", 1)
	case IDNVarChar:
		return sized("nvarchar", 2)
	case IDNChar:
		return sized("nchar", 2)
	case IDText:
		return "text"
	case IDNText:
		return "ntext"
	case IDImage:
		return "image"
	case IDXML:
		return "xml"
	case IDVariant:
		return "sql_variant"
	case IDUDT:
		return t.Name
	}
	return fmt.Sprintf("type 0x%02x", t.ID)
}
