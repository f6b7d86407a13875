package sqltype

import (
	"fmt"
	"strings"
)

// Kind is a system type.
type Kind uint8

// The system types. Null is the type of the literal NULL, which takes the type of its neighbour.
const (
	Null Kind = iota
	Bit
	TinyInt
	SmallInt
	Int
	BigInt
	Decimal
	Numeric
	Money
	SmallMoney
	Real
	Float
	Date
	Time
	SmallDateTime
	DateTime
	DateTime2
	DateTimeOffset
	Char
	VarChar
	NChar
	NVarChar
	Text
	NText
	Binary
	VarBinary
	Image
	UniqueIdentifier
	XML
	RowVersion
	Variant
	HierarchyID
	Geography
	Geometry
)

// Max is the length of (max) types.
const Max = -1

// Type is a type as a column or an expression has it.
type Type struct {
	Kind      Kind
	Len       int   // characters, or bytes of binary types; Max for (max); 0 where the type has no length
	Prec      uint8 // of decimal and numeric
	Scale     uint8 // of decimal, numeric, time, datetime2, datetimeoffset
	Collation string
}

// DefaultCollation is the collation of a database that was not told another.
const DefaultCollation = "SQL_Latin1_General_CP1_CI_AS"

// Of gives a type without length, precision or scale.
func Of(k Kind) Type { return Type{Kind: k} }

// Dec gives decimal(p,s).
func Dec(p, s uint8) Type { return Type{Kind: Decimal, Prec: p, Scale: s} }

// Str gives a character type of n characters.
func Str(k Kind, n int) Type { return Type{Kind: k, Len: n} }

// Bin gives a binary type of n bytes.
func Bin(k Kind, n int) Type { return Type{Kind: k, Len: n} }

// Scaled gives time, datetime2 or datetimeoffset with s digits.
func Scaled(k Kind, s uint8) Type { return Type{Kind: k, Scale: s} }

// SysName is the type of names.
var SysName = Str(NVarChar, 128)

var kindNames = [...]string{Null: "null", Bit: "bit", TinyInt: "tinyint", SmallInt: "smallint", Int: "int", BigInt: "bigint",
	Decimal: "decimal", Numeric: "numeric", Money: "money", SmallMoney: "smallmoney", Real: "real", Float: "float", Date: "date", Time: "time",
	SmallDateTime: "smalldatetime", DateTime: "datetime", DateTime2: "datetime2", DateTimeOffset: "datetimeoffset",
	Char: "char", VarChar: "varchar", NChar: "nchar", NVarChar: "nvarchar", Text: "text", NText: "ntext", Binary: "binary", VarBinary: "varbinary",
	Image: "image", UniqueIdentifier: "uniqueidentifier", XML: "xml", RowVersion: "timestamp", Variant: "sql_variant",
	HierarchyID: "hierarchyid", Geography: "geography", Geometry: "geometry"}

func (k Kind) String() string { return kindNames[k] }

// String gives the type as it is written in a declaration, without its collation.
func (t Type) String() string {
	switch t.Class() {
	case ClassDecimal:
		if t.Kind == Decimal || t.Kind == Numeric {
			return fmt.Sprintf("%s(%d,%d)", t.Kind, t.Prec, t.Scale)
		}
	case ClassString, ClassBinary:
		switch t.Kind {
		case Text, NText, Image, XML, RowVersion:
		default:
			if t.Len == Max {
				return t.Kind.String() + "(max)"
			}
			return fmt.Sprintf("%s(%d)", t.Kind, t.Len)
		}
	case ClassTime:
		switch t.Kind {
		case Time, DateTime2, DateTimeOffset:
			return fmt.Sprintf("%s(%d)", t.Kind, t.Scale)
		}
	}
	return t.Kind.String()
}

// Class groups kinds whose values are held alike.
type Class uint8

// The classes. Money is a decimal with scale 4.
const (
	ClassNull Class = iota
	ClassInt
	ClassBit
	ClassDecimal
	ClassFloat
	ClassTime
	ClassString
	ClassBinary
	ClassGUID
	ClassOther
)

