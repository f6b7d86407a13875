package dsl

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// EnvironmentPrefix stands before a variable's name in the environment.
const EnvironmentPrefix = "PIPECTL_VAR_"

// variable is a declared variable.
type variable struct {
	block     block
	typ       cty.Type
	typed     bool
	defaults  *typeexpr.Defaults
	sensitive bool
	fallback  *hclsyntax.Attribute
	// given is the expression that the value was written as, nil when it came
	// from the command line, the environment or a saved plan.
	given hclsyntax.Expression
	// broken variables have a faulty declaration; what refers to them is not
	// reported again.
	broken bool
}

// given is a value from outside.
type given struct {
	value cty.Value
	// text is set instead of value when the type decides how to read it.
	text   string
	isText bool
	// origin says in words where it was given: "-var".
	origin string
	at     place
	expr   hclsyntax.Expression
}

// evaluateVariables fills var.
func (ev *evaluator) evaluateVariables() {
	values := map[string]cty.Value{}
	variables := map[string]variable{}
	for _, name := range ev.files.decl.variableOrder {
		variables[name] = ev.declareVariable(ev.files.decl.variables[name])
	}
	ev.variables = variables
	outside := ev.givenVariables(variables)
	for _, name := range ev.files.decl.variableOrder {
		v, fresh := variables[name], outside[name]
		if ev.files.opts.Values != nil && !v.sensitive {
			planned(outside, name, ev.files.opts.Values)
		}
		values[name] = ev.variableValue(name, v, outside)
		if fresh.origin != "" && outside[name].origin != fresh.origin {
			ev.comparePlanned(name, v, fresh, values[name])
		}
	}
	ev.root.Variables["var"] = cty.ObjectVal(values)
	for _, name := range ev.files.decl.variableOrder {
		ev.validateVariable(name, variables[name], values[name])
	}
}

func (ev *evaluator) declareVariable(b block) variable {
	v := variable{block: b, typ: cty.DynamicPseudoType}
	before := len(ev.report.list)
	bt, _ := blockType("variable")
	ev.checkBody(bt, bodyView{own: b.Body}, nil, false, b.header(), b.address())
	attrs := b.Body.Attributes
	if a, ok := attrs["type"]; ok {
		t, defaults, diags := typeexpr.TypeConstraintWithDefaults(a.Expr)
		if diags.HasErrors() {
			ev.report.error(b.in(a.Expr.Range()), codeVarDeclaration, fmt.Sprintf("The type of variable %q is none", b.name),
				"Types are string, number, bool, any, list(T), set(T), map(T), tuple([T]), object({ NAME = T }), with optional(T, DEFAULT) inside objects.")
		} else {
			v.typ, v.defaults, v.typed = t, defaults, t != cty.DynamicPseudoType
		}
	}
	sc := ev.constantScope(b, "The declaration of a variable")
	if a, ok := attrs["sensitive"]; ok {
		if value, ok := sc.evaluate(a.Expr); ok {
			if value, err := convert.Convert(value, cty.Bool); err == nil && value.IsKnown() && !value.IsNull() && !value.IsMarked() {
				v.sensitive = value.True()
			} else {
				ev.report.error(b.in(a.Expr.Range()), codeVarDeclaration, "sensitive is true or false", "Write: sensitive = true")
			}
		}
	}
	v.fallback = attrs["default"]
	v.broken = len(ev.report.list) > before
	return v
}

// givenVariables collects the values from outside, the strongest last.
func (ev *evaluator) givenVariables(variables map[string]variable) map[string]given {
	opts := ev.files.opts
	out := map[string]given{}
	for name := range variables {
		if text, ok := opts.environ(EnvironmentPrefix + name); ok {
			out[name] = given{text: text, isText: true, origin: EnvironmentPrefix + name}
		}
	}
	for _, file := range opts.VarFiles {
		ev.readVariableFile(file, variables, out)
	}
	for _, arg := range opts.Vars {
		name, text, ok := strings.Cut(arg, "=")
		name = strings.TrimSpace(name)
		if !ok {
			ev.report.error(place{}, codeVarUndeclared, fmt.Sprintf("-var %s gives no value", name), "Write: -var NAME=VALUE")
			continue
		}
		if ev.variableDeclared(name, variables, "-var", place{}) {
			out[name] = given{text: text, isText: true, origin: "-var"}
		}
	}
	for _, name := range sortedKeys(opts.Values) {
		ev.variableDeclared(name, variables, "the saved plan", place{})
	}
	return out
}

// planned sets a variable to what a saved plan was made with: the value that it
// holds, else the default.
func planned(outside map[string]given, name string, values map[string]cty.Value) {
	delete(outside, name)
	if value, ok := values[name]; ok {
		outside[name] = given{value: value, origin: "the saved plan"}
	}
}

