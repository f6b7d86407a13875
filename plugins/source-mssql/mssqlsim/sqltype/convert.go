package sqltype

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf16"
)

// noConversion is the error of an explicit conversion that does not exist.
func noConversion(from, to Type) error {
	return Errorf(529, "Explicit conversion from data type %s to %s is not allowed.", from.Kind, to.Kind)
}

func (l *Locale) toString(v Value, from, to Type, style int) (Value, error) {
	s, fixed := v.s, true
	switch from.Kind {
	case HierarchyID:
		path, err := fromHierarchy(v)
		if err != nil {
			return Value{}, err
		}
		v, from = FromString(path), Str(NVarChar, Max)
		s = path
	case Geography, Geometry:
		g, err := ReadSpatial(v.s, from.Kind == Geography)
		if err != nil {
			return Value{}, err
		}
		s = g.WKT(true)
		v, from = FromString(s), Str(NVarChar, Max)
	}
	switch v.repr {
	case isStr:
		fixed = false
	case isBytes:
		switch {
		case to.Kind == XML:
			var err error
			if s, err = decodeXML(v.s); err != nil {
				return Value{}, err
			}
		case style == 1 || style == 2:
			s = hexText(v.s, style == 1)
		case to.Unicode():
			s = decodeUTF16(v.s)
		default:
			s = to.Decode(v.s)
		}
		fixed = false
	default:
		var err error
		if s, err = l.Format(v, from, style); err != nil {
			return Value{}, err
		}
	}
	s = to.Keep(s)
	if to.Kind == XML && from.Kind != XML {
		if err := keptXML(s); err != nil {
			return Value{}, err
		}
	}
	if to.Kind == Text || to.Kind == NText || to.Kind == XML {
		return FromString(s), nil
	}
	if to.Len != Max {
		n := textLen(s, to)
		if n > to.Len {
			if fixed && v.repr != isTime {
				switch from.Class() {
				case ClassInt:
					if to.Unicode() {
						return Value{}, Errorf(8115, "Arithmetic overflow error converting expression to data type %s.", to.Kind)
					}
					return FromString("*"), nil
				case ClassGUID:
					return Value{}, Errorf(8170, "Insufficient result space to convert uniqueidentifier value to char.")
				default:
					return Value{}, Errorf(8115, "Arithmetic overflow error converting %s to data type %s.", from.Kind, to.Kind)
				}
			}
			s = cutText(s, to.Len, to)
			n = textLen(s, to)
		}
		if to.Kind == Char || to.Kind == NChar {
			s += strings.Repeat(" ", to.Len-n)
		}
	}
	return FromString(s), nil
}

// encodeUTF16 gives the units of a text, the low byte of each first.
func encodeUTF16(s string) string {
	d := make([]byte, 0, 2*len(s))
	for _, u := range utf16.Encode([]rune(s)) {
		d = append(d, byte(u), byte(u>>8))
	}
	return string(d)
}

// decodeUTF16 reads units, the low byte of each first; a byte that is left over is lost.
func decodeUTF16(b string) string {
	u := make([]uint16, 0, len(b)/2)
	for i := 0; i+1 < len(b); i += 2 {
		u = append(u, uint16(b[i])|uint16(b[i+1])<<8)
	}
	return string(utf16.Decode(u))
}

// hexText writes bytes as upper-case digits, with 0x before them if prefix is set.
func hexText(b string, prefix bool) string {
	const digits = "0123456789ABCDEF"
	out := make([]byte, 0, 2*len(b)+2)
	if prefix {
		out = append(out, '0', 'x')
	}
	for i := range len(b) {
		out = append(out, digits[b[i]>>4], digits[b[i]&15])
	}
	return string(out)
}

