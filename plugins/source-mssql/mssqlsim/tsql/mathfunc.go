package tsql

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// numberType is the type in which a mathematical function computes: small integers as int, text as float ("Microsoft:
// POWER (Transact-SQL)" and "ROUND (Transact-SQL)", Return types).
func numberType(name string, t sqltype.Type) sqltype.Type {
	switch {
	case t.Kind == sqltype.BigInt, t.Kind == sqltype.Money, t.Kind == sqltype.Float:
		return t
	case t.Class() == sqltype.ClassInt:
		return sqltype.Of(sqltype.Int)
	case t.Kind == sqltype.SmallMoney:
		return sqltype.Of(sqltype.Money)
	case t.Class() == sqltype.ClassDecimal:
		return t
	case t.Class() == sqltype.ClassFloat, t.Class() == sqltype.ClassString, t.Class() == sqltype.ClassBit, t.Kind == sqltype.Null:
		return sqltype.Of(sqltype.Float)
	}
	failf(8116, "Argument data type %s is invalid for argument 1 of %s function.", t.Kind, lower(name))
	return t
}

// sameNumber binds ABS, SIGN, FLOOR and CEILING.
func (b *binder) sameNumber(name string, args []expr) expr {
	t := numberType(name, args[0].typ)
	e := b.given(args[0], t)
	out := t
	if (name == "FLOOR" || name == "CEILING") && (t.Kind == sqltype.Decimal || t.Kind == sqltype.Numeric) {
		out.Scale = 0
		out.Prec = max(1, t.Prec-t.Scale)
		if t.Prec == t.Scale || t.Scale > 0 { // room for what is carried
			out.Prec = t.Prec
		}
	}
	return folded(expr{typ: out, null: e.null, konst: e.konst, eval: func(f *frame) sqltype.Value {
		v := e.eval(f)
		if v.IsNull() {
			return v
		}
		w, err := numberOf(name, v, t)
		if err != nil {
			b.fail(err)
		}
		return w
	}})
}

func numberOf(name string, v sqltype.Value, t sqltype.Type) (sqltype.Value, error) {
	switch t.Class() {
	case sqltype.ClassInt:
		n := v.Int()
		switch {
		case name == "SIGN":
			return sqltype.FromInt(int64(big.NewInt(n).Sign())), nil
		case name == "ABS" && n < 0:
			return sqltype.Arith(sqltype.Sub, sqltype.FromInt(0), v, t)
		}
		return v, nil
	case sqltype.ClassFloat:
		x := v.Float()
		switch name {
		case "ABS":
			x = math.Abs(x)
		case "SIGN":
			x = float64(big.NewFloat(x).Sign())
		case "FLOOR":
			x = math.Floor(x)
		default:
			x = math.Ceil(x)
		}
		return sqltype.FromFloat(x), nil
	}
	n, scale := v.Big(), v.Scale()
	one := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
	switch name {
	case "ABS":
		return sqltype.FromBig(n.Abs(n), scale), nil
	case "SIGN":
		return sqltype.FromBig(one.Mul(one, big.NewInt(int64(n.Sign()))), scale), nil
	case "CEILING":
		n.Add(n, new(big.Int).Sub(one, big.NewInt(1)))
	}
	q, m := new(big.Int).DivMod(n, one, new(big.Int)) // the divisor is positive: m is never below 0, so q is the floor
	_ = m
	if t.Kind == sqltype.Money {
		return sqltype.FromBig(q.Mul(q, one), scale), nil
	}
	return sqltype.FromBig(q, 0), nil
}

// round is ROUND (Microsoft: ROUND (Transact-SQL)).
func (b *binder) round(name string, args []expr) expr {
	t := numberType(name, args[0].typ)
	e, places := b.given(args[0], t), b.given(args[1], sqltype.Of(sqltype.Int))
	cut := constant(sqltype.Of(sqltype.Int), sqltype.FromInt(0))
	if len(args) > 2 {
		cut = b.given(args[2], sqltype.Of(sqltype.Int))
	}
	return folded(expr{typ: t, null: e.null || places.null, konst: e.konst && places.konst && cut.konst, eval: func(f *frame) sqltype.Value {
		v, p, c := e.eval(f), places.eval(f), cut.eval(f)
		if v.IsNull() || p.IsNull() || c.IsNull() {
			return sqltype.Value{}
		}
		w, err := rounded(v, p.Int(), c.Int() != 0, t)
		if err != nil {
			b.fail(err)
		}
		return w
	}})
}

