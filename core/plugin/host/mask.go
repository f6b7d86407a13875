package host

import (
	"cmp"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/schema"
)

// masked stands where a sensitive value stood.
const masked = "(sensitive)"

// mask replaces sensitive values in whatever plugins print.
type mask struct {
	mu       sync.Mutex
	values   map[string]bool
	replacer *strings.Replacer
}

func newMask() *mask { return &mask{values: map[string]bool{}, replacer: strings.NewReplacer()} }

// passwordInText finds passwords inside connection strings.
var passwordInText = regexp.MustCompile(`(?i)(?:password|pwd|secret|accountkey|sharedaccesskey|token)\s*=\s*([^;&\s]+)`)

// add makes a text sensitive, with the forms in which drivers print it: as
// JSON, in a URL, and the passwords inside of it.
func (m *mask) add(secret string) {
	if secret == "" {
		return
	}
	forms := []string{secret, url.QueryEscape(secret), url.PathEscape(secret)}
	if quoted, err := json.Marshal(secret); err == nil {
		forms = append(forms, string(quoted[1:len(quoted)-1]))
	}
	if u, err := url.Parse(secret); err == nil && u.User != nil {
		if password, ok := u.User.Password(); ok {
			forms = append(forms, password, url.QueryEscape(password), url.PathEscape(password))
		}
	}
	for _, found := range passwordInText.FindAllStringSubmatch(secret, -1) {
		forms = append(forms, found[1])
	}
	// What is printed comes line by line; a line of a key is as secret as all
	// of it, a short one is no secret of its own.
	for line := range strings.Lines(secret) {
		if line = strings.TrimSpace(line); len(line) >= 8 {
			forms = append(forms, line)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, form := range forms {
		if form != "" {
			m.values[form] = true
		}
	}
	// The longest first: a replacer takes the first of its arguments that fits.
	list := make([]string, 0, len(m.values))
	for v := range m.values {
		list = append(list, v)
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	var pairs []string
	for _, v := range list {
		pairs = append(pairs, v, masked)
	}
	m.replacer = strings.NewReplacer(pairs...)
}

// addBody makes every sensitive string of a body's value sensitive.
func (m *mask) addBody(body schema.Body, v cty.Value) {
	if v == cty.NilVal || v.IsNull() || !v.IsKnown() || !v.Type().IsObjectType() {
		return
	}
	for _, a := range body.Attributes {
		if a.Sensitive && v.Type().HasAttribute(a.Name) {
			m.addStrings(v.GetAttr(a.Name))
		}
	}
	for _, block := range body.Blocks {
		if !v.Type().HasAttribute(block.Name) {
			continue
		}
		nested := v.GetAttr(block.Name)
		if !block.Repeated && !block.Labeled {
			m.addBody(block.Body, nested)
			continue
		}
		if nested.IsNull() || !nested.CanIterateElements() {
			continue
		}
		for _, one := range nested.Elements() {
			m.addBody(block.Body, one)
		}
	}
}

func (m *mask) addStrings(v cty.Value) {
	// The walk visits everything inside the argument; its errors are only ours.
	_ = cty.Walk(v, func(_ cty.Path, inner cty.Value) (bool, error) {
		if inner.Type() == cty.String && inner.IsKnown() && !inner.IsNull() {
			m.add(inner.AsString())
		}
		return true, nil
	})
}

// text returns s without sensitive values.
func (m *mask) text(s string) string {
	m.mu.Lock()
	r := m.replacer
	m.mu.Unlock()
	return r.Replace(s)
}

// diagnostics masks what people will read of diagnostics.
func (m *mask) diagnostics(list diag.List) diag.List {
	if list == nil {
		return nil
	}
	out := make(diag.List, len(list))
	for i, d := range list {
		d.Summary, d.Detail = m.text(d.Summary), m.text(d.Detail)
		if d.Data != nil {
			data := map[string]string{}
			for k, v := range d.Data {
				data[k] = m.text(v)
			}
			d.Data = data
		}
		out[i] = d
	}
	return out
}