func toBinary(v Value, from, to Type, style int) (Value, error) {
	var b string
	switch v.repr {
	case isBytes, isGUID:
		b = v.s
		if v.repr == isGUID {
			b = string(wireGUID(v.s))
		}
	case isStr:
		switch {
		case from.clr(): // which are bytes
			b = v.s
		case from.Kind == XML: // a mark of the byte order stands in front (Microsoft: Define the serialization of XML data)
			b = "\xff\xfe" + encodeUTF16(v.s)
			if to.Len != Max && len(b) > to.Len {
				return Value{}, Errorf(6354, "Target string size is too small to represent the XML instance")
			}
		case style == 1 || style == 2:
			h := strings.TrimRight(v.s, " ")
			if style == 1 {
				if len(h) < 2 || h[0] != '0' || h[1] != 'x' && h[1] != 'X' {
					return Value{}, Errorf(8114, "Error converting data type %s to %s.", from.Kind, to.Kind)
				}
				h = h[2:]
			}
			d, err := hex.DecodeString(h)
			if err != nil {
				return Value{}, Errorf(8114, "Error converting data type %s to %s.", from.Kind, to.Kind)
			}
			b = string(d)
		case from.Unicode():
			b = encodeUTF16(v.s)
		default:
			b = from.Encode(v.s)
		}
	case isInt:
		size := map[Kind]int{Bit: 1, TinyInt: 1, SmallInt: 2, Int: 4, BigInt: 8}[from.Kind]
		d := make([]byte, size)
		for i := range d {
			d[size-1-i] = byte(v.n >> (8 * i))
		}
		if to.Len != Max && len(d) > to.Len {
			d = d[len(d)-to.Len:]
		}
		if to.Kind == Binary || to.Kind == RowVersion {
			d = append(make([]byte, to.Len-len(d)), d...)
		}
		b = string(d)
	case isFloat:
		bits := uint64(v.n)
		if from.Kind == Real {
			bits = uint64(math.Float32bits(float32(v.Float()))) << 32
		}
		d := make([]byte, 8)
		binary.BigEndian.PutUint64(d, bits)
		if b = string(d); from.Kind == Real {
			b = b[:4]
		}
	default:
		return Value{}, Unsupported("a conversion from %s to %s", from, to)
	}
	if to.Kind != Image && to.Len != Max {
		if len(b) > to.Len {
			b = b[:to.Len]
		}
		if (to.Kind == Binary || to.Kind == RowVersion) && len(b) < to.Len {
			b += strings.Repeat("\x00", to.Len-len(b))
		}
	}
	return FromBytes(b), nil
}

func toInteger(v Value, from, to Type) (Value, error) {
	var n int64
	ok := true
	switch v.repr {
	case isInt, isFloat, isDec:
		if from.Kind == Money || from.Kind == SmallMoney {
			v = rescale(v, 0, false)
		}
		n, ok = toInt(v)
	case isStr:
		s, whole := integerText(v.s)
		if s == "" && whole {
			return FromInt(0), nil
		}
		var err error
		if n, err = strconv.ParseInt(s, 10, 64); err != nil || !whole {
			if whole {
				if to.Kind == BigInt {
					return Value{}, Errorf(8115, "Arithmetic overflow error converting expression to data type bigint.")
				}
				return Value{}, Errorf(248, "The conversion of the %s value '%s' overflowed an %s column.", from.Kind, v.s, to.Kind)
			}
			if to.Kind == BigInt {
				return Value{}, Errorf(8114, "Error converting data type %s to bigint.", from.Kind)
			}
			return Value{}, Errorf(245, "Conversion failed when converting the %s value '%s' to data type %s.", from.Kind, v.s, to.Kind)
		}
		if !intFits(n, to.Kind) {
			num := map[Kind]int32{TinyInt: 244, SmallInt: 244, Int: 248}[to.Kind]
			return Value{}, Errorf(num, "The conversion of the %s value '%s' overflowed an %s column.", from.Kind, v.s, to.Kind)
		}
	case isBytes:
		for _, c := range []byte(v.s[max(0, len(v.s)-8):]) {
			n = n<<8 | int64(c)
		}
		switch to.Kind { // the last bytes count
		case Int:
			n = int64(int32(n))
		case SmallInt:
			n = int64(int16(n))
		case TinyInt:
			n = int64(uint8(n))
		}
	case isTime:
		if from.Kind != DateTime && from.Kind != SmallDateTime {
			return Value{}, noConversion(from, to)
		}
		n = int64(math.Round(float64(v.n-epoch1900) / TicksPerDay))
	default:
		return Value{}, noConversion(from, to)
	}
	if !ok || !intFits(n, to.Kind) {
		switch {
		case v.repr == isFloat:
			return Value{}, Errorf(232, "Arithmetic overflow error for type %s, value = %f.", to.Kind, v.Float())
		case (to.Kind == TinyInt || to.Kind == SmallInt) && v.repr == isInt:
			return Value{}, Errorf(220, "Arithmetic overflow error for data type %s, value = %d.", to.Kind, n)
		}
		return Value{}, Errorf(8115, "Arithmetic overflow error converting expression to data type %s.", to.Kind)
	}
	return FromInt(n), nil
}

func toBit(v Value, from Type) (Value, error) {
	switch v.repr {
	case isInt:
		return FromBool(v.n != 0), nil
	case isFloat:
		return FromBool(v.Float() != 0), nil
	case isDec:
		return FromBool(v.n != 0 || v.s != ""), nil
	case isStr:
		switch s := strings.ToLower(strings.TrimRight(strings.TrimLeft(v.s, leadingBlanks), " ")); {
		case s == "true":
			return FromBool(true), nil
		case s == "false" || s == "":
			return FromBool(false), nil
		default:
			n, ok := integerText(v.s)
			if !ok {
				return Value{}, Errorf(245, "Conversion failed when converting the %s value '%s' to data type bit.", from.Kind, v.s)
			}
			return FromBool(strings.Trim(n, "+-0") != ""), nil
		}
	case isBytes:
		return FromBool(strings.Trim(v.s, "\x00") != ""), nil
	case isTime:
		return FromBool(v.n != epoch1900), nil
	}
	return Value{}, noConversion(from, Of(Bit))
}

