package dsl

import (
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
)

// Lock is the content of pipectl.lock.hcl: which files a third-party plugin
// may be. Bundled plugins are part of the binary and are not locked.
type Lock struct {
	Plugins []LockedPlugin
}

// LockedPlugin pins one plugin.
type LockedPlugin struct {
	// Name is the plugin's name in required_plugins.
	Name string
	// Source is the path as required_plugins gives it.
	Source string
	// SHA256 are the digests of the files that may be run, in lower-case hex:
	// one per platform that the team uses.
	SHA256 []string
}

// Plugin returns the entry of a name.
func (l *Lock) Plugin(name string) (LockedPlugin, bool) {
	for _, p := range l.Plugins {
		if p.Name == name {
			return p, true
		}
	}
	return LockedPlugin{}, false
}

// Allows reports whether a file with the digest may be run as the plugin.
func (p LockedPlugin) Allows(sha256 string) bool {
	return slices.Contains(p.SHA256, strings.ToLower(sha256))
}

// ReadLock reads a lock file. A file that does not exist is an empty lock.
func ReadLock(path string) (*Lock, diag.List) {
	r := newReport()
	content, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return &Lock{}, nil
	}
	if err != nil {
		r.error(place{}, codeFileUnreadable, fmt.Sprintf("The lock file %s cannot be read: %v", path, reason(err)), "Check who may read it.")
		return nil, r.sorted()
	}
	return ParseLock(path, content)
}

// ParseLock reads the text of a lock file.
func ParseLock(filename string, content []byte) (*Lock, diag.List) {
	r := newReport()
	file, diags := hclsyntax.ParseConfig(content, filename, hcl.InitialPos)
	for _, d := range diags {
		r.add(syntaxDiagnostic(d))
	}
	if diags.HasErrors() {
		return nil, r.sorted()
	}
	const remedy = "The file is written by: pipectl plugins lock"
	lock := &Lock{}
	body := file.Body.(*hclsyntax.Body)
	for _, a := range body.Attributes {
		r.error(place{rng: a.SrcRange}, codeLockInvalid, fmt.Sprintf("Argument %q has no place in a lock file", a.Name), remedy)
	}
	for _, b := range body.Blocks {
		if b.Type != "plugin" || len(b.Labels) != 1 {
			r.error(place{rng: b.DefRange()}, codeLockInvalid, `A lock file holds blocks plugin "NAME" only`, remedy)
			continue
		}
		lockedBlock(r, lock, b, remedy)
	}
	if r.list.HasErrors() {
		return nil, r.sorted()
	}
	return lock, nil
}

func lockedBlock(r *report, lock *Lock, b *hclsyntax.Block, remedy string) {
	p := LockedPlugin{Name: b.Labels[0]}
	at := func(rng hcl.Range) place { return place{rng: rng, header: fmt.Sprintf("plugin %q", p.Name)} }
	if _, ok := lock.Plugin(p.Name); ok {
		r.error(at(b.DefRange()), codeLockInvalid, fmt.Sprintf("Plugin %q is locked twice", p.Name), remedy)
		return
	}
	for _, nested := range b.Body.Blocks {
		r.error(at(nested.DefRange()), codeLockInvalid, fmt.Sprintf("Block %q has no place in a lock file", nested.Type), remedy)
	}
	for _, name := range attributeOrder(b.Body) {
		a := b.Body.Attributes[name]
		v, diags := a.Expr.Value(nil)
		ok := !diags.HasErrors() && !v.IsNull()
		switch {
		case ok && name == "source" && v.Type() == cty.String:
			p.Source = v.AsString()
		case ok && name == "sha256":
			p.SHA256, ok = constantTexts(v)
			for _, digest := range p.SHA256 {
				ok = ok && validDigest(digest)
			}
			if !ok {
				r.error(at(a.SrcRange), codeLockInvalid, "sha256 is no list of digests", "A digest is 64 digits of lower-case hexadecimal. "+remedy)
			}
		default:
			r.error(at(a.SrcRange), codeLockInvalid, fmt.Sprintf("%q is not understood here", name), remedy)
		}
	}
	if p.Source == "" || len(p.SHA256) == 0 {
		r.error(at(b.DefRange()), codeLockInvalid, fmt.Sprintf("The lock of plugin %q lacks source or sha256", p.Name), remedy)
		return
	}
	lock.Plugins = append(lock.Plugins, p)
}

func validDigest(text string) bool {
	raw, err := hex.DecodeString(text)
	return err == nil && len(raw) == 32 && text == strings.ToLower(text)
}

// Text is the text of the lock file: sorted, so that it differs only where a
// plugin does.
func (l *Lock) Text() []byte {
	file := hclwrite.NewEmptyFile()
	body := file.Body()
	body.AppendUnstructuredTokens(hclwrite.Tokens{{Type: hclsyntax.TokenComment,
		Bytes: []byte("# Which files the plugins of this configuration may be. Written by: pipectl plugins lock\n")}})
	plugins := slices.Clone(l.Plugins)
	slices.SortFunc(plugins, func(a, b LockedPlugin) int { return strings.Compare(a.Name, b.Name) })
	for _, p := range plugins {
		body.AppendNewline()
		block := body.AppendNewBlock("plugin", []string{p.Name}).Body()
		block.SetAttributeValue("source", cty.StringVal(p.Source))
		digests := []cty.Value{}
		for _, d := range slices.Sorted(slices.Values(p.SHA256)) {
			digests = append(digests, cty.StringVal(d))
		}
		block.SetAttributeValue("sha256", cty.TupleVal(digests))
	}
	return hclwrite.Format(file.Bytes())
}
