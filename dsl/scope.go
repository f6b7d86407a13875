package dsl

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/nearest"
)

// scope is what an expression may refer to, and where messages about it point.
type scope struct {
	ev *evaluator
	// rank is the number of kinds that may be referred to, from the front of
	// addr.Kinds; -1 forbids var and local as well, 0 allows only them.
	rank int
	// subject names the block in messages about direction: "a table".
	subject string
	header  string
	address addr.Address
	// each is the instance of a block with for_each, nil elsewhere.
	each *instance
	// self is the value of var.NAME inside the variable's own validation.
	self map[string]cty.Value
	ctxs map[string]*hcl.EvalContext
}

func (s *scope) at(rng hcl.Range) place { return place{rng: rng, header: s.header, address: s.address} }

// context returns the evaluation context for expressions of one file: file()
// is relative to the file that it stands in.
func (s *scope) context(filename string) *hcl.EvalContext {
	if ctx, ok := s.ctxs[filename]; ok {
		return ctx
	}
	ctx := s.ev.fileContext(filename).NewChild()
	ctx.Variables = map[string]cty.Value{}
	if s.each != nil {
		ctx.Variables["each"] = cty.ObjectVal(map[string]cty.Value{"key": cty.StringVal(s.each.key), "value": s.each.value})
	}
	if s.self != nil {
		ctx.Variables["var"] = cty.ObjectVal(s.self)
	}
	if s.ctxs == nil {
		s.ctxs = map[string]*hcl.EvalContext{}
	}
	s.ctxs[filename] = ctx
	return ctx
}

func (ev *evaluator) fileContext(filename string) *hcl.EvalContext {
	if ctx, ok := ev.fileCtx[filename]; ok {
		return ctx
	}
	ctx := ev.root.NewChild()
	ctx.Functions = map[string]function.Function{"file": ev.fileFunction(filepath.Dir(filename))}
	ev.fileCtx[filename] = ctx
	return ctx
}

// evaluate resolves the references of an expression and evaluates it. It
// reports every fault; ok is false when there was one, and the value is then
// of no use.
func (s *scope) evaluate(expr hclsyntax.Expression) (v cty.Value, ok bool) {
	if !s.resolve(expr) {
		return cty.DynamicVal, false
	}
	ctx := s.context(expr.Range().Filename)
	v, diags := expr.Value(ctx)
	if diags.HasErrors() {
		for _, d := range diags {
			if d.Severity == hcl.DiagError {
				s.translate(expr, ctx, d)
			}
		}
		return cty.DynamicVal, false
	}
	return v, true
}

// resolve checks what an expression names, before it is evaluated: the words
// of hcl about a wrong reference do not know the language.
func (s *scope) resolve(expr hclsyntax.Expression) bool {
	key := resolved{expr, s.each != nil, s.rank}
	if ok, known := s.ev.resolved[key]; known && ok {
		return true
	}
	ok := s.resolveFunctions(expr)
	for _, t := range expr.Variables() {
		ok = s.resolveTraversal(t) && ok
	}
	s.ev.resolved[key] = ok
	return ok
}

// resolved identifies a check of an expression that need not be repeated for
// every instance.
type resolved struct {
	expr hclsyntax.Expression
	each bool
	rank int
}

func (s *scope) resolveFunctions(expr hclsyntax.Expression) bool {
	ok := true
	// VisitAll's own diagnostics are not used: the callback reports.
	_ = hclsyntax.VisitAll(expr, func(node hclsyntax.Node) hcl.Diagnostics {
		call, is := node.(*hclsyntax.FunctionCallExpr)
		if !is || slices.Contains(s.ev.functionNames, call.Name) {
			return nil
		}
		ok = false
		if slices.Contains(laterFunctions, call.Name) {
			s.ev.report.error(s.at(call.NameRange), codeNotBuilt, fmt.Sprintf("The function %q is not built yet", call.Name),
				"The word is reserved for a later release. Secrets come from env(\"NAME\").")
			return nil
		}
		s.ev.report.error(s.at(call.NameRange), codeFuncUnknown, fmt.Sprintf("No function named %q", call.Name),
			sentences("The language page lists the functions.", nearest.DidYouMean(call.Name, "", s.ev.functionNames)))
		return nil
	})
	return ok
}

