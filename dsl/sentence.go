package dsl

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// sentences joins the parts that are not empty.
func sentences(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return strings.Join(parts, " ")
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}
