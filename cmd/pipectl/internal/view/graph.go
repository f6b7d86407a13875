package view

import (
	"fmt"

	"github.com/pipectl/pipectl/core/addr"
)

// Graph writes edges in the language of Graphviz, or as JSON.
func (s *Streams) Graph(edges [][2]addr.Address) error {
	if s.JSON {
		type edge struct {
			From string `json:"from"`
			To   string `json:"to"`
		}
		out := []edge{}
		for _, e := range edges {
			out = append(out, edge{e[0].String(), e[1].String()})
		}
		return s.WriteJSON(struct {
			Edges []edge `json:"edges"`
		}{out})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintln(s.answer(), "digraph pipectl {\n  rankdir = LR;")
	for _, e := range edges {
		fmt.Fprintf(s.answer(), "  %q -> %q;\n", e[0].String(), e[1].String())
	}
	fmt.Fprintln(s.answer(), "}")
	return nil
}
