package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestListOfTestsThatDoNotPass(t *testing.T) {
	t.Parallel()
	known, err := parseList("# why\n\nTestA: bulk copy\nTestB/of a part: types: geometry\n")
	if err != nil || len(known) != 2 || known[1] != (entry{"TestB/of a part", "types: geometry"}) {
		t.Errorf("%v, %v", known, err)
	}
	for text, want := range map[string]string{
		"TestA":              "is not",
		"TestA: ":            "is not",
		"helper: a reason":   "is not",
		"TestA: x\nTestA: y": "line 2 names TestA again",
	} {
		if _, err := parseList(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestTheListOfTheProjectIsOne(t *testing.T) {
	t.Parallel()
	var both string
	for _, file := range []string{"not-passing.txt", "skipped.txt"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		both += string(text)
		if _, err := parseList(string(text)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	if _, err := parseList(both); err != nil {
		t.Errorf("together: %v", err) // what is left out cannot skip itself
	}
}

func TestThePartOfATestIsListedUnderItsOwnName(t *testing.T) {
	t.Parallel()
	known := []entry{{"TestA", "a network"}, {"TestB/part", "Azure"}}
	for test, want := range map[string]string{"TestA": "a network", "TestB/part": "Azure", "TestA/part": "", "TestB": ""} {
		if reason, listed := reasonOf(known, test); reason != want || listed != (want != "") {
			t.Errorf("%s: %q, %t", test, reason, listed)
		}
	}
}

// Lines of the copy are changed where each is there once; a module that says it in another way is not passed over.
func TestLinesOfTheCopyAreChanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, adaptedFile)
	var were, are string
	for _, a := range adaptations {
		were, are = were+"a\n"+a.was+"b\n", are+"a\n"+a.is+"b\n"
	}
	for _, tc := range []struct{ text, want, err string }{
		{were, are, ""},
		{"another way\n", "another way\n", "has 0 lines"},
		{were + adaptations[1].was, were + adaptations[1].was, "has 2 lines"},
	} {
		if err := os.WriteFile(file, []byte(tc.text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := adapt(dir)
		if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%q: %v", tc.text, err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != tc.want {
			t.Errorf("%q: %q, %v", tc.text, got, err)
		}
	}
}

func TestTheCertificateOfAStrictServerIsLeftOut(t *testing.T) {
	t.Parallel()
	if got, ok := withoutCertificate("sqlserver://sa:x@h:1?encrypt=strict&certificate=a.pem"); !ok || got != "sqlserver://sa:x@h:1?TrustServerCertificate=true&encrypt=strict" {
		t.Errorf("%s, %t", got, ok)
	}
	for _, other := range []string{"sqlserver://sa:x@h:1?encrypt=true&certificate=a.pem", "sqlserver://sa:x@h:1?encrypt=strict", "://"} {
		if _, ok := withoutCertificate(other); ok {
			t.Errorf("%s", other)
		}
	}
}

func TestPatternsMatchAWholeNameAndNothingElse(t *testing.T) {
	t.Parallel()
	all := skipped([]entry{{test: "TestA"}, {test: "TestB/x(1)"}})
	if all != `^TestA$|^TestB$/^x\(1\)$` {
		t.Errorf("%s", all)
	}
	if regexp.MustCompile(pattern("TestA")).MatchString("TestAB") {
		t.Error("a longer name matches")
	}
}

func TestOutcomesAreThoseOfTheStream(t *testing.T) {
	t.Parallel()
	stream := `{"Action":"start"}
{"Action":"run","Test":"TestGood"}
{"Action":"run","Test":"TestGood/part"}
{"Action":"pass","Test":"TestGood/part"}
{"Action":"pass","Test":"TestGood"}
{"Action":"run","Test":"TestSkipped"}
{"Action":"output","Test":"TestSkipped","Output":"needs Azure\n"}
{"Action":"skip","Test":"TestSkipped"}
{"Action":"run","Test":"TestBad"}
{"Action":"run","Test":"TestBad/part"}
{"Action":"output","Test":"TestBad/part","Output":"want 1\n"}
{"Action":"fail","Test":"TestBad/part"}
{"Action":"run","Test":"TestBad/skipped"}
{"Action":"output","Test":"TestBad/skipped","Output":"needs more\n"}
{"Action":"skip","Test":"TestBad/skipped"}
{"Action":"fail","Test":"TestBad"}
{"Action":"run","Test":"TestThatPanicked"}
{"Action":"output","Test":"TestThatPanicked","Output":"panic: nil\n"}
{"Action":"fail"}
`
	got, err := read([]byte(stream))
	if err != nil {
		t.Fatal(err)
	}
	want := []outcome{{"TestGood", "pass", ""}, {"TestSkipped", "skip", "needs Azure\n"}, {"TestBad", "fail", ""}, {"TestBad/part", "fail", "want 1\n"}, {"TestBad/skipped", "skip", "needs more\n"}, {"TestThatPanicked", "fail", "panic: nil\n"}}
	if len(got) != len(want) {
		t.Fatalf("%v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%d: %v, want %v", i, got[i], want[i])
		}
	}
	if succeeded(got) || !succeeded(got[:2]) || succeeded(nil) {
		t.Error("what succeeded is not told from what failed")
	}
}
