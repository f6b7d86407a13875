package dsl

import (
	"slices"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/model"
)

// Argument is one argument or nested block that the core itself knows. The
// decoder takes defaults and allowed values from here, and so do "show", the
// documentation and the test that compares both.
type Argument struct {
	Name string
	// Type as the documentation writes it: "string", "reference to a table".
	Type string
	// Block is true for a nested block.
	Block bool
	// Required arguments have no default.
	Required bool
	// Default is the text of the default, as one would write it; "" = none.
	Default string
	// Values are the allowed strings, when only these are allowed.
	Values []string
	// LaterValues are known to the language and refused by name.
	LaterValues []string
	// Later arguments are reserved: refused by name until a release builds them.
	Later       bool
	Description string
}

// BlockType is one kind of top-level block.
type BlockType struct {
	Name string
	// Labels are what the labels mean, in order.
	Labels []string
	// Role tells that a plugin rules a part of the body.
	Plugin bool
	// Later blocks are reserved.
	Later       bool
	Arguments   []Argument
	Description string
}

// argument returns the named argument.
func (b BlockType) argument(name string) (Argument, bool) {
	for _, a := range b.Arguments {
		if a.Name == name {
			return a, true
		}
	}
	return Argument{}, false
}

// names lists the arguments that a release has built.
func (b BlockType) names() []string {
	var out []string
	for _, a := range b.Arguments {
		if !a.Later {
			out = append(out, a.Name)
		}
	}
	return out
}

const (
	typeString    = "string"
	typeNumber    = "whole number"
	typeStrings   = "list of strings"
	typeDuration  = "duration"
	typeTableName = "table name"
)

func forEachArgument() Argument {
	return Argument{Name: "for_each", Type: "map, set of strings, or another block that has for_each",
		Description: "One instance per element; each.key and each.value stand for it."}
}

func tagsArgument() Argument {
	return Argument{Name: "tags", Type: typeStrings, Default: "[]", Description: "Words to select addresses by."}
}

func pathArgument() Argument {
	return Argument{Name: "path", Type: typeString, Description: "Folder of the table below the sink's root, instead of the one that the name gives."}
}

func later(names ...string) []Argument {
	var out []Argument
	for _, n := range names {
		out = append(out, Argument{Name: n, Later: true, Description: "Reserved."})
	}
	return out
}

// Blocks is the language: every block with every argument of the core's, in
// the order of the documentation.
func Blocks() []BlockType { return slices.Clone(blockTypes) }

