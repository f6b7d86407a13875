package command

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/cmd/pipectl/internal/cli"
	"github.com/pipectl/pipectl/core/model"
)

// What carries a plan out has its choice of steps and its values: without them it
// would do more than was shown, or something else.
func TestTheCommandThatCarriesAPlanOut(t *testing.T) {
	t.Parallel()
	w := &workspace{config: &model.Config{Variables: map[string]cty.Value{"env": cty.StringVal("dev")}}}
	for want, args := range map[string][]string{
		"pipectl apply .":                                                   nil,
		"pipectl apply x.hcl":                                               {"-json", "-out", "p.plan", "-detailed-exitcode", "x.hcl"},
		"pipectl apply -target stream.a,silver.b x.hcl":                     {"-target", "stream.a", "-target", "silver.b", "x.hcl"},
		"pipectl apply -exclude 'stream.erp[\"eu\"]' 'my files'":            {"my files", "-exclude", "stream.erp[\"eu\"]"},
		"pipectl apply -var-file a.hcl -var-file 'b c' -var env=dev x.hcl":  {"-var", "env=dev", "-var-file", "a.hcl", "-var-file", "b c", "x.hcl"},
		"pipectl apply -var 'env=a b' -var secret=VALUE -target bronze.a .": {"-target", "bronze.a", "-var", "env=a b", "-var", "secret=Secret1!"},
	} {
		a, err := cli.ParsePlan(args)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.applyOf(a); got != want {
			t.Errorf("%q:\n%s, not\n%s", args, got, want)
		}
	}
}
