package dsl

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/nearest"
)

// translate reports what hcl found while it evaluated expr, in the words of
// this language and without a sensitive value.
func (s *scope) translate(expr hclsyntax.Expression, ctx *hcl.EvalContext, d *hcl.Diagnostic) {
	rng := expr.Range()
	if d.Subject != nil {
		rng = *d.Subject
	}
	at := s.at(rng)
	if extra, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](d); ok {
		s.translateCall(at, expr, ctx, d, extra)
		return
	}
	if d.Expression != nil && d.EvalContext != nil && s.translateStep(at, d) {
		return
	}
	detail := firstLine(d.Detail)
	if s.involvesSensitive(expr, ctx) {
		detail = "The reason is not shown, because a sensitive value goes into the expression."
	}
	if d.Summary == "Invalid template interpolation value" {
		detail = "Only text, numbers and bools can stand in a text; a reference or a list cannot."
	}
	s.ev.report.error(at, codeExprInvalid, strings.TrimSuffix(d.Summary, "."), detail)
}

func (s *scope) translateCall(at place, expr hclsyntax.Expression, ctx *hcl.EvalContext, d *hcl.Diagnostic, extra hclsyntax.FunctionCallDiagExtra) {
	name, cause := extra.CalledFunctionName(), extra.FunctionCallError()
	if unset, ok := errors.AsType[errEnvUnset](cause); ok {
		s.ev.report.error(at, codeEnvUnset, fmt.Sprintf("The environment variable %q is not set", unset.name),
			fmt.Sprintf("Set %s, or give the value another way.", unset.name))
		return
	}
	if file, ok := errors.AsType[errFile](cause); ok {
		summary := fmt.Sprintf("The file %q cannot be read: %v", file.path, file.cause)
		if missingFile(cause) {
			summary = fmt.Sprintf("There is no file %q", file.path)
		}
		s.ev.report.error(at, codeFileUnreadable, summary, "The path is relative to the folder of "+at.rng.Filename+".")
		return
	}
	detail := firstLine(d.Detail)
	switch {
	case s.involvesSensitive(expr, ctx):
		detail = "The reason is not shown, because a sensitive value goes into the call."
	case name == "try":
		detail = "None of its expressions has a value. Add a last one that always has, such as null."
	}
	s.ev.report.error(at, codeFuncFailed, fmt.Sprintf("The call of %s fails", name), detail)
}

// translateStep handles a step of a traversal that leads nowhere: an attribute
// or an index that the value lacks.
func (s *scope) translateStep(at place, d *hcl.Diagnostic) bool {
	var base cty.Value
	var steps hcl.Traversal
	var written string
	switch e := d.Expression.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		root, diags := e.Traversal[:1].TraverseAbs(d.EvalContext)
		if diags.HasErrors() {
			return false
		}
		base, steps, written = root, e.Traversal[1:], e.Traversal.RootName()
	case *hclsyntax.RelativeTraversalExpr:
		v, diags := e.Source.Value(d.EvalContext)
		if diags.HasErrors() {
			return false
		}
		base, steps, written = v, e.Traversal, s.ev.files.text(e.Source.Range())
	case *hclsyntax.IndexExpr:
		v, diags := e.Collection.Value(d.EvalContext)
		key, keyDiags := e.Key.Value(d.EvalContext)
		if diags.HasErrors() || keyDiags.HasErrors() {
			return false
		}
		base, steps, written = v, hcl.Traversal{hcl.TraverseIndex{Key: key, SrcRange: e.Range()}}, s.ev.files.text(e.Collection.Range())
	default:
		return false
	}
	for _, step := range steps {
		next, diags := hcl.Traversal{step}.TraverseRel(base)
		if !diags.HasErrors() {
			base, written = next, written+stepText(step)
			continue
		}
		s.reportStep(at, base, written, step)
		return true
	}
	return false
}

