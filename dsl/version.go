package dsl

import (
	"fmt"
	"strconv"
	"strings"
)

// version is MAJOR.MINOR.PATCH with an optional -PRERELEASE.
type version struct {
	parts [3]int
	// given counts the parts that were written.
	given int
	pre   string
}

func parseVersion(text string) (version, error) {
	var v version
	core, pre, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(text), "v"), "-")
	core, _, _ = strings.Cut(core, "+")
	v.pre, _, _ = strings.Cut(pre, "+")
	fields := strings.Split(core, ".")
	if len(fields) > len(v.parts) {
		return v, fmt.Errorf("%q is no version", text)
	}
	for i, field := range fields {
		n, err := strconv.Atoi(field)
		if err != nil || n < 0 || field[0] == '+' {
			return v, fmt.Errorf("%q is no version", text)
		}
		v.parts[i] = n
	}
	v.given = len(fields)
	return v, nil
}

func (v version) compare(w version) int {
	for i := range v.parts {
		if d := v.parts[i] - w.parts[i]; d != 0 {
			return d
		}
	}
	switch {
	case v.pre == w.pre:
		return 0
	case v.pre == "":
		return 1
	case w.pre == "":
		return -1
	}
	return strings.Compare(v.pre, w.pre)
}

// VersionMatches reports whether a version ("1.2.3") meets a constraint:
// comma-separated terms of an operator (=, !=, >, >=, <, <=, ~>) and a
// version. ~> lets the last part that is written grow. An empty constraint is
// met by every version.
func VersionMatches(constraint, text string) (bool, error) {
	v, err := parseVersion(text)
	if err != nil {
		return false, err
	}
	terms, err := parseConstraint(constraint)
	if err != nil {
		return false, err
	}
	for _, t := range terms {
		if !t.meets(v) {
			return false, nil
		}
	}
	return true, nil
}

type versionTerm struct {
	op      string
	version version
}

func parseConstraint(text string) ([]versionTerm, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var terms []versionTerm
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		term := versionTerm{op: "="}
		for _, op := range []string{"!=", ">=", "<=", "~>", "=", ">", "<"} {
			if rest, ok := strings.CutPrefix(part, op); ok {
				term.op, part = op, rest
				break
			}
		}
		v, err := parseVersion(part)
		if err != nil {
			return nil, fmt.Errorf("constraint %q: %w", text, err)
		}
		term.version = v
		terms = append(terms, term)
	}
	return terms, nil
}

func (t versionTerm) meets(v version) bool {
	c := v.compare(t.version)
	switch t.op {
	case "!=":
		return c != 0
	case ">":
		return c > 0
	case ">=":
		return c >= 0
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case "~>":
		fixed := max(1, t.version.given-1)
		for i := range fixed {
			if v.parts[i] != t.version.parts[i] {
				return false
			}
		}
		return c >= 0
	}
	return c == 0
}
