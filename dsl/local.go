package dsl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// evaluateLocals fills local. Locals may refer to each other in any order, so
// each is evaluated after those that it names.
func (ev *evaluator) evaluateLocals() {
	values := map[string]cty.Value{}
	var path []string
	var visit func(name string)
	visit = func(name string) {
		if _, done := values[name]; done {
			return
		}
		attr := ev.files.decl.locals[name]
		header := "locals"
		if i := slices.Index(path, name); i >= 0 {
			cycle := append(slices.Clone(path[i:]), name)
			ev.report.error(place{rng: attr.SrcRange, header: header}, codeRefCycle, "Locals refer to each other in a circle",
				strings.Join(prefixed("local.", cycle), " -> ")+". Write one of them without the others.")
			values[name] = cty.DynamicVal
			return
		}
		path = append(path, name)
		for _, t := range attr.Expr.Variables() {
			if t.RootName() != "local" {
				continue
			}
			if next := stepName(t); ev.files.decl.locals[next] != nil {
				visit(next)
			}
		}
		path = path[:len(path)-1]
		if _, done := values[name]; done {
			// It was part of a circle, which has been reported.
			return
		}
		ev.root.Variables["local"] = cty.ObjectVal(values)
		sc := &scope{ev: ev, rank: 0, subject: "A local", header: header}
		v, ok := sc.evaluate(attr.Expr)
		if !ok {
			v = cty.DynamicVal
		}
		values[name] = v
	}
	for _, name := range ev.files.decl.localOrder {
		visit(name)
	}
	ev.root.Variables["local"] = cty.ObjectVal(values)
}

func prefixed(prefix string, names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = fmt.Sprint(prefix, n)
	}
	return out
}
