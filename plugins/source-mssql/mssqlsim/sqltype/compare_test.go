package sqltype

import (
	"cmp"
	"slices"
	"testing"
)

// Microsoft: Collation and Unicode support, Collation options: case-sensitive (_CS), accent-sensitive (_AS), binary.
func TestTextIsOrderedByLettersThenAccentsThenCase(t *testing.T) {
	t.Parallel()
	for collation, want := range map[string][]string{
		"Latin1_General_CI_AS": {"a", "b", "C", "cote", "coté", "côte", "D", "e", "é", "éa", "eb", "f", "ñ", "o"},
		"Latin1_General_CS_AS": {"a", "A", "é", "É", "f"},
		"Latin1_General_BIN2":  {"A", "C", "a", "f", "É", "é"},
		"Greek_CI_AS":          {"α", "ά", "β"},
		"Korean_Wansung_CI_AS": {"가", "가나", "각", "나"},
	} {
		typ := Str(NVarChar, 10)
		typ.Collation = collation
		for i, a := range want {
			for j, b := range want {
				if got := CompareText(a, b, typ); cmp.Compare(got, 0) != cmp.Compare(i, j) {
					t.Errorf("%s: %s against %s is %d", collation, a, b, got)
				}
			}
		}
	}
}

func TestTextThatIsEqual(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		collation, a, b string
		equal           bool
	}{
		{"Latin1_General_CI_AS", "É", "é", true}, {"Latin1_General_CI_AS", "e", "é", false}, {"Latin1_General_CS_AS", "É", "é", false},
		{"Latin1_General_CI_AI", "E", "é", true}, {"Latin1_General_CI_AI", "e", "f", false}, {"Chinese_PRC_CI_AI", "ñ", "N", true},
		{"Latin1_General_CS_AI", "e", "é", true}, {"Latin1_General_CS_AI", "E", "é", false}, {"Latin1_General_CI_AI_SC", "e", "é", true},
		{"Korean_Wansung_CI_AI", "가", "각", false}, {"Latin1_General_BIN2", "e", "E", false},
	} {
		typ := Str(NVarChar, 10)
		typ.Collation = tc.collation
		if got := CompareText(tc.a, tc.b, typ) == 0; got != tc.equal {
			t.Errorf("%s: %s and %s are equal: %v", tc.collation, tc.a, tc.b, got)
		}
		if got := slices.Equal(FromString(tc.a).AppendKey(nil, typ), FromString(tc.b).AppendKey(nil, typ)); got != tc.equal {
			t.Errorf("%s: the keys of %s and %s are equal: %v", tc.collation, tc.a, tc.b, got)
		}
	}
}
