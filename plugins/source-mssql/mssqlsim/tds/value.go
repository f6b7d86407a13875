package tds

import (
	"encoding/binary"
	"fmt"
	"time"
)

// Typed is the value of a sql_variant together with its base type. A sql_variant may also be given as a plain value:
// int64 then is a bigint, string an nvarchar, Dec a decimal(38, s), time.Time a datetime2(7), []byte a varbinary.
type Typed struct {
	Type  Type
	Value any
}

// appendValue appends a value with its length, as a row or an output parameter holds it.
func appendValue(b []byte, t Type, v any) ([]byte, error) {
	if v == nil {
		return appendNull(b, &t), nil
	}
	if t.ID == IDVariant {
		return appendVariant(b, v)
	}
	if t.isBody() {
		switch x := v.(type) {
		case string:
			return appendText(b, &t, x)
		case []byte:
			return appendBytes(b, &t, x)
		}
		return b, fmt.Errorf("%T does not fit %s", v, t)
	}
	if t.Fixed {
		return appendScalar(b, t, v)
	}
	at := len(b)
	b, err := appendScalar(append(b, 0), t, v)
	b[at] = byte(len(b) - at - 1)
	return b, err
}

// appendScalar appends a value that is not text or binary, without its length.
func appendScalar(b []byte, t Type, v any) ([]byte, error) {
	switch x := v.(type) {
	case int64:
		if t.ID == IDIntN {
			return appendInt(b, &t, x)
		}
	case bool:
		if t.ID == IDBitN {
			return appendBit(b, x), nil
		}
	case float64:
		if t.ID == IDFloatN {
			return appendFloat(b, &t, x)
		}
	case Dec:
		if t.isExact() {
			u, negative, err := x.atScale(t)
			if err != nil {
				return b, err
			}
			return appendDecimal(b, &t, u, negative)
		}
	case GUID:
		if t.ID == IDGUID {
			w := x.wire()
			return append(b, w[:]...), nil
		}
	case time.Time:
		ticks, offset := momentOf(t, x)
		return appendMoment(b, &t, ticks, offset)
	}
	return b, fmt.Errorf("%T does not fit %s", v, t)
}

// momentOf gives ticks and offset of a time for a type; of time(n) the day does not matter.
func momentOf(t Type, x time.Time) (ticks int64, offset int) {
	ticks = TicksOf(x)
	if t.ID == IDTime {
		if ticks %= ticksPerDay; ticks < 0 {
			ticks += ticksPerDay
		}
	}
	_, seconds := x.Zone()
	return ticks, seconds / 60
}

func asTime(v any) (time.Time, bool) {
	t, ok := v.(time.Time)
	return t, ok
}

func appendBit(b []byte, on bool) []byte {
	if on {
		return append(b, 1)
	}
	return append(b, 0)
}

// isExact: decimal, numeric and money.
func (t *Type) isExact() bool {
	return t.ID == IDDecimalN || t.ID == IDNumericN || t.ID == IDMoneyN
}

// variantBase is the base type of a plain value of a sql_variant.
func variantBase(v any) (Typed, bool) {
	switch x := v.(type) {
	case Typed:
		return x, true
	case int64:
		return Typed{BigInt, v}, true
	case bool:
		return Typed{Bit, v}, true
	case float64:
		return Typed{Float, v}, true
	case Dec:
		return Typed{Decimal(38, x.Scale), v}, true
	case string:
		return Typed{NVarChar(4000), v}, true
	case []byte:
		return Typed{VarBinary(8000), v}, true
	case GUID:
		return Typed{UniqueID, v}, true
	case time.Time:
		return Typed{DateTime2(7), v}, true
	}
	return Typed{}, false
}

// appendVariant appends a sql_variant: length, base type, its properties, value (Microsoft: [MS-TDS] SSVARIANT).
// Types with a fixed-length form are named by it.
func appendVariant(b []byte, v any) ([]byte, error) {
	x, ok := variantBase(v)
	if !ok {
		return b, fmt.Errorf("%T does not fit sql_variant", v)
	}
	if x.Value == nil {
		return appendNull(b, &Variant), nil
	}
	at := len(b)
	b = u32(b, 0)
	t := x.Type
	var err error
	switch {
	case fixedID(t) != 0:
		b, err = appendScalar(append(b, fixedID(t), 0), t, x.Value)
	case t.ID == IDGUID, t.ID == IDDate:
		b, err = appendScalar(append(b, t.ID, 0), t, x.Value)
	case t.ID == IDTime, t.ID == IDDateTime2, t.ID == IDDateTimeOffset:
		b, err = appendScalar(append(b, t.ID, 1, t.Scale), t, x.Value)
	case t.ID == IDDecimalN, t.ID == IDNumericN:
		b, err = appendScalar(append(b, t.ID, 2, t.Prec, t.Scale), t, x.Value)
	case t.isBody() && t.Size >= 0 && t.ID != IDText && t.ID != IDNText && t.ID != IDImage:
		b = append(b, t.ID, 2)
		if t.isText() {
			b[len(b)-1] = 7
			b = t.Collation.append(b)
		}
		b = u16(b, uint16(t.Size))
		mark := len(b)
		if b, err = appendValue(b, t, x.Value); err == nil { // here without the length of two bytes
			b = append(b[:mark], b[mark+2:]...)
		}
	default:
		return b, fmt.Errorf("%s does not fit sql_variant", t)
	}
	binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	return b, err
}