func (s *scope) reportStep(at place, base cty.Value, written string, step hcl.Traverser) {
	base, marks := base.Unmark()
	name, isName := "", true
	switch step := step.(type) {
	case hcl.TraverseAttr:
		name = step.Name
	case hcl.TraverseIndex:
		key, keyMarks := step.Key.Unmark()
		if _, secret := keyMarks[sensitive]; secret || key.IsNull() || !key.IsKnown() || key.Type() != cty.String {
			isName = false
		} else {
			name = key.AsString()
		}
	}
	_, secret := marks[sensitive]
	t := base.Type()
	switch {
	case base.IsNull():
		s.ev.report.error(at, codeExprInvalid, fmt.Sprintf("%s is null; nothing can be read from it", written), "Guard it: try(..., null).")
	case !isName || !(t.IsObjectType() || t.IsMapType()):
		if isCapsule(t) {
			s.ev.report.error(at, codeRefAttribute, fmt.Sprintf("%s is a reference; nothing can be read from it", written), fmt.Sprintf("Write %s alone.", written))
			return
		}
		summary := fmt.Sprintf("%s has no such element", written)
		if isName {
			summary = fmt.Sprintf("%s has no attribute %q", written, name)
		}
		s.ev.report.error(at, codeExprInvalid, summary, fmt.Sprintf("It is %s.", typeName(t)))
	default:
		names := elementNames(base)
		code, detail := codeExprInvalid, sentences("It has: "+diag.Listed(names)+".", nearest.DidYouMean(name, "", names))
		if len(names) == 0 {
			detail = "It is empty."
		}
		if secret {
			detail = "What it has is not shown, because it is sensitive."
		}
		summary := fmt.Sprintf("%s has no attribute %q", written, name)
		if refersToInstances(base) {
			code, summary = codeRefUnknown, fmt.Sprintf("%s has no instance %q", written, name)
		} else if s.each != nil && strings.HasPrefix(written, "each.value") {
			detail = sentences(fmt.Sprintf("In the row %q.", s.each.key), detail, fmt.Sprintf("For a row that may lack it: lookup(%s, %q, DEFAULT).", written, name))
		}
		s.ev.report.error(at, code, summary, detail)
	}
}

func elementNames(v cty.Value) []string {
	if !v.IsKnown() || v.IsNull() {
		return nil
	}
	if v.Type().IsObjectType() {
		return sortedKeys(v.Type().AttributeTypes())
	}
	return sortedKeys(v.AsValueMap())
}

func stepText(step hcl.Traverser) string {
	switch step := step.(type) {
	case hcl.TraverseAttr:
		return "." + step.Name
	case hcl.TraverseIndex:
		key, marks := step.Key.Unmark()
		if _, secret := marks[sensitive]; !secret && key.IsKnown() && !key.IsNull() && key.Type() == cty.String {
			return fmt.Sprintf("[%q]", key.AsString())
		}
	}
	return "[...]"
}

// involvesSensitive reports whether a sensitive value goes into expr. Then no
// text that hcl or a function made of the values may be shown.
func (s *scope) involvesSensitive(expr hclsyntax.Expression, ctx *hcl.EvalContext) bool {
	for _, t := range expr.Variables() {
		// The root is enough: a fault may lie in a step.
		v, diags := t[:min(2, len(t))].TraverseAbs(ctx)
		if diags.HasErrors() || isSensitive(v) {
			return true
		}
	}
	found := false
	_ = hclsyntax.VisitAll(expr, func(node hclsyntax.Node) hcl.Diagnostics {
		if call, ok := node.(*hclsyntax.FunctionCallExpr); ok && slices.Contains([]string{"env", "file", "sensitive"}, call.Name) {
			found = true
		}
		return nil
	})
	return found
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// text is what stands in a range, as the user wrote it.
func (f *Files) text(rng hcl.Range) string {
	for _, t := range f.texts {
		if t.Path == rng.Filename {
			return string(rng.SliceBytes(t.Content))
		}
	}
	return ""
}
