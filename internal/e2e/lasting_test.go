package e2e

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

// A pattern is a piece of output that differs from run to run.
type pattern struct {
	re *regexp.Regexp
	to string
}

// patterns are tried in this order. Times are those of today: fixtures use
// years past, which stay.
var patterns = newPatterns(time.Now())

func newPatterns(now time.Time) []pattern {
	var days []string
	for d := -1; d <= 1; d++ {
		days = append(days, now.UTC().AddDate(0, 0, d).Format("2006-01-02"))
	}
	day := "(?:" + strings.Join(days, "|") + ")"
	list := []pattern{}
	add := func(re, to string) { list = append(list, pattern{regexp.MustCompile(re), to}) }
	add(`\b`+day+`[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?`, "(time)")
	add(`(?m)^\d\d:\d\d:\d\d `, "(time) ")
	add(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`, "(uuid)")
	add(`\b127\.0\.0\.1:\d+`, "(server)")
	add(`\(\d+\.\d s\)`, "(0.0 s)")
	add(`\b\d+ (s|min|h) (old|ahead|ago)\b`, "0 s $2")
	add(`\b(0x)?[0-9a-fA-F]{20}\b`, "(lsn)")
	add(`\b[0-9a-f]{8}:[0-9a-f]{8}:[0-9a-f]{4}\b`, "(lsn)")
	add(`\b[0-9a-f]{64}\b`, "(sha256)")
	add(`\bprocess \d+ on [^\s)]+`, "process 0 on host")
	add(`"(seconds|lag_seconds|rows_per_second|verdict_age_seconds|age_seconds|headroom_hours)":[0-9.e+-]+`, `"$1":0`)
	add(`\.store-[0-9a-f]{16}\.tmp`, "(temporary file)")
	add(`runs/\d{8}T\d{6}\.\d{3}Z-`, "runs/(time)-")
	add(`part-\d{5}-\S+?\.parquet`, "(data file)")
	return list
}

// progress matches the lines that a slow run writes and a fast one does not.
var progress = regexp.MustCompile(`(?m)^\{"type":"progress".*\n|(?m)^\d\d:\d\d:\d\d \S+: [a-z ]+(, batch \d+)?, [\d,]+ rows(, .*| of about .*)?\n`)

// padding is the room before the code of a message; it depends on the length
// of what stands before.
var padding = regexp.MustCompile(`(?m)^((?:Error|Warning): .*?) {2,}(\S+)$`)

// lasting gives output in the form that is the same in every run: without
// times, ids, places and rates.
func lasting(work, text string) string {
	text = progress.ReplaceAllString(text, "")
	text = strings.ReplaceAll(text, work, "$$WORK")
	text = strings.ReplaceAll(text, "$$WORK", "$WORK")
	for _, p := range patterns {
		text = p.re.ReplaceAllString(text, p.to)
	}
	return padding.ReplaceAllString(text, "$1  $2")
}

func TestLastingForm(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 0, 0, 10, 0, time.UTC)
	for _, c := range []struct{ name, in, out string }{
		{"times of today and yesterday", "at 2026-02-28 23:59:59.123, 2026-03-01T00:00:10Z", "at (time), (time)"},
		{"times of fixtures stay", "placed_at=2020-02-01T08:00:00.000", "placed_at=2020-02-01T08:00:00.000"},
		{"a duration", "done (12.3 s)", "done (0.0 s)"},
		{"an age", "oldest change kept is 68 h old", "oldest change kept is 0 s old"},
		{"a position", "position 0000002A000000180003 of", "position (lsn) of"},
		{"a server", "server 127.0.0.1:40000 is", "server (server) is"},
	} {
		got := c.in
		for _, p := range newPatterns(now) {
			got = p.re.ReplaceAllString(got, p.to)
		}
		if got != c.out {
			t.Errorf("%s: %q became %q, not %q", c.name, c.in, got, c.out)
		}
	}
	if got := lasting("/tmp/w", `{"type":"progress","rows":5}`+"\n22:00:00 stream.orders: reading, batch 3, 5,000 rows, 10 rows/s\n22:00:00 stream.orders: done, 5 rows of a snapshot\n"); got != "(time) stream.orders: done, 5 rows of a snapshot\n" {
		t.Errorf("progress lines: %q", got)
	}
}