// value reads a value whose type was read by typeInfo.
func (d *decoder) value(t Type) any {
	switch {
	case t.ID == IDNull:
		return nil
	case t.ID == IDVariant:
		return d.variant()
	case t.isBody():
		p, null := d.body(t)
		if null || d.err != nil {
			return nil
		}
		return d.bodyValue(t, p)
	}
	n := t.Size
	if !t.Fixed {
		n = int(d.u8())
	}
	if n == 0 {
		return nil
	}
	return d.scalar(t, d.take(n))
}

// body reads the bytes of a text or binary value, which are the decoder's.
func (d *decoder) body(t Type) (p []byte, null bool) {
	switch {
	case d.short: // NULL and the empty string look the same; clients send this form for NULL only
		n := int(d.u8())
		return d.take(n), n == 0
	case t.ID == IDText, t.ID == IDNText, t.ID == IDImage:
		n := d.u32()
		if n == 0xFFFFFFFF {
			return nil, true
		}
		return d.take(int(n)), false
	case t.Size >= 0:
		n := d.u16()
		if n == 0xFFFF {
			return nil, true
		}
		return d.take(int(n)), false
	}
	total := d.u64()
	if total == plpNull {
		return nil, true
	}
	for d.err == nil {
		n := d.u32()
		if n == 0 {
			break
		}
		p = append(p, d.take(int(n))...)
	}
	if d.err == nil && total != plpUnknown && total != uint64(len(p)) {
		d.fail("%s: %d bytes announced, %d sent", t, total, len(p))
	}
	return p, false
}

// bodyValue turns the bytes of a text or binary value into what a handler gets.
func (d *decoder) bodyValue(t Type, p []byte) any {
	switch {
	case t.isNational():
		return d.utf16(p)
	case t.isText():
		return t.Collation.decode(p)
	}
	return append([]byte{}, p...)
}

// scalar reads the body of a value that is not text or binary.
func (d *decoder) scalar(t Type, p []byte) any {
	if d.err != nil {
		return nil
	}
	ok := len(p) == t.Size
	switch t.ID {
	case IDIntN:
		ok = len(p) == 1 || len(p) == 2 || len(p) == 4 || len(p) == 8
	case IDFloatN, IDMoneyN, IDDateTimeN:
		ok = len(p) == 4 || len(p) == 8
	case IDDecimalN, IDNumericN: // jTDS sends no more bytes than the number needs
		ok = len(p) >= 2 && len(p) <= 17
	}
	if !ok {
		d.fail("%s: a value of %d bytes", t, len(p))
		return nil
	}
	switch t.ID {
	case IDGUID:
		var g GUID
		copy(g[:], p)
		return g.wire()
	case IDDate, IDTime, IDDateTime2, IDDateTimeOffset, IDDateTimeN:
		return d.moment(t, p)
	}
	return d.number(t, p)
}

// variant reads the value of a sql_variant, with its base type.
func (d *decoder) variant() any {
	n := d.u32()
	if n == 0 || d.err != nil {
		return nil
	}
	v := decoder{b: d.take(int(n)), ver: d.ver, err: d.err}
	x := v.variantBody()
	if v.err != nil {
		d.fail("sql_variant: %w", v.err)
	}
	return x
}

func (d *decoder) variantBody() any {
	t := Type{ID: d.u8()}
	props := decoder{b: d.take(int(d.u8()))}
	if f, ok := fixedType(t.ID); ok {
		v := d.scalar(f, d.b)
		f.Fixed = false
		return typed(f, v)
	}
	switch t.ID {
	case IDGUID:
		t = UniqueID
	case IDDate:
		t = Date
	case IDTime:
		t = Time(min(props.u8(), 7))
	case IDDateTime2:
		t = DateTime2(min(props.u8(), 7))
	case IDDateTimeOffset:
		t = DTOffset(min(props.u8(), 7))
	case IDDecimalN, IDNumericN:
		t.Prec, t.Scale = props.u8(), props.u8()
		t.Size = decimalSize(t.Prec)
	case IDVarChar, IDChar, IDNVarChar, IDNChar:
		t.Collation = props.collation()
		t.Size = int(props.u16())
	case IDBinary, IDVarBinary:
		t.Size = int(props.u16())
	default:
		d.fail("base type 0x%02X is not known", t.ID)
		return nil
	}
	if props.err != nil {
		d.fail("properties of %s: %w", t, props.err)
		return nil
	}
	if t.isBody() {
		return typed(t, d.bodyValue(t, d.b))
	}
	return typed(t, d.scalar(t, d.b))
}

func typed(t Type, v any) any {
	if v == nil {
		return nil
	}
	return Typed{Type: t, Value: v}
}
