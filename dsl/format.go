package dsl

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/rogpeppe/go-internal/diff"

	"github.com/pipectl/pipectl/core/diag"
)

// Format returns the text in the one form that all configurations have:
// spaces and alignment, nothing else. Text that cannot be parsed is returned
// as it is, as far as its tokens can be told apart; use FormatFile to be told.
func Format(src []byte) []byte { return hclwrite.Format(src) }

// FormatFile formats a configuration file and reports its syntax errors; with
// an error it returns the text unchanged.
func FormatFile(filename string, src []byte) ([]byte, diag.List) {
	r := newReport()
	_, diags := hclsyntax.ParseConfig(src, filename, hcl.InitialPos)
	for _, d := range diags {
		r.add(syntaxDiagnostic(d))
	}
	if diags.HasErrors() {
		return src, r.sorted()
	}
	return Format(src), nil
}

// Diff is the unified difference between two texts of a file, empty when they
// are equal. "fmt -diff" prints it.
func Diff(filename string, before, after []byte) []byte {
	if bytes.Equal(before, after) {
		return nil
	}
	return diff.Diff(filename+" (before)", before, filename+" (after)", after)
}
