package main

import (
	"os"
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
	text, err := os.ReadFile("not-passing.txt")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parseList(string(text)); err != nil {
		t.Error(err)
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
{"Action":"fail","Test":"TestBad"}
{"Action":"run","Test":"TestThatPanicked"}
{"Action":"output","Test":"TestThatPanicked","Output":"panic: nil\n"}
{"Action":"fail"}
`
	got, err := read([]byte(stream))
	if err != nil {
		t.Fatal(err)
	}
	want := []outcome{{"TestGood", "pass", ""}, {"TestSkipped", "skip", "needs Azure\n"}, {"TestBad", "fail", ""}, {"TestBad/part", "fail", "want 1\n"}, {"TestThatPanicked", "fail", "panic: nil\n"}}
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
