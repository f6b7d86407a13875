package tds

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

// Dec is an exact number: Unscaled / 10^Scale. Money has scale 4.
type Dec struct {
	Unscaled *big.Int
	Scale    byte
}

// String is the number as digits, with Scale of them after the point.
func (d Dec) String() string {
	if d.Unscaled == nil {
		return "<nil>"
	}
	s := new(big.Int).Abs(d.Unscaled).String()
	for len(s) <= int(d.Scale) {
		s = "0" + s
	}
	if d.Scale > 0 {
		s = s[:len(s)-int(d.Scale)] + "." + s[len(s)-int(d.Scale):]
	}
	if d.Unscaled.Sign() < 0 {
		s = "-" + s
	}
	return s
}

// GUID is a uniqueidentifier in the order a person reads it.
type GUID [16]byte

// String is the GUID as SQL Server prints it, in upper case.
func (g GUID) String() string {
	return fmt.Sprintf("%X-%X-%X-%X-%X", g[:4], g[4:6], g[6:8], g[8:10], g[10:])
}

// wire turns a GUID from or to the order of the wire, where the first three groups are reversed.
func (g GUID) wire() GUID {
	g[0], g[1], g[2], g[3] = g[3], g[2], g[1], g[0]
	g[4], g[5] = g[5], g[4]
	g[6], g[7] = g[7], g[6]
	return g
}

// uint128 is an unsigned number of 128 bits.
type uint128 struct{ hi, lo uint64 }

func (a uint128) less(b uint128) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }

// magnitude splits a number in two's complement into sign and size.
func magnitude(hi int64, lo uint64) (u uint128, negative bool) {
	u = uint128{uint64(hi), lo}
	if hi < 0 {
		var carry uint64
		u.lo, carry = bits.Add64(^lo, 1, 0)
		u.hi = ^u.hi + carry
		return u, true
	}
	return u, false
}

// pow10 holds the powers of ten up to 10^38.
var pow10 = func() (p [39]uint128) {
	p[0] = uint128{0, 1}
	for i := 1; i < len(p); i++ {
		h, l := bits.Mul64(p[i-1].lo, 10)
		p[i] = uint128{p[i-1].hi*10 + h, l}
	}
	return p
}()

// appendDecimal appends decimal, numeric or money without its length; u is at the scale of the type.
func appendDecimal(b []byte, t *Type, u uint128, negative bool) ([]byte, error) {
	if t.ID == IDMoneyN {
		return appendMoney(b, t, u, negative)
	}
	if t.Prec < 1 || t.Prec > 38 || !u.less(pow10[t.Prec]) {
		return b, fmt.Errorf("more than %d digits for %s", t.Prec, *t)
	}
	sign := byte(1)
	if negative {
		sign = 0
	}
	b = append(b, sign)
	switch t.Size {
	case 5:
		return u32(b, uint32(u.lo)), nil
	case 9:
		return u64(b, u.lo), nil
	case 13:
		return u32(u64(b, u.lo), uint32(u.hi)), nil
	}
	return u64(u64(b, u.lo), u.hi), nil
}

// appendMoney appends money, whose halves are sent high first, or smallmoney.
func appendMoney(b []byte, t *Type, u uint128, negative bool) ([]byte, error) {
	limit := uint64(math.MaxInt64)
	if t.Size == 4 {
		limit = math.MaxInt32
	}
	n := u.lo
	if negative {
		limit++
		n = -n
	}
	if u.hi != 0 || u.lo > limit {
		return b, fmt.Errorf("too large for %s", *t)
	}
	if t.Size == 4 {
		return u32(b, uint32(n)), nil
	}
	return u32(u32(b, uint32(n>>32)), uint32(n)), nil
}

// atScale gives the size of a Dec at the scale of a type; digits are never lost.
func (d Dec) atScale(t Type) (u uint128, negative bool, err error) {
	if d.Unscaled == nil {
		return u, false, fmt.Errorf("a Dec without a number for %s", t)
	}
	n := d.Unscaled
	if d.Scale < t.Scale {
		f := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Scale-d.Scale)), nil)
		n = f.Mul(f, n)
	} else if d.Scale > t.Scale {
		f := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d.Scale-t.Scale)), nil)
		q, r := new(big.Int).QuoRem(n, f, new(big.Int))
		if r.Sign() != 0 {
			return u, false, fmt.Errorf("%s has more digits after the point than %s", d, t)
		}
		n = q
	}
	if n.BitLen() > 128 {
		return u, false, fmt.Errorf("%s is too large for %s", d, t)
	}
	var be [16]byte
	n.FillBytes(be[:])
	return uint128{binary.BigEndian.Uint64(be[:]), binary.BigEndian.Uint64(be[8:])}, n.Sign() < 0, nil
}

// appendInt appends tinyint to bigint without its length.
func appendInt(b []byte, t *Type, n int64) ([]byte, error) {
	switch t.Size {
	case 1:
		if n < 0 || n > math.MaxUint8 {
			break
		}
		return append(b, byte(n)), nil
	case 2:
		if n < math.MinInt16 || n > math.MaxInt16 {
			break
		}
		return u16(b, uint16(n)), nil
	case 4:
		if n < math.MinInt32 || n > math.MaxInt32 {
			break
		}
		return u32(b, uint32(n)), nil
	case 8:
		return u64(b, uint64(n)), nil
	}
	return b, fmt.Errorf("%d is out of the range of %s", n, *t)
}

// appendFloat appends real or float without its length. SQL Server has no infinities and no NaN.
func appendFloat(b []byte, t *Type, f float64) ([]byte, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return b, fmt.Errorf("%v does not exist in %s", f, *t)
	}
	if t.Size == 4 {
		if math.IsInf(float64(float32(f)), 0) {
			return b, fmt.Errorf("%v is out of the range of %s", f, *t)
		}
		return u32(b, math.Float32bits(float32(f))), nil
	}
	return u64(b, math.Float64bits(f)), nil
}

// number reads the value of a numeric type.
func (d *decoder) number(t Type, p []byte) any {
	n := littleEndian(p[:min(8, len(p))])
	switch t.ID {
	case IDIntN:
		switch len(p) {
		case 1:
			return int64(p[0])
		case 2:
			return int64(int16(n))
		case 4:
			return int64(int32(n))
		}
		return int64(n)
	case IDBitN:
		return p[0] != 0
	case IDFloatN:
		if len(p) == 4 {
			return float64(math.Float32frombits(uint32(n)))
		}
		return math.Float64frombits(n)
	case IDMoneyN:
		if len(p) == 4 {
			return Dec{big.NewInt(int64(int32(n))), 4}
		}
		return Dec{big.NewInt(int64(bits.RotateLeft64(n, 32))), 4}
	}
	be := make([]byte, len(p)-1) // decimal and numeric: the sign, then the number, lowest byte first
	for i := range be {
		be[i] = p[len(p)-1-i]
	}
	u := new(big.Int).SetBytes(be)
	if p[0] == 0 {
		u.Neg(u)
	}
	return Dec{u, t.Scale}
}
