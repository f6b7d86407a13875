package host

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"path"
	"path/filepath"
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

// shortWord is the length from which a word is looked for inside of others: a
// host "db" is no part of "dbo.orders".
const shortWord = 8

// mask replaces sensitive values in whatever plugins print.
type mask struct {
	mu       sync.Mutex
	values   map[string]bool // looked for anywhere
	words    map[string]bool // looked for as whole words
	replacer *strings.Replacer
	whole    *regexp.Regexp // nil without words
}

func newMask() *mask {
	return &mask{values: map[string]bool{}, words: map[string]bool{}, replacer: strings.NewReplacer()}
}

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
	m.build()
}

// addPlace makes a value sensitive that is no password but the name of a place
// or a user: with the forms in which file systems and servers print it, the
// folders it lies in, and where it is a short word, as a whole word only.
func (m *mask) addPlace(value string) {
	if value == "" {
		return
	}
	forms := []string{value}
	if u, err := url.Parse(value); err == nil && u.Scheme != "" && u.Host+u.Path != "" {
		forms = append(forms, u.Host, u.Hostname(), strings.TrimSuffix(u.Path, "/"))
		forms = append(forms, parents(u.Path)...)
	} else if strings.ContainsAny(value, `/\`) {
		cleaned := filepath.ToSlash(filepath.Clean(value))
		for strings.HasPrefix(cleaned, "../") {
			cleaned = strings.TrimPrefix(cleaned, "../")
		}
		paths := append(parents(cleaned), cleaned)
		if abs, err := filepath.Abs(value); err == nil {
			abs = filepath.ToSlash(abs)
			paths = append(append(paths, parents(abs)...), abs)
		}
		for _, p := range paths {
			forms = append(forms, p, filepath.FromSlash(p))
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, form := range forms {
		switch {
		case form == "", form == ".", form == "/":
		case len(form) < shortWord:
			m.words[form] = true
		default:
			m.values[form] = true
		}
	}
	m.build()
}

// parents are the folders that a path with slashes lies in, which an error may
// name without the rest. Folders that are no secret are not among them: those
// the working folder lies in, and short ones at the top, such as /home.
func parents(p string) []string {
	working, err := filepath.Abs(".")
	if err != nil {
		working = ""
	}
	working = filepath.ToSlash(working) + "/"
	var out []string
	for p = path.Dir(path.Clean(p)); p != "." && p != ".." && p != path.Dir(p) && !strings.HasSuffix(p, ":"); p = path.Dir(p) {
		top := path.Dir(p) == path.Dir(path.Dir(p)) && path.IsAbs(p)
		if strings.HasPrefix(working, p+"/") || top && len(path.Base(p)) < shortWord {
			break
		}
		out = append(out, p)
	}
	return out
}

// build makes what text works with.
func (m *mask) build() {
	longestFirst := func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) }
	// A replacer takes the first of its arguments that fits.
	var pairs []string
	for _, v := range slices.SortedFunc(maps.Keys(m.values), longestFirst) {
		pairs = append(pairs, v, masked)
	}
	m.replacer = strings.NewReplacer(pairs...)
	var words []string
	for _, w := range slices.SortedFunc(maps.Keys(m.words), longestFirst) {
		// Only the edge of a word has a boundary: "db", but not "./db".
		w = regexp.QuoteMeta(w)
		if wordEdge.MatchString(w) {
			w = `\b` + w
		}
		if wordEnd.MatchString(w) {
			w += `\b`
		}
		words = append(words, w)
	}
	if m.whole = nil; words != nil {
		m.whole = regexp.MustCompile(strings.Join(words, "|"))
	}
}

var wordEdge, wordEnd = regexp.MustCompile(`^\w`), regexp.MustCompile(`\w$`)

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
	r, whole := m.replacer, m.whole
	m.mu.Unlock()
	s = r.Replace(s)
	if whole != nil {
		s = whole.ReplaceAllString(s, masked)
	}
	return s
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