var blockTypes = []BlockType{
	{Name: "pipectl", Description: "Names the configuration and the plugins it needs. Exactly one.", Arguments: append([]Argument{
		{Name: "name", Type: typeString, Required: true, Description: "Name of this configuration; part of the place of its state."},
		{Name: "environment", Type: typeString, Description: "Stamped into the state; a state of another environment is refused."},
		{Name: "required_version", Type: typeString, Description: "Versions of pipectl that may run this: \">= 0.1, < 2\"."},
		{Name: "required_plugins", Block: true, Required: true, Description: "NAME = { source, version, pass_env } for each plugin."},
		{Name: "state", Block: true, Description: "path: a local directory for the state, instead of the stream's sink."},
	}, later("health")...)},
	{Name: "variable", Labels: []string{"NAME"}, Description: "A value from outside.", Arguments: []Argument{
		{Name: "type", Type: "type expression", Default: "any", Description: "string, number, bool, list(T), set(T), map(T), object({...}), optional(T, default)."},
		{Name: "default", Type: "any", Description: "Makes the variable optional."},
		{Name: "description", Type: typeString, Description: "For people."},
		{Name: "sensitive", Type: "bool", Default: "false", Description: "The value is never shown or saved."},
		{Name: "validation", Block: true, Description: "condition and error_message; any number of times."},
	}},
	{Name: "locals", Description: "Named values for use in this configuration.", Arguments: nil},
	{Name: string(addr.Source), Labels: []string{"TYPE", "NAME"}, Plugin: true, Description: "One database.", Arguments: append([]Argument{
		{Name: "max_connections", Type: typeNumber, Default: "8", Description: "Bound on connections of one process, planning and reading together."},
	}, later("limit", "replica", "datetime_zone")...)},
	{Name: string(addr.Sink), Labels: []string{"TYPE", "NAME"}, Plugin: true, Description: "One lake.", Arguments: append([]Argument{
		{Name: "ledger", Block: true, Description: "Names of the ledger's tables."},
	}, later("maintain")...)},
	{Name: string(addr.Table), Labels: []string{"NAME"}, Plugin: true, Description: "A table of a source.", Arguments: append([]Argument{
		forEachArgument(),
		{Name: "source", Type: "reference to a source", Required: true, Description: "The database that has the table."},
		{Name: "key", Type: typeStrings, Description: "Key columns; the table's unique index otherwise."},
		{Name: "columns", Type: "map of column rules", Default: "{}", Description: "COLUMN = { drop = true } or { as = TYPE }."},
		{Name: "exclude", Type: typeStrings, Default: "[]", Description: "Columns to leave out; short for drop."},
		{Name: "description", Type: typeString, Description: "Becomes the description of bronze and silver."},
	}, later("datetime_zone")...)},
	{Name: string(addr.Stream), Labels: []string{"NAME"}, Plugin: true, Description: "The changes of a table, into bronze.", Arguments: append([]Argument{
		forEachArgument(),
		{Name: "table", Type: "reference to a table", Required: true, Description: "Whose changes."},
		{Name: "to", Type: "reference to a sink", Required: true, Description: "Into which lake."},
		{Name: "target", Type: typeTableName, Required: true, Description: "Name of the bronze table: \"bronze.orders\"."},
		pathArgument(),
		{Name: "app_id", Type: typeString, Description: "Identity of the stream's writes, for ever; the target otherwise."},
		{Name: "bootstrap", Type: typeString, Default: model.BootstrapNone, Values: []string{model.BootstrapNone, model.BootstrapFull},
			LaterValues: []string{"chunked"}, Description: "Whether the stream starts with a snapshot of the table."},
		{Name: "starting_position", Type: typeString, Description: "\"earliest\", \"latest\" or a position of the source; \"earliest\" otherwise. Not with a snapshot."},
		{Name: "max_commits_per_batch", Type: typeNumber, Description: "Bound on commits of one batch; none otherwise."},
		{Name: "on_data_loss", Type: typeString, Default: model.OnDataLossFail, Values: []string{model.OnDataLossFail},
			LaterValues: []string{"resnapshot", "skip"}, Description: "What to do when changes needed next no longer exist."},
		{Name: "granularity", Type: typeString, Default: model.GranularityHour,
			Values: []string{model.GranularityMinute, model.GranularityHour, model.GranularityDay}, Description: "Steps of the verdict \"complete until\"."},
		tagsArgument(),
		{Name: "read", Block: true, Description: "How the source plugin reads; ruled by it."},
	}, later("resnapshot_interval", "snapshot_on_switch", "snapshot", "retain", "max_rows_per_batch")...)},
	{Name: string(addr.Silver), Labels: []string{"TYPE", "NAME"}, Plugin: true, Description: "What is made of a stream.", Arguments: append([]Argument{
		forEachArgument(),
		{Name: "from", Type: "reference to a stream", Required: true, Description: "The stream that it follows."},
		{Name: "to", Type: "reference to a sink", Description: "The sink of its stream, which is also the default."},
		{Name: "target", Type: typeTableName, Required: true, Description: "Name of the silver table: \"silver.orders\"."},
		pathArgument(),
		{Name: "publish", Type: typeString, Default: "head", Values: []string{"head"}, LaterValues: []string{"period"}, Description: "How far silver goes."},
		tagsArgument(),
	}, later("engine", "deletes", "change_feed")...)},
	{Name: string(addr.Check), Labels: []string{"TYPE", "NAME"}, Plugin: true, Description: "Compares the source with silver.", Arguments: append([]Argument{
		forEachArgument(),
		{Name: "silver", Type: "reference to a silver", Required: true, Description: "What to compare with its source."},
		{Name: "on_failure", Type: typeString, Default: "fail", Values: []string{"fail", "warn"}, Description: "Whether a difference fails the run."},
		{Name: "settle", Type: typeDuration, Default: "2m", Description: "How long undecided ranges are looked at again, and differences once."},
		tagsArgument(),
	}, later("key", "coverage", "budget")...)},
	{Name: "defaults", Labels: []string{"KIND"}, Plugin: true, Description: "Fills what blocks of the kind leave out.", Arguments: nil},
	{Name: string(addr.Schedule), Labels: []string{"NAME"}, Later: true, Description: "Runs at times.",
		Arguments: later("cron", "timezone", "run", "on_overlap", "jitter")},
	{Name: "health", Later: true, Description: "Thresholds and notifiers."},
	{Name: "moved", Later: true, Description: "A renamed address."},
	{Name: "removed", Later: true, Description: "A retired address."},
}