// comparePlanned refuses another value than the one that a saved plan was made
// with. The environment may hold what it wants: it is not of this command.
func (ev *evaluator) comparePlanned(name string, v variable, fresh given, value cty.Value) {
	if !value.IsKnown() || strings.HasPrefix(fresh.origin, EnvironmentPrefix) {
		return
	}
	if fresh.isText {
		var ok bool
		if fresh.value, ok = ev.parseVariable(name, v, fresh); !ok {
			return
		}
	}
	converted, ok := ev.convertVariable(name, v, fresh)
	if !ok || converted.RawEquals(value) {
		return
	}
	at := fresh.at
	if at.rng.Filename == "" {
		at = v.block.at()
	}
	ev.report.error(at, codeVarPlanned, fmt.Sprintf("The plan was made with another value of variable %q than %s gives", name, fresh.origin),
		"A saved plan is carried out with the values that it was made with. Leave this one out, or make a new plan with it. Sensitive variables, which no plan holds, are given again.")
}

func (ev *evaluator) variableDeclared(name string, variables map[string]variable, origin string, at place) bool {
	if _, ok := variables[name]; ok {
		return true
	}
	ev.report.error(at, codeVarUndeclared, fmt.Sprintf("No variable named %q, which %s gives a value", name, origin),
		declares(name, "", "variable", sortedKeys(variables)))
	return false
}

func (ev *evaluator) readVariableFile(path string, variables map[string]variable, out map[string]given) {
	content, err := os.ReadFile(path)
	if err != nil {
		ev.report.error(place{}, codeFileUnreadable, fmt.Sprintf("The variable file %s cannot be read: %v", path, reason(err)), "Check the path after -var-file.")
		return
	}
	ev.files.other[path] = content
	file, diags := hclsyntax.ParseConfig(content, path, hcl.InitialPos)
	if diags.HasErrors() {
		for _, d := range diags {
			ev.report.add(syntaxDiagnostic(d))
		}
		return
	}
	body := file.Body.(*hclsyntax.Body)
	if !ev.files.plausible(body) {
		return
	}
	for _, b := range body.Blocks {
		ev.report.error(place{rng: b.DefRange()}, codeBlockUnknown, fmt.Sprintf("Block %q cannot stand in a variable file", b.Type), "It holds lines NAME = VALUE.")
	}
	for _, name := range attributeOrder(body) {
		a := body.Attributes[name]
		if !ev.variableDeclared(name, variables, path, place{rng: a.SrcRange}) {
			continue
		}
		if variables[name].sensitive {
			ev.files.masked = append(ev.files.masked, a.Expr.Range())
		}
		v, diags := a.Expr.Value(nil)
		if diags.HasErrors() {
			ev.report.error(place{rng: a.Expr.Range()}, codeExprInvalid, fmt.Sprintf("The value of %q is not constant", name), "A variable file holds values only: no references, no functions.")
			continue
		}
		out[name] = given{value: v, origin: path, at: place{rng: a.SrcRange}, expr: a.Expr}
	}
}

// attributeOrder lists the attributes of a body in the order of the text.
func attributeOrder(body *hclsyntax.Body) []string {
	names := sortedKeys(body.Attributes)
	slices.SortFunc(names, func(a, b string) int {
		return body.Attributes[a].SrcRange.Start.Byte - body.Attributes[b].SrcRange.Start.Byte
	})
	return names
}

func (ev *evaluator) variableValue(name string, v variable, outside map[string]given) cty.Value {
	if v.broken {
		return cty.DynamicVal
	}
	g, isGiven := outside[name]
	switch {
	case isGiven:
		g.at.header = v.block.header()
		if g.at.rng.Filename == "" {
			g.at.rng = v.block.DefRange()
		}
		if g.isText {
			value, ok := ev.parseVariable(name, v, g)
			if !ok {
				return cty.DynamicVal
			}
			g.value = value
		}
	case v.fallback != nil:
		value, ok := ev.constantScope(v.block, "The default of a variable").evaluate(v.fallback.Expr)
		if !ok {
			return cty.DynamicVal
		}
		if v.sensitive && !value.IsNull() && !isSensitive(value) {
			ev.files.masked = append(ev.files.masked, v.fallback.Expr.Range())
			ev.warnLiteral(v.block.in(v.fallback.SrcRange), fmt.Sprintf("The default of the sensitive variable %q", name))
		}
		g = given{value: value, origin: "its default", at: v.block.in(v.fallback.SrcRange), expr: v.fallback.Expr}
	case v.sensitive && ev.files.opts.Offline:
		// As what env() would give. It can stand only where that can, in what a
		// plugin rules, so nothing that is declared depends on it.
		return cty.UnknownVal(v.typ).Mark(sensitive)
	default:
		ev.report.error(v.block.at(), codeVarMissing, fmt.Sprintf("Variable %q has no value", name),
			fmt.Sprintf("Give one with -var %s=VALUE, with -var-file FILE, or with %s%s.", name, EnvironmentPrefix, name))
		return cty.DynamicVal
	}
	v.given = g.expr
	ev.variables[name] = v
	value, ok := ev.convertVariable(name, v, g)
	if !ok {
		return cty.DynamicVal
	}
	if v.sensitive {
		ev.report.secretsOf(value)
		value = value.Mark(sensitive)
	} else if isGiven {
		ev.outside[name] = value
	}
	return value
}

