package tsql

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// Whole powers of whole numbers are known exactly.
func TestPowersAreRoundedOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x, n := rapid.Int64Range(2, 1<<40).Draw(t, "x"), rapid.Int64Range(-20, 20).Draw(t, "n")
		exact := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(x), big.NewInt(max(n, -n)), nil))
		if n < 0 {
			exact.Inv(exact)
		}
		want, whole := exact.Float64()
		got := pow(float64(x), float64(n))
		if got != want && (whole || got != math.Nextafter(want, got)) { // what lies half way between two floats may be either
			t.Fatalf("%d to the power of %d is %v, want %v", x, n, got, want)
		}
		scaled := math.Pow10(int(n))
		if got := log10(scaled); got != float64(n) {
			t.Fatalf("the logarithm of %v is %v", scaled, got)
		}
	})
	for _, c := range []struct{ got, want float64 }{
		{log10(5), 0.6989700043360189}, {log10(2), 0.3010299956639812}, {pow(10, log10(5)), 5.000000000000001}, {pow(2, 0.5), math.Sqrt2}, {pow(0, 0), 1}, {pow(-2, 3), -8}, {pow(1e308, 2), math.Inf(1)},
	} {
		if c.got != c.want {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
}