func (s *scope) resolveTraversal(t hcl.Traversal) bool {
	root, rng := t.RootName(), t.SourceRange()
	switch {
	case root == "each":
		return s.resolveEach(t)
	case root == "var":
		if s.self != nil {
			return s.resolveName(t, root, "variable", sortedKeys(s.self))
		}
		if s.rank < 0 {
			s.ev.report.error(s.at(rng), codeRefDirection, fmt.Sprintf("%s cannot refer to a variable", s.subject), "Write the value itself.")
			return false
		}
		return s.resolveName(t, root, "variable", s.ev.files.decl.variableOrder)
	case root == "local":
		if s.rank < 0 {
			s.ev.report.error(s.at(rng), codeRefDirection, fmt.Sprintf("%s cannot refer to a local", s.subject), "Write the value itself.")
			return false
		}
		return s.resolveName(t, root, "local", s.ev.files.decl.localOrder)
	case isKind(root):
		return s.resolveBlock(t, addr.Kind(root))
	}
	roots := []string{"var", "local", "each", "source", "sink", "table", "stream", "silver", "check"}
	if len(t) == 1 {
		s.ev.report.error(s.at(rng), codeRefUnknown, fmt.Sprintf("No value named %q", root),
			sentences(fmt.Sprintf("Text needs quotes: %q.", root), nearest.DidYouMean(root, "", roots)))
		return false
	}
	detail := "References begin with var, local, each, or a kind of block: source, sink, table, stream, silver, check."
	s.ev.report.error(s.at(rng), codeRefUnknown, fmt.Sprintf("No value named %q", root), sentences(detail, nearest.DidYouMean(root, "", roots)))
	return false
}

func (s *scope) resolveEach(t hcl.Traversal) bool {
	rng := t.SourceRange()
	if s.each == nil {
		s.ev.report.error(s.at(rng), codeRefEach, "each exists only in a block with for_each", "Add for_each to the block, or write the value itself.")
		return false
	}
	name := stepName(t)
	if name == "key" || name == "value" {
		return true
	}
	s.ev.report.error(s.at(rng), codeRefEach, fmt.Sprintf("each has no %q", name),
		sentences("It has each.key and each.value.", nearest.DidYouMean(name, "each.", []string{"key", "value"})))
	return false
}

// stepName is the second step of a traversal as a name, "" when there is none.
func stepName(t hcl.Traversal) string {
	if len(t) < 2 {
		return ""
	}
	return nameOf(t[1])
}

// nameOf is the name that a step of a traversal takes, "" when it is none.
func nameOf(step hcl.Traverser) string {
	switch step := step.(type) {
	case hcl.TraverseAttr:
		return step.Name
	case hcl.TraverseIndex:
		if step.Key.Type() == cty.String && step.Key.IsKnown() && !step.Key.IsNull() {
			return step.Key.AsString()
		}
	}
	return ""
}

func (s *scope) resolveName(t hcl.Traversal, root, noun string, names []string) bool {
	name := stepName(t)
	if name != "" && slices.Contains(names, name) {
		return true
	}
	at := s.at(t.SourceRange())
	if name == "" {
		s.ev.report.error(at, codeRefUnknown, fmt.Sprintf("%q alone is no value", root), fmt.Sprintf("Name one: %s.NAME.", root))
		return false
	}
	s.ev.report.error(at, codeRefUnknown, fmt.Sprintf("No %s named %q", noun, name), declares(name, root, noun, names))
	return false
}

// declares is the detail of a message about an unknown name.
func declares(name, root, noun string, names []string) string {
	if len(names) == 0 {
		return fmt.Sprintf("This configuration declares no %s.", noun)
	}
	if root != "" {
		root += "."
	}
	return sentences("This configuration declares: "+diag.Listed(names)+".", nearest.DidYouMean(name, root, names))
}

func (s *scope) resolveBlock(t hcl.Traversal, kind addr.Kind) bool {
	at := s.at(t.SourceRange())
	rank := slices.Index(addr.Kinds(), kind)
	if rank >= s.rank {
		s.ev.report.error(at, codeRefDirection, fmt.Sprintf("%s cannot refer to a %s", s.subject, kind),
			"References point back along variable, local, source and sink, table, stream, silver, check.")
		return false
	}
	names := s.ev.files.decl.names(kind)
	if !s.resolveName(t, string(kind), string(kind), names) {
		return false
	}
	if b := s.ev.files.decl.byName[kind][stepName(t)]; len(t) > 2 && !s.ev.keyed(b) {
		s.ev.report.error(at, codeRefAttribute, fmt.Sprintf("%s.%s is a reference; nothing can be read from it", kind, b.name),
			fmt.Sprintf("Write %s.%s alone.", kind, b.name))
		return false
	}
	return true
}
