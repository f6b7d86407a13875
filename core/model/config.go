// Package model is a configuration after every expression has been
// evaluated: plain values, addresses and the places they came from. The
// language produces it; planner and runner live from it. It knows no HCL.
package model

import (
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
)

// Config is one configuration: all files of a folder, or one file.
type Config struct {
	// Path is what the user named: a folder or a file.
	Path string
	// Name and Environment come from the pipectl block.
	Name        string
	Environment string
	// RequiredVersion is the constraint text of the pipectl block, "" for any.
	RequiredVersion string
	// Plugins maps the local name of a plugin to where it comes from.
	Plugins map[string]RequiredPlugin
	// StatePath is the local directory of state{path}; "" keeps the state of
	// each stream inside its sink.
	StatePath string

	Sources []Source
	Sinks   []Sink
	Tables  []Table
	Streams []Stream
	Silvers []Silver
	Checks  []Check

	// Files are the texts that were read, for a saved plan.
	Files []File
	// Variables are the values given from outside; sensitive ones are absent.
	Variables map[string]cty.Value
	// Secrets are the sensitive values of connections in arguments that the
	// plugin's schema does not call sensitive, such as a root from env(). They are
	// here to be left out of whatever is printed, and are never written.
	Secrets []string
	// Origin is the place of the pipectl block.
	Origin Origin
}

// File is one text that was read: a configuration file or what file() read.
type File struct {
	Path    string
	Content []byte
	// Config is true for *.hcl files of the configuration.
	Config bool
}

// RequiredPlugin is one entry of required_plugins.
type RequiredPlugin struct {
	Name string
	// Source is a bundled name ("pipectl/source-mssql") or "./path" of a file
	// that pipectl.lock.hcl pins.
	Source  string
	Version string
	// PassEnv names environment variables that the process may see.
	PassEnv []string
	Origin  Origin
}

// Origin is where a block stands and where its attributes stand.
type Origin struct {
	// Header names the block in messages: `table "orders"`.
	Header string
	// Block is the range of the block's header line.
	Block diag.Range
	// Attributes maps an attribute path (diag.Path.String) to its range; an
	// attribute filled from a defaults block points there.
	Attributes map[string]diag.Range
	// Sensitive holds the attribute paths whose values must never be written
	// anywhere: the plugin's schema calls them sensitive, or a sensitive value
	// (env(), a sensitive variable) went into them.
	Sensitive map[string]bool
	// Defaults holds the attribute paths whose values are the default,
	// whether it was written or left out.
	Defaults map[string]bool
}

// Place turns a path into the range of the nearest attribute that is known,
// else of the block.
func (o Origin) Place(path diag.Path) *diag.Range {
	for n := len(path); n > 0; n-- {
		if r, ok := o.Attributes[path[:n].String()]; ok {
			return &r
		}
	}
	if o.Block.Filename == "" {
		return nil
	}
	r := o.Block
	return &r
}

// Locate fills Subject, Context and Address of diagnostics that have none.
func (o Origin) Locate(address addr.Address, list diag.List) diag.List {
	out := make(diag.List, len(list))
	for i, d := range list {
		if d.Subject == nil {
			d.Subject = o.Place(d.Path)
		}
		if d.Context == "" {
			d.Context = o.Header
		}
		if d.Address == "" {
			d.Address = address.String()
		}
		out[i] = d
	}
	return out
}

// Source is a source block: one database.
type Source struct {
	Addr addr.Address
	// Type is the first label and names the component: "mssql".
	Type string
	// Plugin is the local name of the plugin that has the component.
	Plugin string
	// Body is the connection, decoded by the plugin's schema.
	Body cty.Value
	// MaxConnections bounds the connections of one process, from 1 on.
	MaxConnections int
	Origin         Origin
}

// Sink is a sink block: one lake.
type Sink struct {
	Addr   addr.Address
	Type   string
	Plugin string
	Body   cty.Value
	// Facts and Control name the ledger's tables.
	Facts, Control string
	Origin         Origin
}

// Table is one instance of a table block: a table of a source.
type Table struct {
	Addr   addr.Address
	Source addr.Address
	// Key overrides the unique index; empty = the source's.
	Key []string
	// Columns are the rules of the columns map and of exclude, sorted by name.
	Columns     []ColumnRule
	Description string
	// Body is the plugin-ruled part: object, capture_instance, snapshot_keys.
	Body   cty.Value
	Origin Origin
}

// ColumnRule says what happens to one column.
type ColumnRule struct {
	Name string
	// Drop leaves the column out.
	Drop bool
	// As names the type to read the column as, "" for the default.
	As string
}

// Bootstrap modes of a stream.
const (
	BootstrapNone = "none"
	BootstrapFull = "full"
)

// Reactions to lost data.
const (
	OnDataLossFail = "fail"
)

// Granularities of a verdict.
const (
	GranularityMinute = "minute"
	GranularityHour   = "hour"
	GranularityDay    = "day"
)

// Stream is one instance of a stream block: changes of a table into bronze.
type Stream struct {
	Addr  addr.Address
	Table addr.Address
	// To is the sink.
	To addr.Address
	// Target is bronze's dotted name, exact everywhere; Path overrides where
	// the sink puts it, "" = by the name.
	Target string
	Path   string
	// AppID identifies the stream's writes for ever; default is Target.
	AppID     string
	Bootstrap string
	// StartingPosition is "earliest", "latest" or a position's text; "" = earliest.
	StartingPosition string
	// MaxCommitsPerBatch bounds a batch; 0 = no bound.
	MaxCommitsPerBatch int
	OnDataLoss         string
	Granularity        string
	Tags               []string
	// Read is the plugin-ruled read block.
	Read   cty.Value
	Origin Origin
}

// Silver is one instance of a silver block.
type Silver struct {
	Addr   addr.Address
	Type   string
	Plugin string
	From   addr.Address
	To     addr.Address
	Target string
	Path   string
	Tags   []string
	Body   cty.Value
	Origin Origin
}

// Check is one instance of a check block.
type Check struct {
	Addr   addr.Address
	Type   string
	Plugin string
	Silver addr.Address
	// OnFailure is "fail" or "warn".
	OnFailure string
	// Settle is how long undecided ranges are looked at again.
	Settle time.Duration
	Tags   []string
	Body   cty.Value
	Origin Origin
}