// parseVariable reads a text from the command line or the environment: as it
// is for texts, as an expression for lists and maps.
func (ev *evaluator) parseVariable(name string, v variable, g given) (cty.Value, bool) {
	if v.typ.IsPrimitiveType() || (!v.typed && v.block.Body.Attributes["type"] == nil) {
		return cty.StringVal(g.text), true
	}
	if v.sensitive {
		ev.report.secret(g.text)
	}
	expr, diags := hclsyntax.ParseExpression([]byte(g.text), g.origin, hcl.InitialPos)
	if !diags.HasErrors() {
		var value cty.Value
		if value, diags = expr.Value(nil); !diags.HasErrors() {
			return value, true
		}
	}
	ev.report.error(g.at, codeVarType, fmt.Sprintf("The value that %s gives variable %q cannot be read", g.origin, name),
		`Lists and maps are written as in HCL: ["a", "b"] or { a = 1 }. Texts inside them need quotes.`)
	return cty.NilVal, false
}

func (ev *evaluator) convertVariable(name string, v variable, g given) (cty.Value, bool) {
	words := fmt.Sprintf("variable %q", name)
	value := g.value
	surplus := surplusOf(value, v.typ)
	for _, s := range surplus {
		at := g.at
		if g.expr != nil {
			if rng, ok := literalRange(g.expr, s.path); ok {
				at.rng = rng
			}
		}
		summary, detail := s.text(words)
		ev.report.error(at, codeRowAttribute, summary, detail)
	}
	if len(surplus) > 0 {
		return cty.NilVal, false
	}
	if v.defaults != nil {
		value = v.defaults.Apply(value)
	}
	converted, err := convert.Convert(value, v.typ)
	if err != nil {
		ev.report.error(g.at, codeVarType, fmt.Sprintf("The value of variable %q does not fit its type", name),
			fmt.Sprintf("Its type is %s: %s. The value comes from %s.", typeexpr.TypeString(v.typ), conversionFault(err), g.origin))
		return cty.NilVal, false
	}
	return converted, true
}

// conversionFault is what convert says, with the path where it says it. It
// names types and attributes, never values.
func conversionFault(err error) string {
	if pathErr, ok := err.(cty.PathError); ok && len(pathErr.Path) > 0 {
		return fmt.Sprintf("at %s, %v", pathText(pathErr.Path), err)
	}
	return err.Error()
}

func pathText(path cty.Path) string {
	var b strings.Builder
	for _, step := range path {
		switch step := step.(type) {
		case cty.GetAttrStep:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(step.Name)
		case cty.IndexStep:
			if step.Key.Type() == cty.String {
				fmt.Fprintf(&b, "[%q]", step.Key.AsString())
			} else {
				fmt.Fprintf(&b, "[%s]", step.Key.AsBigFloat().Text('f', -1))
			}
		}
	}
	return b.String()
}

// validateVariable evaluates the validation blocks of a variable that has a
// value.
func (ev *evaluator) validateVariable(name string, v variable, value cty.Value) {
	if v.broken || !value.IsWhollyKnown() {
		return
	}
	for _, nested := range v.block.Body.Blocks {
		if nested.Type != validationArguments.Name {
			continue
		}
		ev.checkBody(validationArguments, bodyView{own: nested.Body}, nil, true, v.block.header(), v.block.address())
		condition, message := nested.Body.Attributes["condition"], nested.Body.Attributes["error_message"]
		if condition == nil || message == nil {
			continue
		}
		sc := &scope{ev: ev, rank: 0, subject: "The validation of a variable", header: v.block.header(), self: map[string]cty.Value{name: value}}
		result, ok := sc.evaluate(condition.Expr)
		if !ok {
			continue
		}
		holds, _, _ := plain(result)
		holds, err := convert.Convert(holds, cty.Bool)
		if err != nil || holds.IsNull() {
			ev.report.error(v.block.in(condition.Expr.Range()), codeVarDeclaration, "A condition is true or false", "Write a comparison, or a function that answers with a bool: can(regex(...)).")
			continue
		}
		if !holds.IsKnown() || holds.True() {
			continue
		}
		text, ok := sc.evaluate(message.Expr)
		if !ok {
			continue
		}
		shown, secret, _ := plain(text)
		detail := "The message is not shown, because a sensitive value goes into it."
		if !secret {
			detail = textOf(shown)
		}
		ev.report.error(v.block.in(condition.Expr.Range()), codeVarInvalid, fmt.Sprintf("The value of variable %q is refused", name), detail)
	}
}

// textOf is a value as text, "" when it has none.
func textOf(v cty.Value) string {
	v, err := convert.Convert(v, cty.String)
	if err != nil || v.IsNull() || !v.IsKnown() {
		return ""
	}
	return v.AsString()
}