var kindClasses = [...]Class{Null: ClassNull, Bit: ClassBit, TinyInt: ClassInt, SmallInt: ClassInt, Int: ClassInt, BigInt: ClassInt,
	Decimal: ClassDecimal, Numeric: ClassDecimal, Money: ClassDecimal, SmallMoney: ClassDecimal, Real: ClassFloat, Float: ClassFloat,
	Date: ClassTime, Time: ClassTime, SmallDateTime: ClassTime, DateTime: ClassTime, DateTime2: ClassTime, DateTimeOffset: ClassTime,
	Char: ClassString, VarChar: ClassString, NChar: ClassString, NVarChar: ClassString, Text: ClassString, NText: ClassString, XML: ClassString,
	Binary: ClassBinary, VarBinary: ClassBinary, Image: ClassBinary, RowVersion: ClassBinary, UniqueIdentifier: ClassGUID,
	Variant: ClassOther, HierarchyID: ClassOther, Geography: ClassOther, Geometry: ClassOther}

// Class gives the class of the type.
func (t Type) Class() Class { return kindClasses[t.Kind] }

// Unicode tells whether a character type holds UTF-16.
func (t Type) Unicode() bool {
	return t.Kind == NChar || t.Kind == NVarChar || t.Kind == NText || t.Kind == XML
}

// LOB tells whether values may be of any length: (max), text, ntext, image and xml.
func (t Type) LOB() bool {
	switch t.Kind {
	case Text, NText, Image, XML, Geography, Geometry:
		return true
	case VarChar, NVarChar, VarBinary:
		return t.Len == Max
	}
	return false
}

// precedence orders kinds by "Microsoft: Data type precedence (Transact-SQL)"; the higher one wins.
var precedence = [...]uint8{Null: 0, Binary: 1, VarBinary: 2, Image: 3, RowVersion: 4, Char: 5, VarChar: 6, NChar: 7, NVarChar: 8, UniqueIdentifier: 9,
	Bit: 10, TinyInt: 11, SmallInt: 12, Int: 13, BigInt: 14, SmallMoney: 15, Money: 16, Numeric: 17, Decimal: 17, Real: 18, Float: 19,
	Text: 20, NText: 21, Time: 23, Date: 24, SmallDateTime: 25, DateTime: 26, DateTime2: 27, DateTimeOffset: 28, XML: 29, Variant: 30,
	HierarchyID: 31, Geography: 31, Geometry: 31}

// intDigits is the precision an integer takes next to a decimal ("Microsoft: Precision, scale, and length").
var intDigits = map[Kind]uint8{Bit: 1, TinyInt: 3, SmallInt: 5, Int: 10, BigInt: 19, Money: 19, SmallMoney: 10}

// AsDecimal gives the decimal type an exact number has in decimal arithmetic.
func (t Type) AsDecimal() Type {
	switch t.Kind {
	case Money:
		return Dec(19, 4)
	case SmallMoney:
		return Dec(10, 4)
	case Decimal, Numeric:
		return t
	}
	if p, ok := intDigits[t.Kind]; ok {
		return Dec(p, 0)
	}
	return Dec(38, 0)
}

// Common gives the type two expressions take in a comparison, CASE or UNION.
func Common(a, b Type) Type {
	switch {
	case a.Kind == Null:
		return b
	case b.Kind == Null:
		return a
	}
	if precedence[a.Kind] < precedence[b.Kind] {
		a, b = b, a
	}
	switch a.Class() {
	case ClassDecimal:
		if a.Kind != Decimal && a.Kind != Numeric {
			return a
		}
		if b.Class() != ClassDecimal && b.Class() != ClassInt && b.Class() != ClassBit {
			return a
		}
		x, y := a.AsDecimal(), b.AsDecimal()
		s := max(x.Scale, y.Scale)
		whole := max(x.Prec-x.Scale, y.Prec-y.Scale)
		s = min(s, 38-whole) // the digits before the point are kept
		return Type{Kind: a.Kind, Prec: whole + s, Scale: s}
	case ClassString, ClassBinary:
		t := a
		if b.Class() == a.Class() {
			if a.Len == Max || b.Len == Max || b.LOB() {
				if t.Kind == VarChar || t.Kind == NVarChar || t.Kind == VarBinary {
					t.Len = Max
				}
			} else {
				t.Len = max(a.Len, b.Len)
			}
			if t.Collation == "" {
				t.Collation = b.Collation
			}
			if a.Kind != b.Kind || a.Len != b.Len {
				t.Kind = map[Kind]Kind{Char: VarChar, NChar: NVarChar, Binary: VarBinary}[t.Kind]
				if t.Kind == Null {
					t.Kind = a.Kind
				}
				if a.Kind == b.Kind { // two fixed lengths stay fixed
					t.Kind = a.Kind
				}
			}
		}
		return t
	case ClassTime:
		if b.Class() == ClassTime && b.Scale > a.Scale {
			a.Scale = b.Scale
		}
	}
	return a
}

