package cdc

import (
	"testing"

	"pgregory.net/rapid"
)

// LSNs are 80-bit numbers whose text orders as they do.
func TestLSNArithmetic(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var l LSN
		copy(l[:], rapid.SliceOfN(rapid.Byte(), 10, 10).Draw(t, "lsn"))
		n := rapid.Int64Range(0, 1<<40).Draw(t, "n")
		m := l.Add(n)
		if n > 0 && !l.Less(m) && m.String() != "0xFFFFFFFFFFFFFFFFFFFF" {
			t.Fatalf("%s + %d = %s", l, n, m)
		}
		if m.String() != "0xFFFFFFFFFFFFFFFFFFFF" && m.Add(-n) != l {
			t.Fatalf("%s + %d - %d = %s", l, n, n, m.Add(-n))
		}
		if l.Less(m) != (l.String() < m.String()) {
			t.Fatalf("%s and %s order otherwise as text", l, m)
		}
		back, err := ParseLSN(l.String())
		if err != nil || back != l {
			t.Fatalf("%s read back as %s: %v", l, back, err)
		}
	})
	if (LSN{}).Add(-1) != (LSN{}) {
		t.Error("the zero LSN has no predecessor")
	}
	for _, s := range []string{"", "0x", "0x12", "0x0000002A000001000001FF", "0xZZ00002A000001000001"} {
		if _, err := ParseLSN(s); err == nil {
			t.Errorf("%q was read", s)
		}
	}
}
