package sqltype

import (
	"cmp"
	"math/rand/v2"
	"testing"
)

// sample are values of many types, close to each other, that a sql_variant can hold.
var sample = map[Type][]string{
	Of(Bit): {"0", "1"}, Of(TinyInt): {"0", "1", "255"}, Of(SmallInt): {"-1", "1"}, Of(Int): {"1", "2", "-2147483648"}, Of(BigInt): {"1", "9007199254740993"},
	Dec(9, 2): {"1", "1.5", "-0.01"}, Dec(38, 10): {"1.5", "9007199254740993.0000000001"}, Of(Money): {"1", "1.5", "-0.0001"}, Of(SmallMoney): {"1.5"},
	Of(Float): {"0", "-0", "1", "1.5", "1e300"}, Of(Real): {"1.5", "0.1"},
	Str(VarChar, 20): {"", "a", "A ", "b", "ss", "ß", "co-op", "coop", "é"}, Str(NVarChar, 20): {"a", "A", "ß", "co-op", "é"}, Str(Char, 3): {"a", "b"},
	{Kind: NVarChar, Len: 20, Collation: "Latin1_General_CS_AS"}: {"a", "A", "ss"}, {Kind: VarChar, Len: 20, Collation: "Greek_CI_AS"}: {"a", "A"}, {Kind: NVarChar, Len: 20, Collation: "Latin1_General_BIN2"}: {"a", "a "},
	Bin(VarBinary, 8): {"", "\x01", "\x01\x00", "\x02"}, Bin(Binary, 3): {"\x01"},
	Of(Date): {"1900-01-01", "2024-02-29"}, Of(DateTime): {"1900-01-01", "2024-02-29 10:00:00.003"}, Of(SmallDateTime): {"2024-02-29"}, {Kind: DateTime2, Scale: 7}: {"2024-02-29", "2024-02-29 10:00:00.0033333"},
	{Kind: Time, Scale: 7}: {"00:00", "10:00"}, {Kind: DateTimeOffset, Scale: 7}: {"2024-02-29 02:00 +02:00", "2024-02-29 00:00 +00:00"},
	Of(UniqueIdentifier): {"00000000-0000-0000-0000-010000000000", "FFFFFFFF-FFFF-FFFF-FFFF-000000000000"},
}

// sampled are the values of a sample as a type.
func sampled(t *testing.T, of Type, texts []string) []Value {
	t.Helper()
	var out []Value
	for _, s := range texts {
		v, from := FromString(s), Str(NVarChar, 100)
		if of.Class() == ClassBinary {
			v, from = FromBytes(s), Bin(VarBinary, 100)
		}
		w, err := Convert(v, from, of, 0)
		if err != nil {
			t.Fatalf("%q as %s: %v", s, of, err)
		}
		out = append(out, w)
	}
	return out
}

// ordered holds that Compare is one order of all values: each pair has one answer from both sides, a chain closes, and values are equal
// where their keys are, which groups, DISTINCT, joins and unique indexes go by.
func ordered(t *testing.T, of Type, vs []Value) {
	t.Helper()
	for _, a := range vs {
		for _, b := range vs {
			n := Compare(a, b, of)
			if m := Compare(b, a, of); cmp.Compare(n, 0) != -cmp.Compare(m, 0) {
				t.Fatalf("%s: %+v and %+v compare as %d, the other way as %d", of, a, b, n, m)
			}
			if same := string(a.AppendKey(nil, of)) == string(b.AppendKey(nil, of)); same != (n == 0) {
				t.Fatalf("%s: %+v and %+v compare as %d, their keys are equal: %v", of, a, b, n, same)
			}
			for _, c := range vs {
				if n <= 0 && Compare(b, c, of) <= 0 && Compare(a, c, of) > 0 {
					t.Fatalf("%s: %+v <= %+v <= %+v, but the first is not <= the last", of, a, b, c)
				}
			}
		}
	}
}

func TestComparisonIsOneOrderThatKeysAgreeWith(t *testing.T) {
	t.Parallel()
	all := []Value{{}}
	for of, texts := range sample {
		vs := sampled(t, of, texts)
		ordered(t, of, append(vs, Value{}))
		for _, v := range vs {
			w, err := Convert(v, of, Of(Variant), 0)
			if err != nil {
				t.Fatal(err)
			}
			if back, err := Convert(w, Of(Variant), of, 0); err != nil || Compare(back, v, of) != 0 || w.Base().String() != of.String() || w.Base().Collation != of.Collation {
				t.Errorf("%+v of %s comes back from a sql_variant as %+v of %s, %v", v, of, back, w.Base(), err)
			}
			all = append(all, w)
		}
	}
	ordered(t, Of(Variant), all)
}

// Texts at random over letters that have weights of their own.
func TestComparisonOfRandomTextIsOneOrder(t *testing.T) {
	t.Parallel()
	letters := []rune("aAbBéÉeEßs-' æÆ0١ ")
	r := rand.New(rand.NewPCG(1, 2))
	for _, of := range []Type{Str(VarChar, 20), Str(NVarChar, 20), {Kind: NVarChar, Len: 20, Collation: "Latin1_General_CI_AI"}, {Kind: VarChar, Len: 20, Collation: "Latin1_General_CS_AS"},
		{Kind: NVarChar, Len: 20, Collation: "Turkish_CI_AS"}, {Kind: NVarChar, Len: 20, Collation: "Latin1_General_BIN"}} {
		var vs []Value
		for range 60 {
			s := make([]rune, r.IntN(4))
			for i := range s {
				s[i] = letters[r.IntN(len(letters))]
			}
			vs = append(vs, FromString(string(s)))
		}
		ordered(t, of, vs)
	}
}
