package mssql

import (
	"fmt"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// maxDigits is the precision of the widest decimal.
const maxDigits = 38

var pow10 = func() (p [20]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1] * 10
	}
	return p
}()

// parseDecimal reads plain notation ("-12.3400") exactly as a number of the
// given precision and scale. More fractional digits than the scale are an
// error unless they are zeros; nothing is rounded.
func parseDecimal[T ~string | ~[]byte](text T, precision, scale int32) (decimal128.Num, error) {
	fail := func(why string) (decimal128.Num, error) {
		// The value itself does not belong into a message.
		return decimal128.Num{}, fmt.Errorf("a value %s decimal(%d,%d)", why, precision, scale)
	}
	i, n := 0, len(text)
	negative := n > 0 && text[0] == '-'
	if negative || n > 0 && text[0] == '+' {
		i++
	}
	var hi, lo uint64
	var chunk uint64
	inChunk, digits, fraction := 0, int32(0), int32(-1)
	seen := false
	for ; i < n; i++ {
		c := text[i]
		if c == '.' && fraction < 0 {
			fraction = 0
			continue
		}
		if c < '0' || c > '9' {
			return fail("is no")
		}
		seen = true
		if fraction >= 0 {
			if fraction == scale {
				if c != '0' {
					return fail("has more fractional digits than")
				}
				continue
			}
			fraction++
		}
		if digits == 0 && c == '0' {
			continue
		}
		if digits++; digits > maxDigits {
			return fail("is too large for")
		}
		chunk = chunk*10 + uint64(c-'0')
		if inChunk++; inChunk == 19 {
			hi, lo = mulAdd(hi, lo, pow10[19], chunk)
			chunk, inChunk = 0, 0
		}
	}
	if !seen {
		return fail("is no")
	}
	// Leading zeros are not among the digits, so the number's size is known
	// without a division.
	missing := scale - max(fraction, 0)
	if digits > 0 && digits+missing > precision {
		return fail("is too large for")
	}
	if digits+missing <= 18 {
		small := int64(chunk * pow10[missing])
		if negative {
			small = -small
		}
		return decimal128.FromI64(small), nil
	}
	hi, lo = mulAdd(hi, lo, pow10[inChunk], chunk)
	for ; missing > 0 && digits > 0; missing -= min(missing, 19) {
		hi, lo = mulAdd(hi, lo, pow10[min(missing, 19)], 0)
	}
	num := decimal128.New(int64(hi), lo)
	if negative {
		num = num.Negate()
	}
	return num, nil
}

// mulAdd is (hi:lo)*m + a in 128 bits; callers bound the digits so that it
// does not overflow.
func mulAdd(hi, lo, m, a uint64) (uint64, uint64) {
	carry, low := bits.Mul64(lo, m)
	low, c := bits.Add64(low, a, 0)
	return hi*m + carry + c, low
}