func rounded(v sqltype.Value, places int64, cut bool, t sqltype.Type) (sqltype.Value, error) {
	if t.Class() == sqltype.ClassFloat {
		if places > 300 || places < -300 {
			return v, nil
		}
		unit := math.Pow(10, math.Abs(float64(places)))
		x := v.Float()
		scaled := x * unit
		if places < 0 {
			scaled = x / unit
		}
		if cut {
			scaled = math.Trunc(scaled)
		} else {
			scaled = math.Round(scaled)
		}
		if places < 0 {
			return sqltype.FromFloat(scaled * unit), nil
		}
		return sqltype.FromFloat(scaled / unit), nil
	}
	n, scale := big.NewInt(v.Int()), int64(0)
	if t.Class() == sqltype.ClassDecimal {
		n, scale = v.Big(), int64(v.Scale())
	}
	drop := scale - places
	if drop <= 0 {
		return v, nil
	}
	if drop > 60 {
		n.SetInt64(0)
	} else {
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(drop), nil)
		if !cut {
			half := new(big.Int).Rsh(unit, 1)
			if n.Sign() < 0 {
				half.Neg(half)
			}
			n.Add(n, half)
		}
		n.Quo(n, unit).Mul(n, unit)
	}
	if t.Class() == sqltype.ClassDecimal {
		return sqltype.Convert(sqltype.FromBig(n, uint8(scale)), sqltype.Dec(38, uint8(scale)), t, 0)
	}
	return sqltype.Convert(sqltype.FromBig(n, 0), sqltype.Dec(38, 0), t, 0)
}

// power is POWER: it computes in float and gives the type of its first argument.
func (b *binder) power(name string, args []expr) expr {
	t := numberType(name, args[0].typ)
	if t.Kind == sqltype.Decimal || t.Kind == sqltype.Numeric {
		t.Prec = 38
	}
	fl := sqltype.Of(sqltype.Float)
	x, y := b.given(args[0], fl), b.given(args[1], fl)
	return b.computed(t, []expr{x, y}, func(v []float64) float64 { return pow(v[0], v[1]) })
}

// floats binds functions that are float whatever they are given.
func floats(fn func(v []float64) float64) func(*binder, string, []expr) expr {
	return func(b *binder, name string, args []expr) expr {
		for i := range args {
			numberType(name, args[i].typ)
			args[i] = b.given(args[i], sqltype.Of(sqltype.Float))
		}
		return b.computed(sqltype.Of(sqltype.Float), args, fn)
	}
}

func one(fn func(float64) float64) func([]float64) float64 {
	return func(v []float64) float64 { return fn(v[0]) }
}

// computed is a function of floats; what is no number is error 3623.
func (b *binder) computed(t sqltype.Type, args []expr, fn func(v []float64) float64) expr {
	out := expr{typ: t, konst: true}
	for _, a := range args {
		out.null, out.konst = out.null || a.null, out.konst && a.konst
	}
	out.eval = func(f *frame) sqltype.Value {
		var v [2]float64
		for i, a := range args {
			x := a.eval(f)
			if x.IsNull() {
				return x
			}
			v[i] = x.Float()
		}
		if b.err != nil {
			return sqltype.Value{}
		}
		z := fn(v[:])
		if math.IsNaN(z) || math.IsInf(z, 0) {
			b.fail(sqltype.Errorf(3623, "An invalid floating point operation occurred."))
			return sqltype.Value{}
		}
		w, err := sqltype.Convert(sqltype.FromFloat(z), sqltype.Of(sqltype.Float), t, 0)
		if err != nil {
			b.fail(err)
		}
		return w
	}
	return folded(out)
}

// degrees is DEGREES and RADIANS of floats and integers; the latter give integers.
func (b *binder) degrees(name string, args []expr) expr {
	t := numberType(name, args[0].typ)
	if t.Class() == sqltype.ClassDecimal {
		unsupported("%s of %s", name, t)
	}
	return b.computed(t, []expr{b.given(args[0], sqltype.Of(sqltype.Float))}, func(v []float64) float64 {
		if name == "DEGREES" {
			return v[0] * 180 / math.Pi
		}
		if r := v[0] * math.Pi / 180; math.Abs(r) >= 0x1p-1022 {
			return r
		}
		return 0 // Microsoft: RADIANS (Transact-SQL), whose example is of 1e-307
	})
}

// random is RAND without a seed, one value for a statement. What a seed gives is not documented.
func (b *binder) random(_ string, args []expr) expr {
	if len(args) > 0 {
		unsupported("RAND with a seed")
	}
	return constant(sqltype.Of(sqltype.Float), sqltype.FromFloat(rand.Float64()))
}

// isNumeric is ISNUMERIC (Microsoft: ISNUMERIC (Transact-SQL)): whether the value converts to one of the types of numbers.
func (b *binder) isNumeric(_ string, args []expr) expr {
	e := args[0]
	t := sqltype.Of(sqltype.Int)
	switch e.typ.Class() {
	case sqltype.ClassInt, sqltype.ClassDecimal, sqltype.ClassFloat:
		return expr{typ: t, konst: e.konst, eval: func(f *frame) sqltype.Value { return sqltype.FromBool(!e.eval(f).IsNull()) }}
	case sqltype.ClassString, sqltype.ClassNull:
	default:
		return constant(t, sqltype.FromInt(0))
	}
	return expr{typ: t, konst: e.konst, eval: func(f *frame) sqltype.Value {
		v := e.eval(f)
		if v.IsNull() || strings.Trim(v.Str(), " ") == "" {
			return sqltype.FromInt(0)
		}
		for _, to := range []sqltype.Type{sqltype.Of(sqltype.Float), sqltype.Of(sqltype.Money), sqltype.Dec(38, 0)} {
			if _, err := sqltype.Convert(v, e.typ, to, 0); err == nil {
				return sqltype.FromInt(1)
			}
		}
		return sqltype.FromInt(0)
	}}
}
