// Package nearest finds what somebody meant who misspelt a name. It is apart from
// package diag so that plugins of others do not inherit what it imports.
package nearest

import (
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// Name returns the candidate nearest to a misspelt name, "" when none is
// near. A third of the letters may differ, at least one and never all. Letters
// in another order count half: the edit distance takes two steps for what
// fingers do in one.
func Name(name string, candidates []string) string {
	length := len([]rune(name))
	limit := min(max(1, (length+1)/3), length-1)
	best, bestDistance := "", limit+1
	for _, c := range candidates {
		a, b := strings.ToLower(name), strings.ToLower(c)
		d := levenshtein.Distance(a, b, nil)
		if slices.Equal(slices.Sorted(slices.Values([]rune(a))), slices.Sorted(slices.Values([]rune(b)))) {
			d = (d + 1) / 2
		}
		if d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// DidYouMean is the last sentence of a message about an unknown name, "" when
// nothing is near. The prefix stands before the suggestion.
func DidYouMean(name, prefix string, candidates []string) string {
	best := Name(name, candidates)
	if best == "" {
		return ""
	}
	return "Did you mean " + prefix + best + "?"
}
