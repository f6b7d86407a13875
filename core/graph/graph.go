// Package graph is a directed acyclic graph and a bounded concurrent walk over
// it. It knows nothing of pipelines: nodes are comparable values and work is a
// function. The package may change at any time.
package graph

import (
	"fmt"
	"slices"
	"strings"
)

// Graph holds nodes and what each depends on. The zero value is not usable;
// a Graph is built by one goroutine and only read afterwards.
type Graph[K comparable] struct {
	nodes   []K // in the order in which they were added
	index   map[K]int
	needs   [][]int
	follows [][]int
}

// New returns an empty graph.
func New[K comparable]() *Graph[K] { return &Graph[K]{index: map[K]int{}} }

// Add adds a node; adding it again changes nothing.
func (g *Graph[K]) Add(node K) { g.add(node) }

func (g *Graph[K]) add(node K) int {
	if i, ok := g.index[node]; ok {
		return i
	}
	i := len(g.nodes)
	g.index[node] = i
	g.nodes = append(g.nodes, node)
	g.needs = append(g.needs, nil)
	g.follows = append(g.follows, nil)
	return i
}

// Connect says that node runs only after on has succeeded. Both are added when
// they are not there yet.
func (g *Graph[K]) Connect(node, on K) {
	n, o := g.add(node), g.add(on)
	if slices.Contains(g.needs[n], o) {
		return
	}
	g.needs[n] = append(g.needs[n], o)
	g.follows[o] = append(g.follows[o], n)
}

// Needs returns what the node directly depends on, in the order of Connect.
func (g *Graph[K]) Needs(node K) []K {
	i, ok := g.index[node]
	if !ok {
		return nil
	}
	out := make([]K, len(g.needs[i]))
	for j, n := range g.needs[i] {
		out[j] = g.nodes[n]
	}
	return out
}

// CycleError says that nodes depend on each other in a circle: each on the
// next, the last on the first.
type CycleError[K comparable] struct{ Nodes []K }

// Error names the circle.
func (e *CycleError[K]) Error() string {
	names := make([]string, 0, len(e.Nodes)+1)
	for _, n := range e.Nodes {
		names = append(names, fmt.Sprint(n))
	}
	return "dependencies go in a circle: " + strings.Join(append(names, names[0]), " -> ")
}

// Order returns the nodes so that each stands after what it depends on, and
// otherwise in the order in which they were added. A circle is a *CycleError.
func (g *Graph[K]) Order() ([]K, error) {
	waiting := make([]int, len(g.nodes))
	for i, needs := range g.needs {
		waiting[i] = len(needs)
	}
	out := make([]K, 0, len(g.nodes))
	done := make([]bool, len(g.nodes))
	for len(out) < len(g.nodes) {
		// The first node that is ready: quadratic, and graphs have at most a few
		// thousand nodes.
		next := slices.IndexFunc(waiting, func(n int) bool { return n == 0 })
		if next < 0 {
			return nil, &CycleError[K]{Nodes: g.cycle(done)}
		}
		waiting[next] = -1
		done[next] = true
		out = append(out, g.nodes[next])
		for _, f := range g.follows[next] {
			waiting[f]--
		}
	}
	return out, nil
}

// cycle follows the dependencies of nodes that are not done; each of them has
// one that is not done either, so the walk must come back to where it was.
func (g *Graph[K]) cycle(done []bool) []K {
	at := slices.Index(done, false)
	var path []int
	for !slices.Contains(path, at) {
		path = append(path, at)
		next := slices.IndexFunc(g.needs[at], func(n int) bool { return !done[n] })
		at = g.needs[at][next]
	}
	path = path[slices.Index(path, at):]
	out := make([]K, len(path))
	for i, n := range path {
		out[i] = g.nodes[n]
	}
	return out
}
