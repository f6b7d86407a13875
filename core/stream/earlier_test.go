package stream_test

import (
	"slices"
	"strings"
	"testing"
)

// Commits are read in the order of the log, whatever times they have. Those of a
// period that was final before they came are told.
func TestCommitsBeforeTheVerdictAreTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		minutes []int // of the commits of the second batch
		told    int
	}{
		"after the verdict":        {[]int{64, 66}, 0},
		"a few seconds in a row":   {[]int{66, 65}, 0},
		"the first is before":      {[]int{45, 66}, 1},
		"the last is before":       {[]int{66, 45}, 1},
		"of the period's last end": {[]int{60, 61}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.create(t)
			w.insert(30, 1)
			w.insert(65, 2)
			verdict := w.mustRun(t).Verdict
			if verdict == nil {
				t.Fatal("no verdict")
			}
			for i, m := range c.minutes {
				w.insert(m, 10+i)
			}
			result := w.mustRun(t)
			if result.Verdict == nil || *result.Verdict != *verdict {
				t.Errorf("the verdict moved from %d to %v", *verdict, result.Verdict)
			}
			if n := w.warned("stream.earlier_commits"); n != c.told {
				t.Errorf("told %d times, want %d: %v", n, c.told, w.warnings)
			}
			if n := len(w.lake.Rows(bronze)); n != 4 {
				t.Errorf("bronze has %d rows, want 4: %v", n, w.lines(bronze))
			}
			recorded := slices.ContainsFunc(w.lines(facts), func(line string) bool { return strings.Contains(line, "before they came") })
			if recorded != (c.told > 0) {
				t.Errorf("facts: %v", w.lines(facts))
			}
		})
	}
}
