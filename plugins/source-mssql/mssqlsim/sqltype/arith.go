package sqltype

import (
	"math"
	"math/big"
)

// Op is an arithmetic operator.
type Op uint8

// The operators.
const (
	Add Op = iota
	Sub
	Mul
	Div
	Mod
	And
	Or
	Xor
)

// ArithType gives the type of a op b ("Microsoft: Precision, scale, and length (Transact-SQL)").
func ArithType(op Op, a, b Type) (Type, error) {
	if a.Kind == Null && b.Kind == Null {
		return Of(Int), nil
	}
	if op == Add && (a.Class() == ClassString || a.Kind == Null) && (b.Class() == ClassString || b.Kind == Null) {
		t := Common(a, b)
		t.Kind = map[Kind]Kind{Char: VarChar, NChar: NVarChar}[t.Kind]
		if t.Kind == Null {
			t.Kind = Common(a, b).Kind
		}
		if a.Len != Max && b.Len != Max {
			limit := 8000
			if t.Unicode() {
				limit = 4000
			}
			t.Len = min(limit, a.Len+b.Len)
		}
		return t, nil
	}
	if op == Add && a.Class() == ClassBinary && b.Class() == ClassBinary {
		if a.Len == Max || b.Len == Max {
			return Bin(VarBinary, Max), nil
		}
		return Bin(VarBinary, min(8000, a.Len+b.Len)), nil
	}
	t := Common(a, b)
	if op >= And && t.Class() != ClassInt && t.Class() != ClassBit {
		return t, incompatible(op, a, b)
	}
	switch t.Class() {
	case ClassInt:
		return t, nil
	case ClassBit:
		if op >= And {
			return t, nil
		}
		return t, incompatible(op, a, b)
	case ClassFloat:
		if op == Mod {
			return t, incompatible(op, a, b)
		}
		return t, nil
	case ClassDecimal:
		if t.Kind == Money || t.Kind == SmallMoney {
			return t, nil
		}
		x, y := a.AsDecimal(), b.AsDecimal()
		p1, s1, p2, s2 := int(x.Prec), int(x.Scale), int(y.Prec), int(y.Scale)
		var p, s int
		switch op {
		case Mul:
			p, s = p1+p2+1, s1+s2
		case Div:
			s = max(6, s1+p2+1)
			p = p1 - s1 + s2 + s
		case Mod:
			s = max(s1, s2)
			p = min(p1-s1, p2-s2) + s
		default:
			s = max(s1, s2)
			p = max(p1-s1, p2-s2) + s + 1
		}
		if p > 38 {
			if op == Mul || op == Div {
				if integral := p - s; integral < 32 {
					s = min(s, 38-integral)
				} else {
					s = min(s, 6)
				}
			} else {
				s = min(s, max(0, 38-max(p1-s1, p2-s2)))
			}
			p = 38
		}
		return Dec(uint8(p), uint8(s)), nil
	case ClassTime:
		if (t.Kind == DateTime || t.Kind == SmallDateTime) && Implicit(a, t) == nil && Implicit(b, t) == nil && daysOrText(a) && daysOrText(b) {
			if op == Add || op == Sub {
				return t, nil
			}
			return t, invalidOperand(op, t)
		}
	}
	if err := Implicit(b, a); a.Kind != Null && b.Kind != Null && err != nil && Implicit(a, b) != nil && a.Class() != b.Class() {
		return t, clash(a, b)
	}
	if a.Kind == b.Kind || a.Kind == Null || b.Kind == Null || t.Class() == ClassString {
		return t, invalidOperand(op, t)
	}
	return t, incompatible(op, a, b)
}

// daysOrText tells whether a type may stand beside a datetime in a sum: the types of date and time that came later do not.
func daysOrText(t Type) bool {
	return t.Class() != ClassTime || t.Kind == DateTime || t.Kind == SmallDateTime
}

var opNames = [...]string{"add", "subtract", "multiply", "divide", "modulo", "'&'", "'|'", "'^'"}

func incompatible(op Op, a, b Type) error {
	return Errorf(402, "The data types %s and %s are incompatible in the %s operator.", a.Kind, b.Kind, opNames[op])
}

func invalidOperand(op Op, t Type) error {
	return Errorf(8117, "Operand data type %s is invalid for %s operator.", t.Kind, opNames[op])
}

func overflow(t Type) error {
	n := t.Kind.String()
	if t.Kind == Decimal {
		n = "numeric"
	}
	return Errorf(8115, "Arithmetic overflow error converting expression to data type %s.", n)
}

