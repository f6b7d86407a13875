package sqltype

import (
	"slices"
	"strings"
	"testing"
)

func collated(name string, unicode bool) Type {
	t := Str(VarChar, 50)
	if unicode {
		t = Str(NVarChar, 50)
	}
	t.Collation = name
	return t
}

// What is equal, and what comes first where it is not (Microsoft: [MS-UCODEREF] Comparing UTF-16 Strings by Using Sort Keys, Windows
// Sorting Weight Table; Collation and Unicode support; Windows Collation Name (Transact-SQL); Handling Sorting in Your Applications).
// Signs between two texts: < > =. Two equal texts have equal keys, others have not.
func TestTextIsComparedByTheRulesOfItsCollation(t *testing.T) {
	t.Parallel()
	const ci, cs, ai = "Latin1_General_CI_AS", "Latin1_General_100_CS_AS", "Latin1_General_CI_AI"
	for _, tc := range []struct {
		collation string
		unicode   bool
		pairs     string // separated by commas
	}{
		{ci, true, "a=A,a<b,B>a,a<á,á<ab,e<é,é<è,è<ê,ê<ë,ë<f,é=É,z<ź,o<ø,ø<p,d<đ,đ<ð,ss=ß,ẞ>z,aß=aSS,ae=æ,AE=æ,æ<af,oe=œ,th=þ,Straße=STRASSE,Strasse<Straßf"},
		{ci, false, "ss=ß,ae=Æ,a<ä,ä<az,ñ<o,n<ñ,ç<d,ü<v,š<t,ž>z,y<ÿ,résumé>resume,resume<résumé,resumé<résumé,resumf>résumé"},
		{ci, true, "co-op>coop,co-op<cop,coop<co-op,c-oop<co-op,it's>its,it's<itt,a-=a-,a–>a-,-<a,a\x01>a"},
		{ci, true, "_<a,_<0,!<\",#<$,@<[,~<+,+<0,9<a,(<),*<+,{<|,|<},№>n,№>ñ,№<o,№<ŋ,№ 1<№ 2,™>ť,™<u,ⁿ>n,ⁿ<o,ˇ<˘,¿<ˇ,˘<˙,˛<˜,¥<₧,₧<€,∙<≤,≤<≥,≥<§,9<∞,∞<a,€<a,£<¥,%<&,.</,1<2,10<9,½>0"},
		{ci, true, "ａ=a,Ａ=a,ｶ=カ,か=カ,カ<キ,п<р,П=п,ё>е,ё<ж,й<к,ґ<д,ґ>г,і>и,і<к,Ω=ω,ά>α,ά<β,ς=σ,z<α,ω<а,中=中,中<丸"},
		{cs, true, "a<A,A<b,a<b,A<á,abc<ABC,abd>ABC,aB<Ab,á<Á,ß<SS,ß=ss,æ<AE,ａ=a,カ=カ"},
		{"Latin1_General_CS_AS_KS_WS", true, "か<カ,ａ>a,a<A"},
		{ai, true, "a=á,É=e,ñ=n,ø=o,ß=ss,å=A,đ=d,e=\u0065\u0301,п=П"},
		{"Latin1_General_100_CI_AS_SC_UTF8", false, "é=É,ß=ss,中<丸,co-op>coop"},
		{ci, true, "é=e\u0301,ä=a\u0308,e\u0301>e"},
		{DefaultCollation, true, "ß=ss,a=A,é>e,co-op>coop,co-op<cop"},
		{DefaultCollation, false, "ß>ss,a=A,é=É,e<é,é<f,co-op<coop,æ>z"},
		{"SQL_Latin1_General_CP1_CS_AS", false, "a<A,A<b"},
		{"Turkish_CI_AS", true, "i=İ,ı=I,i>I,ı<i,I<j,i<j,h<ı,a=A"},
		{"Turkish_100_CS_AS", true, "i<İ,ı<I,I<i"},
		{"Azeri_Latin_100_CI_AS", true, "i=İ,ı=I,i>I"},
		{"Turkish_CI_AI", true, "i=İ,ı=I,ı<i,ı>h"},
		{"Latin1_General_BIN2", false, "A<a,Z<a,š<À,€<À,a<ÿ,a=a "},
		{"Latin1_General_BIN2", true, "A<a,À<š,š<€,a<😀"},
		{"Latin1_General_100_BIN2_UTF8", false, "A<a,a>B,ss<ß"},
		{"Cyrillic_General_BIN", false, "А<Я,Я<а,Ё<А"},
		{"Latin1_General_BIN", true, "A<a,À<š,aš<aÀ,ab<aÀ,ā>a"}, // behind the first character the low byte comes first: 61, 00C0, 0161
	} {
		typ := collated(tc.collation, tc.unicode)
		for _, pair := range strings.Split(tc.pairs, ",") {
			at := strings.IndexAny(pair[1:], "<>=") + 1
			if pair == "+<0" || pair == "*<+" || pair == "~<+" {
				at = strings.IndexByte(pair, '<')
			}
			a, b, want := pair[:at], pair[at+1:], map[byte]int{'<': -1, '=': 0, '>': 1}[pair[at]]
			if got := CompareText(a, b, typ); got != want {
				t.Errorf("%s (Unicode %v): %q: %d, want %d", tc.collation, tc.unicode, pair, got, want)
			}
			if got := CompareText(b, a, typ); got != -want {
				t.Errorf("%s (Unicode %v): %q, the other way round: %d, want %d", tc.collation, tc.unicode, pair, got, -want)
			}
			if same := string(FromString(a).AppendKey(nil, typ)) == string(FromString(b).AppendKey(nil, typ)); same != (want == 0) {
				t.Errorf("%s (Unicode %v): %q: the keys are equal: %v", tc.collation, tc.unicode, pair, same)
			}
		}
	}
}

// An order is one: no three texts contradict each other.
func TestTheOrderOfTextIsTransitive(t *testing.T) {
	t.Parallel()
	words := []string{"", "a", "A", "á", "Á", "ab", "áb", "aß", "ass", "asS", "a-s", "as-", "-as", "a's", "æ", "ae", "AE", "aé", "b", "ß", "ss", "s", "st", "_", "1", "a1", "¹", "co-op", "coop", "CO-OP", "п", "Я", "中", "😀", "i", "İ", "ı", "I", "か", "カ", "ｶ", "a\u0301", "\x01"}
	for _, name := range []string{"Latin1_General_CI_AS", "Latin1_General_100_CS_AS_KS_WS", "Latin1_General_CI_AI", "Turkish_CI_AS", "Latin1_General_BIN", "Latin1_General_BIN2", DefaultCollation} {
		for _, unicode := range []bool{true, false} {
			typ := collated(name, unicode)
			sorted := slices.Clone(words)
			slices.SortFunc(sorted, func(a, b string) int { return CompareText(a, b, typ) })
			for i, a := range sorted {
				for _, b := range sorted[i:] {
					if CompareText(a, b, typ) > 0 {
						t.Errorf("%s (Unicode %v): %q is behind %q in order", name, unicode, b, a)
					}
				}
			}
		}
	}
}
