package dsl

import "github.com/zclconf/go-cty/cty"

// Options are the values that come into a configuration from outside.
type Options struct {
	// Vars are -var arguments, NAME=VALUE, in the order given; a later one
	// wins over an earlier one and every one over VarFiles.
	Vars []string
	// VarFiles are -var-file arguments; a later one wins over an earlier one
	// and every one over the environment (PIPECTL_VAR_NAME).
	VarFiles []string
	// Values are the variables that a saved plan holds, nil when there is no
	// plan. With a plan, those variables and the defaults of all others are what
	// it was made with: the environment changes none of them, and another value
	// from Vars or VarFiles is an error. Sensitive variables, which no plan
	// holds, are given as ever.
	Values map[string]cty.Value
	// Environ looks up an environment variable, as os.LookupEnv does; nil
	// means an empty environment.
	Environ func(name string) (string, bool)
	// Offline makes an unset environment variable in env(), and a sensitive
	// variable without a value, a placeholder instead of an error. Bodies of the result may then hold unknown values,
	// which must not be sent to a plugin (cty.Value.IsWhollyKnown tells).
	Offline bool
	// Bundled lists the plugin sources that this binary has in it
	// ("pipectl/source-mssql"); a source that is neither one of them nor a
	// path is an error. Empty means: do not check.
	Bundled []string
	// Version is pipectl's own version, compared with required_version; ""
	// means: do not compare.
	Version string
}

func (o Options) environ(name string) (string, bool) {
	if o.Environ == nil {
		return "", false
	}
	return o.Environ(name)
}