func toDecimal(v Value, from, to Type) (Value, error) {
	target := to.AsDecimal()
	switch v.repr {
	case isInt, isDec:
		v = exact(v)
	case isFloat:
		f := v.Float()
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return Value{}, overflow(to)
		}
		r := new(big.Rat).SetFloat64(f)
		// 17 digits are what a float holds; more would print its binary form
		s := strconv.FormatFloat(f, 'e', 16, 64)
		if x, ok := new(big.Rat).SetString(s); ok {
			r = x
		}
		n := new(big.Int).Mul(r.Num(), pow10(target.Scale+1))
		v = FromBig(n.Quo(n, r.Denom()), target.Scale+1)
	case isStr:
		s := numberText(v.s)
		if to.Kind == Money || to.Kind == SmallMoney {
			s = moneyText(strings.TrimLeft(s, "\u00a0"))
		} else if s == "+" || s == "-" {
			e := Errorf(8115, "Arithmetic overflow error converting %s to data type %s.", from.Kind, decName(to))
			e.State = 6
			return Value{}, e
		}
		d, ok := ParseDecimal(s)
		ok = ok && strings.TrimSpace(s) == s
		if !ok {
			switch to.Kind {
			case Money:
				return Value{}, Errorf(235, "Cannot convert a char value to money. The char value has incorrect syntax.")
			case SmallMoney:
				return Value{}, Errorf(293, "Cannot convert char value to smallmoney. The char value has incorrect syntax.")
			}
			return Value{}, Errorf(8114, "Error converting data type %s to numeric.", from.Kind)
		}
		v = d
	case isTime: // days since 1900
		n := new(big.Int).Mul(big.NewInt(v.n-epoch1900), pow10(target.Scale+1))
		v = FromBig(n.Quo(n, big.NewInt(TicksPerDay)), target.Scale+1)
	default:
		return Value{}, Unsupported("a conversion from %s to %s", from, to)
	}
	v = rescale(v, target.Scale, false)
	if !fitsType(v, to) {
		if from.Class() == ClassDecimal || from.Class() == ClassInt {
			n := from.Kind.String()
			if from.Kind == Decimal {
				n = "numeric"
			}
			return Value{}, Errorf(8115, "Arithmetic overflow error converting %s to data type %s.", n, decName(to))
		}
		return Value{}, Errorf(8115, "Arithmetic overflow error converting %s to data type %s.", from.Kind, decName(to))
	}
	return v, nil
}

func decName(t Type) string {
	if t.Kind == Decimal {
		return "numeric"
	}
	return t.Kind.String()
}

func toReal(v Value, from, to Type) (Value, error) {
	var f float64
	switch v.repr {
	case isInt, isFloat, isDec:
		f = toFloat(v)
	case isStr:
		var err error
		if f, err = parseFloat(v.s); err != nil {
			return Value{}, Errorf(8114, "Error converting data type %s to %s.", from.Kind, to.Kind)
		}
	case isTime:
		f = float64(v.n-epoch1900) / TicksPerDay
	default:
		return Value{}, noConversion(from, to)
	}
	if math.IsInf(f, 0) {
		return Value{}, overflow(to)
	}
	if to.Kind == Real {
		g := float32(f)
		if math.IsInf(float64(g), 0) {
			return Value{}, overflow(to)
		}
		f = float64(g)
	}
	return FromFloat(f), nil
}

// wireGUID gives the bytes as SQL Server stores them: the first three groups reversed.
func wireGUID(s string) []byte {
	g := []byte(s)
	g[0], g[1], g[2], g[3] = g[3], g[2], g[1], g[0]
	g[4], g[5], g[6], g[7] = g[5], g[4], g[7], g[6]
	return g
}

func toGUID(v Value, from Type) (Value, error) {
	bad := Errorf(8169, "Conversion failed when converting from a character string to uniqueidentifier.")
	switch v.repr {
	case isGUID:
		return v, nil
	case isBytes:
		b := make([]byte, 16)
		copy(b, v.s)
		return Value{form: form{repr: isGUID}, s: string(wireGUID(string(b)))}, nil
	case isStr:
		s := strings.Trim(strings.TrimRight(v.s, " "), "{}")
		if len(s) < 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
			return Value{}, bad
		}
		b, err := hex.DecodeString(strings.ReplaceAll(s[:36], "-", ""))
		if err != nil || len(b) != 16 {
			return Value{}, bad
		}
		return Value{form: form{repr: isGUID}, s: string(b)}, nil
	}
	return Value{}, noConversion(from, Of(UniqueIdentifier))
}
