package dsl

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// suggest returns the candidate nearest to name, "" when none is near. A third
// of the letters may differ, and at least one.
func suggest(name string, candidates []string) string {
	limit := max(1, (len([]rune(name))+1)/3)
	best, bestDistance := "", limit+1
	for _, c := range candidates {
		d := levenshtein.Distance(strings.ToLower(name), strings.ToLower(c), nil)
		if d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// didYouMean is the last sentence of a message about an unknown name, "" when
// nothing is near. The prefix stands before the suggestion.
func didYouMean(name, prefix string, candidates []string) string {
	best := suggest(name, candidates)
	if best == "" {
		return ""
	}
	return "Did you mean " + prefix + best + "?"
}

// listed joins names for a sentence; a long list is cut and says so.
func listed(names []string) string {
	const most = 12
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}

// sentences joins the parts that are not empty.
func sentences(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return strings.Join(parts, " ")
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}
