package dsl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// mark is the type of the marks that this package puts on values.
type mark string

// sensitive values are never written anywhere.
const sensitive mark = "sensitive"

// fileMark tells that a value came out of file(): when it lands in a sensitive
// argument, the text must not be saved with a plan.
type fileMark struct{ path string }

// Functions lists the names of all functions, sorted.
func Functions() []string {
	names := sortedKeys(pureFunctions())
	names = append(names, "env", "file")
	slices.Sort(names)
	return names
}

// pureFunctions are the functions whose results depend on their arguments
// only. None reads a clock, the network, or anything random: what a
// configuration means must not change between a plan and its apply.
func pureFunctions() map[string]function.Function {
	convertTo := stdlib.MakeToFunc
	return map[string]function.Function{
		// Text.
		"chomp": stdlib.ChompFunc, "format": stdlib.FormatFunc, "formatlist": stdlib.FormatListFunc, "indent": stdlib.IndentFunc,
		"join": stdlib.JoinFunc, "lower": stdlib.LowerFunc, "regex": stdlib.RegexFunc, "regexall": stdlib.RegexAllFunc,
		"regexreplace": stdlib.RegexReplaceFunc, "replace": stdlib.ReplaceFunc, "split": stdlib.SplitFunc, "strlen": stdlib.StrlenFunc,
		"substr": stdlib.SubstrFunc, "title": stdlib.TitleFunc, "trim": stdlib.TrimFunc, "trimprefix": stdlib.TrimPrefixFunc,
		"trimspace": stdlib.TrimSpaceFunc, "trimsuffix": stdlib.TrimSuffixFunc, "upper": stdlib.UpperFunc,
		"startswith": textTest("prefix", strings.HasPrefix), "endswith": textTest("suffix", strings.HasSuffix),
		"strcontains": textTest("part", strings.Contains),
		// Lists, sets and maps.
		"chunklist": stdlib.ChunklistFunc, "coalescelist": stdlib.CoalesceListFunc, "compact": stdlib.CompactFunc,
		"concat": stdlib.ConcatFunc, "contains": stdlib.ContainsFunc, "distinct": stdlib.DistinctFunc, "element": stdlib.ElementFunc,
		"flatten": stdlib.FlattenFunc, "index": stdlib.IndexFunc, "keys": stdlib.KeysFunc, "length": stdlib.LengthFunc,
		"lookup": lookupFunction, "merge": stdlib.MergeFunc, "range": stdlib.RangeFunc, "reverse": stdlib.ReverseListFunc,
		"setintersection": stdlib.SetIntersectionFunc, "setproduct": stdlib.SetProductFunc, "setsubtract": stdlib.SetSubtractFunc,
		"setunion": stdlib.SetUnionFunc, "slice": stdlib.SliceFunc, "sort": stdlib.SortFunc, "values": stdlib.ValuesFunc,
		"zipmap": stdlib.ZipmapFunc,
		// Numbers.
		"abs": stdlib.AbsoluteFunc, "ceil": stdlib.CeilFunc, "floor": stdlib.FloorFunc, "max": stdlib.MaxFunc, "min": stdlib.MinFunc,
		"parseint": stdlib.ParseIntFunc,
		// Types.
		"tobool": convertTo(cty.Bool), "tolist": convertTo(cty.List(cty.DynamicPseudoType)), "tomap": convertTo(cty.Map(cty.DynamicPseudoType)),
		"tonumber": convertTo(cty.Number), "toset": convertTo(cty.Set(cty.DynamicPseudoType)), "tostring": convertTo(cty.String),
		// Texts with a structure.
		"csvdecode": stdlib.CSVDecodeFunc, "jsondecode": stdlib.JSONDecodeFunc, "jsonencode": stdlib.JSONEncodeFunc,
		// Choices.
		"can": tryfunc.CanFunc, "coalesce": stdlib.CoalesceFunc, "try": tryfunc.TryFunc,
		"sensitive": sensitiveFunction,
	}
}

// textTest makes a function of two texts that answers yes or no.
func textTest(second string, test func(text, part string) bool) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "text", Type: cty.String}, {Name: second, Type: cty.String}},
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.BoolVal(test(args[0].AsString(), args[1].AsString())), nil
		},
	})
}

// sensitiveFunction marks a value. There is no way back: a value that may be
// shown is given with a variable.
var sensitiveFunction = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType, AllowUnknown: true, AllowNull: true, AllowMarked: true, AllowDynamicType: true}},
	Type:   func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		return args[0].Mark(sensitive), nil
	},
})

// errEnvUnset is the cause of a failed env().
type errEnvUnset struct{ name string }

func (e errEnvUnset) Error() string { return "the environment variable " + e.name + " is not set" }

// errFile is the cause of a failed file().
type errFile struct {
	path  string
	cause error
}

func (e errFile) Error() string {
	return fmt.Sprintf("the file %s cannot be read: %v", e.path, e.cause)
}
func (e errFile) Unwrap() error { return e.cause }

// envFunction reads the environment that the options give.
func (ev *evaluator) envFunction() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "name", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			name := args[0].AsString()
			text, ok := ev.files.opts.environ(name)
			if !ok {
				if ev.files.opts.Offline {
					return cty.UnknownVal(cty.String).RefineNotNull().Mark(sensitive), nil
				}
				return cty.NilVal, errEnvUnset{name}
			}
			ev.report.secret(text)
			return cty.StringVal(text).Mark(sensitive), nil
		},
	})
}

// largestFile bounds what file() reads: it is for small texts, and a saved
// plan holds them.
const largestFile = 1 << 20

// fileFunction reads texts relative to the folder.
func (ev *evaluator) fileFunction(folder string) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "path", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			path := args[0].AsString()
			if !filepath.IsAbs(path) {
				path = filepath.Join(folder, path)
			}
			content, err := ev.readFile(path)
			if err != nil {
				return cty.NilVal, errFile{args[0].AsString(), err}
			}
			return cty.StringVal(string(content)).Mark(fileMark{path}), nil
		},
	})
}

func (ev *evaluator) readFile(path string) ([]byte, error) {
	if content, ok := ev.read[path]; ok {
		return content, nil
	}
	content, ok := ev.files.saved[path]
	if !ok {
		info, err := os.Stat(path)
		if err != nil {
			return nil, reason(err)
		}
		if !info.Mode().IsRegular() {
			return nil, errors.New("it is no file")
		}
		if info.Size() > largestFile {
			return nil, fmt.Errorf("it has %d bytes, more than %d", info.Size(), largestFile)
		}
		if content, err = os.ReadFile(path); err != nil {
			return nil, reason(err)
		}
	}
	if !utf8.Valid(content) {
		return nil, errors.New("it holds no UTF-8 text")
	}
	ev.read[path] = content
	return content, nil
}

// missingFile reports whether a file() failed because there is no such file.
func missingFile(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// isSensitive reports whether any part of v is sensitive.
func isSensitive(v cty.Value) bool {
	if v == cty.NilVal {
		return false
	}
	_, marks := v.UnmarkDeep()
	_, ok := marks[sensitive]
	return ok
}

// plain takes all marks off: the value, whether any part was sensitive, and
// the files that it came from.
func plain(v cty.Value) (value cty.Value, secret bool, files []string) {
	value, marks := v.UnmarkDeep()
	for m := range marks {
		switch m := m.(type) {
		case mark:
			secret = true
		case fileMark:
			files = append(files, m.path)
		}
	}
	slices.Sort(files)
	return value, secret, files
}
