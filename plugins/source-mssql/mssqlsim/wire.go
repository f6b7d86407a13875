package mssqlsim

import (
	"fmt"
	"strings"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/collation"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tds"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// wireCollation gives a collation as the wire has it; what its code page is, the client takes from there.
func wireCollation(name string) (tds.Collation, error) {
	if name == "" || name == sqltype.DefaultCollation {
		return tds.Collation{}, nil
	}
	c, ok := collation.Find(name)
	if !ok {
		return tds.Collation{}, sqltype.Unsupported("the collation %s", name)
	}
	return c.Bytes(), nil
}

// wireType gives a type as the wire describes it.
func wireType(t sqltype.Type) (tds.Type, error) {
	w, ok := plainTypes[t.Kind]
	switch t.Kind {
	case sqltype.Decimal:
		w, ok = tds.Decimal(t.Prec, t.Scale), true
	case sqltype.Numeric:
		w, ok = tds.Numeric(t.Prec, t.Scale), true
	case sqltype.Time:
		w, ok = tds.Time(t.Scale), true
	case sqltype.DateTime2:
		w, ok = tds.DateTime2(t.Scale), true
	case sqltype.DateTimeOffset:
		w, ok = tds.DTOffset(t.Scale), true
	case sqltype.Char:
		w, ok = tds.Char(t.Len), true
	case sqltype.VarChar:
		w, ok = tds.VarChar(t.Len), true
	case sqltype.NChar:
		w, ok = tds.NChar(t.Len), true
	case sqltype.NVarChar:
		w, ok = tds.NVarChar(t.Len), true
	case sqltype.Binary:
		w, ok = tds.Binary(t.Len), true
	case sqltype.VarBinary:
		w, ok = tds.VarBinary(t.Len), true
	}
	if !ok {
		return w, sqltype.Unsupported("results of type %s", t)
	}
	if t.Class() == sqltype.ClassString && t.Kind != sqltype.XML {
		var err error
		if w.Collation, err = wireCollation(t.Collation); err != nil {
			return w, err
		}
	}
	return w, nil
}

var plainTypes = map[sqltype.Kind]tds.Type{sqltype.Null: tds.Int, sqltype.Bit: tds.Bit, sqltype.TinyInt: tds.TinyInt, sqltype.SmallInt: tds.SmallInt, sqltype.Int: tds.Int, sqltype.BigInt: tds.BigInt,
	sqltype.Money: tds.Money, sqltype.SmallMoney: tds.SmallMoney, sqltype.Real: tds.Real, sqltype.Float: tds.Float, sqltype.Date: tds.Date, sqltype.SmallDateTime: tds.SmallDateTime,
	sqltype.DateTime: tds.DateTime, sqltype.UniqueIdentifier: tds.UniqueID, sqltype.XML: tds.XML, sqltype.Text: tds.Text, sqltype.NText: tds.NText, sqltype.Image: tds.Image,
	sqltype.RowVersion: tds.Binary(8), sqltype.Variant: tds.Variant, sqltype.HierarchyID: tds.UDT("hierarchyid"), sqltype.Geography: tds.UDT("geography"), sqltype.Geometry: tds.UDT("geometry")}

// rowVersionUserType marks rowversion columns (Microsoft: [MS-TDS] COLMETADATA, UserType).
const rowVersionUserType = 80

func wireColumns(cols []tsql.Column) ([]tds.Column, error) {
	out := make([]tds.Column, len(cols))
	for i, c := range cols {
		t, err := wireType(c.Type)
		if err != nil {
			return nil, err
		}
		out[i] = tds.Column{Name: c.Name, Type: t, Nullable: c.Nullable || c.Type.Kind == sqltype.Null, Identity: c.Identity, Computed: c.Computed}
		if c.Type.Kind == sqltype.RowVersion {
			out[i].UserType = rowVersionUserType
		}
		if c.Base.Object != "" {
			out[i].Table = []string{c.Base.Database, c.Base.Schema, c.Base.Object}
		}
	}
	return out, nil
}

// modelType gives a wire type as package sqltype has it.
func modelType(t tds.Type) (sqltype.Type, error) {
	ints := map[int]sqltype.Kind{1: sqltype.TinyInt, 2: sqltype.SmallInt, 4: sqltype.Int, 8: sqltype.BigInt}
	chars := func(k sqltype.Kind) sqltype.Type {
		n := t.Size
		if n > 0 && (k == sqltype.NChar || k == sqltype.NVarChar) {
			n /= 2
		}
		return sqltype.Str(k, max(n, -1))
	}
	switch t.ID {
	case tds.IDNull:
		return sqltype.Of(sqltype.Null), nil
	case tds.IDIntN:
		return sqltype.Of(ints[t.Size]), nil
	case tds.IDBitN:
		return sqltype.Of(sqltype.Bit), nil
	case tds.IDFloatN:
		if t.Size == 4 {
			return sqltype.Of(sqltype.Real), nil
		}
		return sqltype.Of(sqltype.Float), nil
	case tds.IDMoneyN:
		if t.Size == 4 {
			return sqltype.Of(sqltype.SmallMoney), nil
		}
		return sqltype.Of(sqltype.Money), nil
	case tds.IDDecimalN:
		return sqltype.Dec(t.Prec, t.Scale), nil
	case tds.IDNumericN:
		return sqltype.Type{Kind: sqltype.Numeric, Prec: t.Prec, Scale: t.Scale}, nil
	case tds.IDDateTimeN:
		if t.Size == 4 {
			return sqltype.Of(sqltype.SmallDateTime), nil
		}
		return sqltype.Of(sqltype.DateTime), nil
	case tds.IDDate:
		return sqltype.Of(sqltype.Date), nil
	case tds.IDTime:
		return sqltype.Scaled(sqltype.Time, t.Scale), nil
	case tds.IDDateTime2:
		return sqltype.Scaled(sqltype.DateTime2, t.Scale), nil
	case tds.IDDateTimeOffset:
		return sqltype.Scaled(sqltype.DateTimeOffset, t.Scale), nil
	case tds.IDGUID:
		return sqltype.Of(sqltype.UniqueIdentifier), nil
	case tds.IDChar:
		return chars(sqltype.Char), nil
	case tds.IDVarChar:
		return chars(sqltype.VarChar), nil
	case tds.IDNChar:
		return chars(sqltype.NChar), nil
	case tds.IDNVarChar:
		return chars(sqltype.NVarChar), nil
	case tds.IDText:
		return sqltype.Of(sqltype.Text), nil
	case tds.IDNText:
		return sqltype.Of(sqltype.NText), nil
	case tds.IDXML:
		return sqltype.Of(sqltype.XML), nil
	case tds.IDBinary:
		return sqltype.Bin(sqltype.Binary, t.Size), nil
	case tds.IDVarBinary:
		return sqltype.Bin(sqltype.VarBinary, t.Size), nil
	case tds.IDImage:
		return sqltype.Of(sqltype.Image), nil
	case tds.IDVariant:
		return sqltype.Of(sqltype.Variant), nil
	case tds.IDUDT:
		return sqltype.MakeType(strings.ToLower(t.Name), nil)
	}
	return sqltype.Type{}, sqltype.Unsupported("parameters of the wire type 0x%02X", t.ID)
}

// modelValue gives a parameter's value.
func modelValue(v any, t sqltype.Type) (sqltype.Value, error) {
	switch x := v.(type) {
	case nil:
		return sqltype.Value{}, nil
	case int64:
		return sqltype.FromInt(x), nil
	case bool:
		return sqltype.FromBool(x), nil
	case float64:
		return sqltype.FromFloat(x), nil
	case tds.Dec:
		return sqltype.FromBig(x.Unscaled, x.Scale), nil
	case string:
		return sqltype.FromString(x), nil
	case []byte:
		return sqltype.FromBytes(string(x)), nil
	case tds.GUID:
		return sqltype.FromGUID(x), nil
	case tds.Typed:
		base, err := modelType(x.Type)
		if err != nil {
			return sqltype.Value{}, err
		}
		n, err := modelValue(x.Value, base)
		if err != nil {
			return sqltype.Value{}, err
		}
		return sqltype.Convert(n, base, t, 0)
	case time.Time:
		if t.Kind == sqltype.DateTimeOffset {
			return sqltype.FromTimeOffset(x), nil
		}
		n := sqltype.FromTime(x).Ticks()
		if t.Kind == sqltype.DateTime {
			n = sqltype.DateTimeTicks(n)
		}
		return sqltype.FromTicks(n), nil
	}
	return sqltype.Value{}, fmt.Errorf("mssqlsim: a parameter of Go type %T", v)
}

// wireValue gives a value as the generic path of package tds takes it.
func wireValue(v sqltype.Value, t sqltype.Type) any {
	if v.IsNull() {
		return nil
	}
	switch t.Class() {
	case sqltype.ClassInt:
		return v.Int()
	case sqltype.ClassBit:
		return v.Bool()
	case sqltype.ClassFloat:
		return v.Float()
	case sqltype.ClassDecimal:
		return tds.Dec{Unscaled: v.Big(), Scale: v.Scale()}
	case sqltype.ClassTime:
		return v.Time()
	case sqltype.ClassGUID:
		return tds.GUID([]byte(v.Str()))
	case sqltype.ClassString:
		return v.Str()
	}
	return []byte(v.Str())
}
