package dsl

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
)

// LockFileName is the file next to a configuration that pins third-party
// plugins. It is no part of the configuration.
const LockFileName = "pipectl.lock.hcl"

// Files is a configuration whose text has been read and parsed and whose
// expressions have not been evaluated.
type Files struct {
	path string
	opts Options
	// texts are the *.hcl files in the order of their names.
	texts  []model.File
	bodies []*hclsyntax.Body
	decl   *declarations
	report *report
	// other texts that messages point into: variable files.
	other map[string][]byte
	// saved holds what file() read when a plan was saved, nil otherwise.
	saved map[string][]byte
	// masked are the places of literal secrets.
	masked []hcl.Range

	plugins         []model.RequiredPlugin
	requiredVersion string
	draft           Draft
}

// Load reads and parses a file, or all *.hcl files of a folder, and
// understands the headers of their blocks.
//
// When a text cannot be read or parsed, *Files is nil. Otherwise it is usable
// even if there are errors, so that a caller can go on to Evaluate and report
// everything at once: Evaluate's diagnostics include those of Load.
func Load(path string, opts Options) (*Files, diag.List) {
	r := newReport()
	names, err := configurationFiles(path)
	if err != nil {
		r.error(place{}, codeFileUnreadable, fmt.Sprintf("The configuration %s cannot be read: %v", path, reason(err)),
			"Name a folder that holds *.hcl files, or one file.")
		return nil, r.sorted()
	}
	if len(names) == 0 {
		r.error(place{}, codeFileNone, fmt.Sprintf("The folder %s holds no *.hcl file", path), "Name another folder, or one file.")
		return nil, r.sorted()
	}
	var texts []model.File
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			r.error(place{}, codeFileUnreadable, fmt.Sprintf("The file %s cannot be read: %v", name, reason(err)), "Check that it exists and who may read it.")
			continue
		}
		texts = append(texts, model.File{Path: name, Content: content, Config: true})
	}
	return load(path, texts, nil, opts, r)
}

// Reload is Load over the texts of a saved plan (model.Config.Files) instead
// of the disk. What file() asks for comes from them too; only files that went
// into sensitive arguments were not saved and are read anew.
func Reload(path string, saved []model.File, opts Options) (*Files, diag.List) {
	var texts []model.File
	read := map[string][]byte{}
	for _, f := range saved {
		if f.Config {
			texts = append(texts, f)
		} else {
			read[f.Path] = f.Content
		}
	}
	r := newReport()
	if len(texts) == 0 {
		r.error(place{}, codeFileNone, "The saved plan holds no configuration", "Make the plan again: pipectl plan -out FILE")
		return nil, r.sorted()
	}
	return load(path, texts, read, opts, r)
}

func load(path string, texts []model.File, saved map[string][]byte, opts Options, r *report) (*Files, diag.List) {
	f := &Files{path: path, opts: opts, texts: texts, saved: saved, report: r, decl: newDeclarations(), other: map[string][]byte{}}
	slices.SortFunc(f.texts, func(a, b model.File) int { return cmp.Compare(a.Path, b.Path) })
	for _, text := range f.texts {
		file, diags := hclsyntax.ParseConfig(text.Content, text.Path, hcl.InitialPos)
		for i, d := range diags {
			// A quote that is missing makes every line after it wrong in the same way.
			if i == 0 || d.Summary != diags[i-1].Summary {
				r.add(syntaxDiagnostic(d))
			}
		}
		if diags.HasErrors() || !f.plausible(file.Body.(*hclsyntax.Body)) {
			continue
		}
		f.bodies = append(f.bodies, file.Body.(*hclsyntax.Body))
	}
	if r.list.HasErrors() {
		return nil, f.diagnostics()
	}
	for _, body := range f.bodies {
		f.decl.declare(body, r)
	}
	f.readPipectl()
	return f, f.diagnostics()
}

// largestExponent bounds the numbers that may be written, as a power of two.
// Far larger ones are legal HCL, and writing them out in decimals, as a message
// or a text would, takes hours.
const largestExponent = 1024

