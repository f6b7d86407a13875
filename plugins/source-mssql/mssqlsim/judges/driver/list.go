package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// entry is a test that is known not to pass, or to skip itself.
type entry struct {
	test   string // TestName or TestName/subtest
	reason string
}

// parseList reads lines "TestName: reason"; empty ones and those that begin with # say nothing.
func parseList(text string) (known []entry, err error) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		test, reason, ok := strings.Cut(line, ": ")
		if !ok || !strings.HasPrefix(test, "Test") && !strings.HasPrefix(test, "Example") || strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("line %d is not \"TestName: reason\": %s", n, line)
		}
		if slices.ContainsFunc(known, func(e entry) bool { return e.test == test }) {
			return nil, fmt.Errorf("line %d names %s again", n, test)
		}
		known = append(known, entry{test, reason})
	}
	return known, nil
}

// reasonOf gives the reason of a listed test; a part of a test is listed under its own name.
func reasonOf(known []entry, test string) (reason string, listed bool) {
	for _, e := range known {
		if e.test == test {
			return e.reason, true
		}
	}
	return "", false
}

// pattern matches a test and nothing else, as -test.run and -test.skip read it.
func pattern(test string) string {
	parts := strings.Split(test, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}

// skipped is the pattern of all that are listed.
func skipped(known []entry) string {
	var all []string
	for _, e := range known {
		all = append(all, pattern(e.test))
	}
	return strings.Join(all, "|")
}