// Arith computes a op b; both are already of type t, decimals of any scale. NULL gives NULL.
func Arith(op Op, a, b Value, t Type) (Value, error) {
	if a.IsNull() || b.IsNull() {
		return Value{}, nil
	}
	switch t.Class() {
	case ClassString:
		if len(a.s)+len(b.s) > LongestValue {
			return Value{}, TooLong()
		}
		return Convert(FromString(a.s+b.s), t, t, 0)
	case ClassBinary:
		if len(a.s)+len(b.s) > LongestValue {
			return Value{}, TooLong()
		}
		return Convert(FromBytes(a.s+b.s), t, t, 0)
	case ClassInt, ClassBit:
		n, err := arithInt(op, a.n, b.n, t)
		return FromInt(n), err
	case ClassFloat:
		return arithFloat(op, toFloat(a), toFloat(b), t)
	case ClassDecimal:
		return arithDec(op, exact(a), exact(b), t)
	case ClassTime: // datetime plus days
		n := a.n + b.n - epoch1900
		if op == Sub {
			n = a.n - b.n + epoch1900
		}
		n, err := fitTime(n, t)
		if err != nil {
			return Value{}, overflow(t)
		}
		return FromTicks(n), nil
	}
	return Value{}, Unsupported("arithmetic on %s", t)
}

func arithInt(op Op, x, y int64, t Type) (int64, error) {
	var z int64
	ok := true
	switch op {
	case Add:
		z = x + y
		ok = (z > x) == (y > 0)
	case Sub:
		z = x - y
		ok = (z < x) == (y > 0)
	case Mul:
		z, ok = mul64(x, y)
	case Div, Mod:
		if y == 0 {
			return 0, Errorf(8134, "Divide by zero error encountered.")
		}
		if y == -1 { // the one quotient that overflows
			if op == Div {
				z, ok = -x, x != -1<<63
			}
		} else if op == Div {
			z = x / y
		} else {
			z = x % y
		}
	case And:
		z = x & y
	case Or:
		z = x | y
	case Xor:
		z = x ^ y
	}
	if !ok || !intFits(z, t.Kind) {
		return 0, overflow(t)
	}
	return z, nil
}

func intFits(n int64, k Kind) bool {
	switch k {
	case TinyInt:
		return n >= 0 && n <= 255
	case SmallInt:
		return n == int64(int16(n))
	case Int:
		return n == int64(int32(n))
	}
	return true
}

func arithFloat(op Op, x, y float64, t Type) (Value, error) {
	var z float64
	switch op {
	case Add:
		z = x + y
	case Sub:
		z = x - y
	case Mul:
		z = x * y
	case Div:
		if y == 0 {
			return Value{}, Errorf(8134, "Divide by zero error encountered.")
		}
		z = x / y
	default:
		return Value{}, incompatible(op, t, t)
	}
	if t.Kind == Real {
		z = float64(float32(z))
	}
	if math.IsInf(z, 0) {
		return Value{}, overflow(t)
	}
	return FromFloat(z), nil
}

func arithDec(op Op, a, b Value, t Type) (Value, error) {
	var z Value
	scale := t.Scale
	if t.Kind == Money || t.Kind == SmallMoney {
		scale = 4
	}
	switch op {
	case Add, Sub:
		s := max(a.scale, b.scale)
		if a.scale == b.scale && a.s == "" && b.s == "" {
			y := b.n
			if op == Sub {
				y = -y
			}
			if n := a.n + y; (n > a.n) == (y > 0) {
				z = FromScaled(n, s)
				break
			}
		}
		x, y := scaledBig(a, s), scaledBig(b, s)
		if op == Sub {
			y.Neg(y)
		}
		z = FromBig(x.Add(x, y), s)
	case Mul:
		z = FromBig(new(big.Int).Mul(a.Big(), b.Big()), a.scale+b.scale)
	case Div, Mod:
		y := b.Big()
		if y.Sign() == 0 {
			return Value{}, Errorf(8134, "Divide by zero error encountered.")
		}
		if op == Mod {
			s := max(a.scale, b.scale)
			x := scaledBig(a, s)
			z = FromBig(x.Rem(x, scaledBig(b, s)), s)
			break
		}
		n := new(big.Int).Mul(a.Big(), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)+int64(b.scale)), nil))
		z = FromBig(n.Quo(n, y.Mul(y, pow10(a.scale))), scale)
	default:
		return Value{}, incompatible(op, t, t)
	}
	z = rescale(z, scale, false)
	if !fitsType(z, t) {
		return Value{}, overflow(t)
	}
	return z, nil
}