// plausible refuses numbers out of every reasonable range.
func (f *Files) plausible(body *hclsyntax.Body) bool {
	ok := true
	_ = hclsyntax.VisitAll(body, func(node hclsyntax.Node) hcl.Diagnostics {
		literal, is := node.(*hclsyntax.LiteralValueExpr)
		if !is || literal.Val.Type() != cty.Number || literal.Val.IsNull() || !literal.Val.IsKnown() {
			return nil
		}
		n := literal.Val.AsBigFloat()
		if e := n.MantExp(nil); n.IsInf() || e > largestExponent || e < -largestExponent {
			f.report.error(place{rng: literal.SrcRange}, codeExprInvalid, "The number is out of range", "Write one between 1e-300 and 1e300.")
			ok = false
		}
		return nil
	})
	return ok
}

// configurationFiles lists what belongs to the configuration at path.
func configurationFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		// Editors leave hidden files behind (.#shop.hcl).
		if e.IsDir() || filepath.Ext(e.Name()) != ".hcl" || e.Name() == LockFileName || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		names = append(names, filepath.Join(path, e.Name()))
	}
	return names, nil
}

// reason is the cause of a file error without the path, which the message
// already names.
func reason(err error) error {
	if pathErr, ok := errors.AsType[*os.PathError](err); ok {
		return pathErr.Err
	}
	return err
}

func (f *Files) diagnostics() diag.List { return f.report.sorted() }

// RequiredPlugins lists the entries of required_plugins, sorted by name.
func (f *Files) RequiredPlugins() []model.RequiredPlugin { return slices.Clone(f.plugins) }

// LockPath is where the lock file of the configuration stands.
func (f *Files) LockPath() string {
	return filepath.Join(filepath.Dir(f.texts[0].Path), LockFileName)
}

// syntaxDiagnostic carries what the parser found. Its summaries are short and
// its details say what was expected, so they are kept.
func syntaxDiagnostic(d *hcl.Diagnostic) diag.Diagnostic {
	out := diag.Diagnostic{Severity: diag.Error, Kind: diag.KindConfiguration, Code: codeSyntax,
		Summary: strings.TrimSuffix(d.Summary, "."), Detail: d.Detail}
	if d.Subject != nil {
		out.Subject = rangeOf(*d.Subject)
	}
	if d.Summary == "Attribute redefined" {
		out.Code = codeArgumentTwice
		out.Summary = "An argument is written twice in one block"
	}
	return out
}

// Excerpt returns the line of text that a range begins in, without its line
// end, for messages; "" when the range lies in no text that was read. Secrets
// that stand in the text are left out.
func (f *Files) Excerpt(r diag.Range) string {
	content, ok := f.other[r.Filename]
	for _, t := range f.texts {
		if t.Path == r.Filename {
			content, ok = t.Content, true
		}
	}
	if !ok {
		return ""
	}
	return excerpt(content, r, f.masked)
}

// Excerpt is Files.Excerpt for texts that could not be parsed: the line of
// content that r begins in, without what looks like a secret.
func Excerpt(content []byte, r diag.Range) string { return excerpt(content, r, nil) }

func excerpt(content []byte, r diag.Range, masked []hcl.Range) string {
	begin := min(max(r.Start.Byte, 0), len(content))
	if r.Start.Line < 1 {
		return ""
	}
	for begin > 0 && content[begin-1] != '\n' {
		begin--
	}
	end := begin
	for end < len(content) && content[end] != '\n' {
		end++
	}
	var b strings.Builder
	at := begin
	masked = slices.Clone(masked)
	slices.SortFunc(masked, func(a, b hcl.Range) int { return cmp.Compare(a.Start.Byte, b.Start.Byte) })
	for _, m := range masked {
		if m.Filename != r.Filename || m.End.Byte <= at || m.Start.Byte >= end {
			continue
		}
		b.Write(content[at:max(at, m.Start.Byte)])
		b.WriteString("(sensitive)")
		at = min(end, m.End.Byte)
	}
	b.Write(content[at:end])
	return secretLiteral.ReplaceAllString(strings.TrimRight(b.String(), "\r"), `${1}"(sensitive)"`)
}

// secretLiteral finds literals in arguments whose names promise a secret. It
// stands in where the schema that knows better could not be asked.
var secretLiteral = regexp.MustCompile(`(?i)(\b\w*(?:password|passwd|secret|token|credential|private_key|access_key|account_key|connection_string|\burl)\w*\s*=\s*)"(?:[^"\\]|\\.)*"?`)
