package reconcile

import (
	"math/rand/v2"
	"strings"
	"unicode"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/schema"
)

// Names of the arguments of a check block.
const (
	argBucketRows = "bucket_rows"
	argSample     = "sample"
	argSampleSeed = "sample_seed"
	argReport     = "report"
)

const (
	defaultBucketRows = 1_000_000
	defaultSample     = 0.01
)

var body = schema.Body{
	Description: "How finely silver is compared with its source.",
	Attributes: []schema.Attribute{
		{Name: argBucketRows, Type: cty.Number, Default: cty.NumberIntVal(defaultBucketRows),
			Description: "Rows per bucket: the unit that is counted, and compared row by row when its counts differ."},
		{Name: argSample, Type: cty.Number, Default: cty.NumberFloatVal(defaultSample),
			Description: "Share, 0 to 1, of the buckets with equal counts whose rows are compared too. 0 compares none, 1 all."},
		{Name: argSampleSeed, Type: cty.Number,
			Description: "Seed of the random choice, to repeat it. Left out, every run chooses anew."},
		{Name: argReport, Type: cty.String,
			Description: "Table that each run's buckets and findings are appended to: \"ops.reconcile\". Left out, none is written."},
	},
}

// settings is the body of a check block.
type settings struct {
	// bucketRows is at least 1, sample within 0..1.
	bucketRows int64
	sample     float64
	// seed repeats a choice; nil = a new one each run.
	seed *int64
	// report is a dotted table name, "" = none.
	report string
}

// parseSettings reads a body. Values that are not known yet are taken for
// their defaults.
func parseSettings(v cty.Value) (settings, diag.List) {
	s := settings{bucketRows: defaultBucketRows, sample: defaultSample}
	var faults diag.List
	fault := func(name, code, detail, summary string, args ...any) {
		faults = append(faults, diag.Errorf(diag.KindConfiguration, code, detail, summary, args...).At(name))
	}
	if n, ok := argument(v, argBucketRows, cty.Number); ok {
		rows, exact := n.AsBigFloat().Int64()
		if s.bucketRows = rows; exact != 0 || rows < 1 {
			fault(argBucketRows, "reconcile.bucket_rows", "Write a whole number of at least 1.", "A bucket cannot hold %s rows", n.AsBigFloat().Text('g', 10))
		}
	}
	if n, ok := argument(v, argSample, cty.Number); ok {
		if s.sample, _ = n.AsBigFloat().Float64(); s.sample < 0 || s.sample > 1 {
			fault(argSample, "reconcile.sample", "Write a share between 0 (no rows) and 1 (all rows); one percent is 0.01.", "A sample cannot be %s of the buckets", n.AsBigFloat().Text('g', 10))
		}
	}
	if n, ok := argument(v, argSampleSeed, cty.Number); ok {
		seed, exact := n.AsBigFloat().Int64()
		if s.seed = &seed; exact != 0 {
			fault(argSampleSeed, "reconcile.sample_seed", "Write a whole number of at most 18 digits.", "%s cannot be a seed", n.AsBigFloat().Text('g', 10))
		}
	}
	if t, ok := argument(v, argReport, cty.String); ok {
		if s.report = t.AsString(); !dotted(s.report) {
			fault(argReport, "reconcile.report", `A table name is words with dots between them, such as "ops.reconcile", without slashes.`, "%q is no table name", s.report)
		}
	}
	return s, faults
}

// argument returns the value of an argument that was written and is known.
func argument(v cty.Value, name string, want cty.Type) (cty.Value, bool) {
	if v == cty.NilVal || v.IsNull() || !v.IsKnown() || !v.Type().IsObjectType() || !v.Type().HasAttribute(name) {
		return cty.NilVal, false
	}
	a := v.GetAttr(name)
	if !a.IsKnown() || a.IsNull() || !a.Type().Equals(want) {
		return cty.NilVal, false
	}
	return a, true
}

func dotted(name string) bool {
	for part := range strings.SplitSeq(name, ".") {
		bad := strings.IndexFunc(part, func(r rune) bool { return unicode.IsControl(r) || strings.ContainsRune(`/\:`, r) })
		if part == "" || bad >= 0 || strings.TrimSpace(part) != part {
			return false
		}
	}
	return true
}

// chooser returns the source of random choices of one run.
func (s settings) chooser() *rand.Rand {
	if s.seed == nil {
		return rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	return rand.New(rand.NewPCG(uint64(*s.seed), 0))
}