// ParseType reads a declaration such as "decimal(18,4)", "nvarchar(max)" or "datetime2".
func ParseType(s string) (Type, error) {
	name, args := strings.ToLower(strings.TrimSpace(s)), []string(nil)
	if i := strings.IndexByte(name, '('); i >= 0 {
		if !strings.HasSuffix(name, ")") {
			return Type{}, Errorf(102, "Incorrect syntax near '%s'.", s)
		}
		args = strings.Split(name[i+1:len(name)-1], ",")
		name = strings.TrimSpace(name[:i])
	}
	nums := make([]int, len(args))
	for i, a := range args {
		a = strings.TrimSpace(a)
		if a == "max" {
			nums[i] = Max
		} else if _, err := fmt.Sscanf(a, "%d", &nums[i]); err != nil {
			return Type{}, Errorf(102, "Incorrect syntax near '%s'.", a)
		}
	}
	return MakeType(name, nums)
}

func noLength() *Error {
	return Errorf(1001, "Line 1: Length or precision specification 0 is invalid.")
}

// MakeType gives the type of a lower-case name and its arguments, with SQL Server's defaults for those left out.
func MakeType(name string, args []int) (Type, error) {
	arg := func(i, def int) int {
		if i < len(args) {
			return args[i]
		}
		return def
	}
	switch name {
	case "sysname":
		return SysName, nil
	case "rowversion":
		name = "timestamp"
	case "dec":
		name = "decimal"
	case "integer":
		name = "int"
	}
	for k, n := range kindNames {
		if n != name || Kind(k) == Null {
			continue
		}
		t := Type{Kind: Kind(k)}
		switch t.Kind {
		case Decimal, Numeric:
			p, s := arg(0, 18), arg(1, 0)
			if s > p && p <= 38 {
				return Type{}, Errorf(192, "The scale must be less than or equal to the precision.")
			}
			if p == 0 {
				return Type{}, noLength()
			}
			if p < 0 || p > 38 || s < 0 {
				return Type{}, Errorf(2750, "Column or parameter #1: Specified column precision %d is greater than the maximum precision of 38.", p)
			}
			t.Prec, t.Scale = uint8(p), uint8(s)
		case Time, DateTime2, DateTimeOffset:
			s := arg(0, 7)
			if s < 0 || s > 7 {
				return Type{}, Errorf(1002, "Line 1: Specified scale %d is invalid.", s)
			}
			t.Scale = uint8(s)
		case Float:
			switch p := arg(0, 53); {
			case p < 1:
				return Type{}, noLength()
			case p > 53:
				return Type{}, Errorf(2750, "Column or parameter #1: Specified column precision %d is greater than the maximum precision of 53.", p)
			case p <= 24:
				t.Kind = Real
			}
		case Char, VarChar, Binary, VarBinary, NChar, NVarChar:
			t.Len = arg(0, 1)
			limit := 8000
			if t.Kind == NChar || t.Kind == NVarChar {
				limit = 4000
			}
			switch {
			case t.Len == 0:
				return Type{}, noLength()
			case t.Len > limit && t.Len <= 8000:
				return Type{}, Errorf(2717, "The size (%d) given to the type '%s' exceeds the maximum allowed (4000).", t.Len, name)
			}
			if t.Len > limit || t.Len == Max && (t.Kind == Char || t.Kind == NChar || t.Kind == Binary) {
				return Type{}, Errorf(131, "The size (%d) given to the type '%s' exceeds the maximum allowed for any data type (8000).", t.Len, name)
			}
		case RowVersion:
			t.Len = 8
		}
		switch t.Kind {
		case Decimal, Numeric, Time, DateTime2, DateTimeOffset, Float, Real, Char, VarChar, Binary, VarBinary, NChar, NVarChar:
		default:
			if len(args) > 0 {
				return Type{}, Errorf(2716, "Column, parameter, or variable #1: Cannot specify a column width on data type %s.", name)
			}
		}
		return t, nil
	}
	return Type{}, Errorf(243, "Type %s is not a defined system type.", name)
}
