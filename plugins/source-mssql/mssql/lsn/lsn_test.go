package lsn_test

import (
	"cmp"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/lsn"
)

func TestTextIsNormalised(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ in, want string }{
		{"0x0000002A000001F00003", "0x0000002A000001F00003"},
		{"0x0000002a000001f00003", "0x0000002A000001F00003"},
		{"0X0000002a000001f00003", "0x0000002A000001F00003"},
		{"0000002A000001F00003", "0x0000002A000001F00003"},
		{"  2A000001F00003\n", "0x0000002A000001F00003"},
		{"1", "0x00000000000000000001"},
		{"0", "0x00000000000000000000"},
		{"FFFFFFFFFFFFFFFFFFFF", "0xFFFFFFFFFFFFFFFFFFFF"},
	} {
		got, err := lsn.Parse(tc.in)
		if err != nil || got.String() != tc.want {
			t.Errorf("Parse(%q) = %s, %v, want %s", tc.in, got, err, tc.want)
		}
	}
}

func TestWhatIsNoLSNIsNamed(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"", " ", "0x", "latest", "0x0000002A000001F0000G", "0x00000002A000001F00003", "-1", "0x 1", "0x0x1"} {
		if got, err := lsn.Parse(in); err == nil || !strings.Contains(err.Error(), "no LSN") {
			t.Errorf("Parse(%q) = %s, %v", in, got, err)
		}
	}
	for _, n := range []int{0, 9, 11} {
		if _, err := lsn.FromBytes(make([]byte, n)); err == nil || !strings.Contains(err.Error(), "10 are expected") {
			t.Errorf("FromBytes of %d bytes: %v", n, err)
		}
	}
	for _, n := range []*big.Int{big.NewInt(-1), new(big.Int).Lsh(big.NewInt(1), 80)} {
		if _, err := lsn.FromInt(n); err == nil {
			t.Errorf("FromInt(%s) is accepted", n)
		}
	}
}

func TestTheEndsHaveNoNeighbour(t *testing.T) {
	t.Parallel()
	if _, err := (lsn.LSN{}).Prev(); err == nil {
		t.Error("zero has a predecessor")
	}
	last, _ := lsn.Parse("FFFFFFFFFFFFFFFFFFFF")
	if _, err := last.Next(); err == nil {
		t.Error("the greatest has a successor")
	}
}

func draw(t *rapid.T, name string) lsn.LSN {
	b := rapid.SliceOfN(rapid.Byte(), lsn.Size, lsn.Size).Draw(t, name)
	if rapid.Bool().Draw(t, name+" ends in ones or zeros") {
		fill := rapid.SampledFrom([]byte{0, 255}).Draw(t, name+" fill")
		for i := rapid.IntRange(0, lsn.Size-1).Draw(t, name+" from"); i < lsn.Size; i++ {
			b[i] = fill
		}
	}
	l, err := lsn.FromBytes(b)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestOrderOfTextsNumbersAndValuesAgree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, "a"), draw(t, "b")
		want := a.Int().Cmp(b.Int())
		if got := a.Compare(b); got != want {
			t.Fatalf("Compare(%s, %s) = %d, numbers say %d", a, b, got, want)
		}
		if got := cmp.Compare(a.String(), b.String()); got != want {
			t.Fatalf("texts of %s, %s compare %d, numbers say %d", a, b, got, want)
		}
		if a.Less(b) != (want < 0) || lsn.Max(a, b).Less(a) || lsn.Max(a, b).Less(b) {
			t.Fatalf("Less or Max of %s and %s is wrong", a, b)
		}
	})
}

func TestEveryFormReadsBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := draw(t, "l")
		text := l.String()
		for _, form := range []string{text, strings.ToLower(text), text[2:], "0x" + strings.TrimLeft(text[2:21], "0") + text[21:]} {
			if got, err := lsn.Parse(form); err != nil || got != l {
				t.Fatalf("Parse(%q) = %s, %v", form, got, err)
			}
		}
		if got, err := lsn.FromInt(l.Int()); err != nil || got != l {
			t.Fatalf("FromInt(%s) = %s, %v", l.Int(), got, err)
		}
	})
}

func TestNextAndPrevAreOneApart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := draw(t, "l")
		next, err := l.Next()
		if err != nil {
			return // the greatest; tested by name
		}
		if got := new(big.Int).Sub(next.Int(), l.Int()); got.Cmp(big.NewInt(1)) != 0 {
			t.Fatalf("%s and its next are %s apart", l, got)
		}
		if back, err := next.Prev(); err != nil || back != l {
			t.Fatalf("Prev(Next(%s)) = %s, %v", l, back, err)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("0x0000002A000001F00003")
	f.Add("g")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := lsn.Parse(text)
		if err != nil {
			return
		}
		if back, err := lsn.Parse(l.String()); err != nil || back != l || len(l.String()) != lsn.TextLen {
			t.Fatalf("%q reads as %s, which reads as %s, %v", text, l, back, err)
		}
	})
}
