package tsql

import "math"

// twofold is a number as the sum of two floats, with about 30 digits. POWER and LOG10 are computed in it and rounded once: the functions
// of package math are off by the last digit now and then, which makes POWER(10, LOG10(5)) 4 where the type is int, and 5 is what a
// server gives (Microsoft: LOG10 (Transact-SQL), Examples).
type twofold struct{ hi, lo float64 }

var (
	ln2  = twofold{0.6931471805599453, 2.3190468138462996e-17}
	ln10 = twofold{2.302585092994046, -2.1707562233822494e-16}
)

func sum(a, b float64) twofold {
	s := a + b
	t := s - a
	return twofold{s, (a - (s - t)) + (b - t)}
}

func product(a, b float64) twofold {
	p := a * b
	return twofold{p, math.FMA(a, b, -p)}
}

func (a twofold) plus(b twofold) twofold {
	s, t := sum(a.hi, b.hi), sum(a.lo, b.lo)
	s = sum(s.hi, s.lo+t.hi)
	return sum(s.hi, s.lo+t.lo)
}

func (a twofold) times(b twofold) twofold {
	p := product(a.hi, b.hi)
	return sum(p.hi, p.lo+a.hi*b.lo+a.lo*b.hi)
}

func (a twofold) over(b twofold) twofold {
	q := a.hi / b.hi
	rest := a.plus(b.times(twofold{-q, 0}))
	return sum(q, rest.hi/b.hi)
}

func (a twofold) float() float64 { return a.hi + a.lo }

// naturalLog is that of a positive finite number: x is m times a power of 2, and ln m is twice the series of (m-1)/(m+1).
func naturalLog(x float64) twofold {
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, k = 2*m, k-1
	}
	s := twofold{m - 1, 0}.over(sum(m, 1))
	z := s.times(s)
	series := twofold{}
	for i := 45.0; i >= 1; i -= 2 {
		series = series.times(z).plus(twofold{1, 0}.over(twofold{i, 0}))
	}
	return series.times(s).times(twofold{2, 0}).plus(ln2.times(twofold{float64(k), 0}))
}

// exponential is e to the power of a number that is small enough for it.
func exponential(y twofold) float64 {
	k := math.Round(y.hi / ln2.hi)
	r := y.plus(ln2.times(twofold{-k, 0}))
	series := twofold{1, 0}
	for i := 27.0; i >= 1; i-- {
		series = series.times(r).over(twofold{i, 0}).plus(twofold{1, 0})
	}
	return math.Ldexp(series.float(), int(k))
}

// pow is x to the power of y.
func pow(x, y float64) float64 {
	about := math.Pow(x, y)
	if x <= 0 || y == 0 || x == 1 || about == 0 || math.IsInf(about, 0) || math.IsNaN(about) || math.IsInf(x, 0) {
		return about
	}
	return exponential(naturalLog(x).times(twofold{y, 0}))
}

func log10(x float64) float64 {
	if x <= 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return math.Log10(x)
	}
	return naturalLog(x).over(ln10).float()
}
