// Package dsl turns HCL text into a model.Config: plain values, addresses and
// places, with no expression left. It owns the language: blocks, arguments,
// defaults, functions, references, for_each, variables, and the words of every
// message about them.
//
// It must not know plugins, processes, tables or Arrow: what a plugin rules of
// a block comes in through the Schemas interface, and nothing here reads a
// clock or the network. Files and environment variables are read only where
// the configuration asks for them with file() and env().
//
// Loading has two steps, because the plugins that a configuration requires
// must be known before the bodies that they rule can be decoded:
//
//	files, diags := dsl.Load(path, dsl.Options{Environ: os.LookupEnv})
//	// start the plugins of files.RequiredPlugins(), ask what they describe
//	config, diags := files.Evaluate(schemas)
//
// This package may change at any time; outsiders rely on core/schema and
// core/plugin instead.
package dsl