// Arguments of the nested blocks and objects of the core.
var (
	pluginArguments = BlockType{Name: "required_plugins", Arguments: []Argument{
		{Name: "source", Type: typeString, Required: true, Description: "A bundled plugin, or ./path of a file that pipectl.lock.hcl pins."},
		{Name: "version", Type: typeString, Description: "Versions that may be used: \">= 1.2\"."},
		{Name: "pass_env", Type: typeStrings, Default: "[]", Description: "Environment variables that the process may see."},
	}}
	stateArguments = BlockType{Name: "state", Arguments: []Argument{
		{Name: "path", Type: typeString, Required: true, Description: "A local directory."},
	}}
	ledgerArguments = BlockType{Name: "ledger", Arguments: []Argument{
		{Name: "facts", Type: typeTableName, Default: "ops.ingestion_facts", Description: "One row per batch, event and wave."},
		{Name: "control", Type: typeTableName, Default: "ops.table_finalization", Description: "Positions and verdicts."},
		{Name: "timestamps", Type: typeString, Default: "ntz", Values: []string{"ntz"}, LaterValues: []string{"utc"}, Description: "How times of the ledger are stored."},
	}}
	validationArguments = BlockType{Name: "validation", Arguments: []Argument{
		{Name: "condition", Type: "bool", Required: true, Description: "Must be true."},
		{Name: "error_message", Type: typeString, Required: true, Description: "Shown when it is not."},
	}}
	columnArguments = BlockType{Name: "columns", Arguments: append([]Argument{
		{Name: "drop", Type: "bool", Default: "false", Description: "Leaves the column out."},
		{Name: "as", Type: typeString, Description: "The type to read the column as: string, boolean, short, int, long, float, double, decimal(p,s), date, timestamp, timestamp_ntz, binary."},
	}, later("mask", "secret", "key_id")...)}
)

// Nested lists the nested blocks and objects of the core, by the name of the
// argument that holds them.
func Nested() []BlockType {
	return []BlockType{pluginArguments, stateArguments, ledgerArguments, validationArguments, columnArguments}
}

// laterAttribute is a value of a plugin-ruled attribute that the language
// reserves, because the core has to do a part of it.
type laterAttribute struct {
	role  addr.Kind
	name  string
	value string
}

var laterAttributes = []laterAttribute{{addr.Sink, "timestamps", "utc"}}

// laterTypes are types of the project's own that no plugin has yet.
var laterTypes = map[addr.Kind][]string{addr.Silver: {"history"}}

// laterFunctions are reserved names of functions.
var laterFunctions = []string{"secret", "secret_file"}

func blockType(name string) (BlockType, bool) {
	for _, b := range blockTypes {
		if b.Name == name {
			return b, true
		}
	}
	return BlockType{}, false
}

// kindArguments is the block type of a kind that has addresses.
func kindArguments(kind addr.Kind) BlockType {
	b, _ := blockType(string(kind))
	return b
}

// sharedNames are those of the core's that a plugin has as well: the ledger of
// a sink stores times as the sink does.
var sharedNames = []string{"timestamps"}

// Reserved lists the names that no plugin schema may use: every argument of
// every block and nested block of the core's, and every block, built or not. So
// a later word of the core's breaks no plugin. What stands inside of a block
// that is reserved as a whole needs no reservation.
func Reserved() []string {
	var names []string
	for _, b := range slices.Concat(blockTypes, Nested()) {
		if b.Later {
			names = append(names, b.Name)
		}
		for _, a := range b.Arguments {
			if !slices.Contains(sharedNames, a.Name) {
				names = append(names, a.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
