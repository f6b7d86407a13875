package mssql

import (
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/schema"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

// Names of the arguments of a table and of a read block.
const (
	argObject          = "object"
	argCaptureInstance = "capture_instance"
	argSnapshotKeys    = "snapshot_keys"

	argPartitions   = "partitions"
	argBatchRows    = "batch_rows"
	argSchemaPolicy = "schema_change_policy"
	argCommandID    = "include_command_id"
)

// Policies for DDL inside a batch.
const (
	policyClassify = "classify"
	policyFail     = "fail"
)

const (
	defaultPartitions = 4
	defaultBatchRows  = 10000
	maxPartitions     = 1024
	maxBatchRows      = 1 << 20
)

func objectSchema() schema.Body {
	return schema.Body{
		Description: "A table with change data capture, named by its object or by a capture instance.",
		Attributes: []schema.Attribute{
			{Name: argObject, Type: cty.String, Description: "The table as SCHEMA.NAME; brackets where a name holds a dot: [sales].[a.b]. Its oldest capture instance is read first, a newer one from its start on."},
			{Name: argCaptureInstance, Type: cty.String, Description: "A capture instance of the table, where object does not do."},
			{Name: argSnapshotKeys, Type: cty.List(cty.String), Description: "Columns that snapshots are cut on, instead of the unique index that CDC uses."},
		},
	}
}

func readSchema() schema.Body {
	policy := schema.Attribute{Name: argSchemaPolicy, Type: cty.String, Default: cty.StringVal(policyClassify), Values: []string{policyClassify, policyFail},
		Description: "What DDL in a batch does: classify goes on when every column still fits, fail stops at any."}
	return schema.Body{
		Description: "How changes are read.",
		Attributes: []schema.Attribute{
			{Name: argPartitions, Type: cty.Number, Default: cty.NumberIntVal(defaultPartitions), Description: "How many ranges a large batch is read in at once."},
			{Name: argBatchRows, Type: cty.Number, Default: cty.NumberIntVal(defaultBatchRows), Description: "The most rows of one record batch; it also ends at 4 MiB."},
			policy,
			{Name: argCommandID, Type: cty.Bool, Default: cty.True, Description: "Read __$command_id; false for change tables that lack it."},
		},
	}
}

// readConfig is a validated read block.
type readConfig struct {
	partitions int
	batchRows  int
	policy     string
	commandID  bool
}

// tableConfig is a validated table: what to read and how.
type tableConfig struct {
	address string
	// object or instance is set.
	object       tsql.Table
	instance     string
	snapshotKeys []string
	key          []string
	rules        []rule
	read         readConfig
}

// rule is what happens to one column.
type rule struct {
	name string
	drop bool
	// as is the type to read it as; its kind is invalid for the default.
	as outType
}

// label names the table as the user wrote it; path is the argument.
func (t tableConfig) label() string {
	if t.instance != "" {
		return t.instance
	}
	return t.object.String()
}

func (t tableConfig) path() string {
	if t.instance != "" {
		return argCaptureInstance
	}
	return argObject
}

// keys are the key columns that snapshots are cut on when the user names any.
func (t tableConfig) chosenKeys() []string {
	if len(t.snapshotKeys) > 0 {
		return t.snapshotKeys
	}
	return t.key
}

func parseTable(t plugin.SourceTable) (tableConfig, diag.List) {
	cfg, list := parseObject(t.Object)
	read, more := parseRead(t.Read)
	list = append(list, more...)
	cfg.address, cfg.read, cfg.key = t.Address, read, t.Key
	for _, r := range t.Columns {
		out := rule{name: r.Name, drop: r.Drop}
		if r.As != "" {
			as, err := parseOutType(r.As)
			if err != nil {
				var words []string
				for _, t := range outTypes {
					words = append(words, t.word())
				}
				list = append(list, diag.Errorf(diag.KindConfiguration, codeColumnRule, "Types are "+strings.Join(words, ", ")+".", "Column %s: %s", r.Name, err).At("columns", r.Name, "as"))
			}
			out.as = as
		}
		cfg.rules = append(cfg.rules, out)
	}
	return cfg, list
}

func parseObject(value cty.Value) (tableConfig, diag.List) {
	var cfg tableConfig
	var list diag.List
	b := body{value}
	hasObject, hasInstance := b.given(argObject), b.given(argCaptureInstance)
	switch {
	case hasObject && hasInstance:
		list = append(list, configError(argCaptureInstance, "Keep capture_instance only where object does not name the right one.", "Both object and capture_instance are given"))
	case !hasObject && !hasInstance:
		list = append(list, configError("", `Set object = "dbo.orders", or capture_instance.`, "The table names no object"))
	}
	if b.unknown() {
		return cfg, list
	}
	if hasObject {
		t, err := parseObjectName(b.text(argObject))
		if err != nil {
			list = append(list, configError(argObject, "Write SCHEMA.NAME, with brackets where a name holds a dot: [sales].[a.b].", "%s", err))
		}
		cfg.object = t
	}
	if hasInstance {
		cfg.instance = b.text(argCaptureInstance)
		if err := tsql.CheckCaptureInstance(cfg.instance); err != nil {
			list = append(list, configError(argCaptureInstance, "EXEC sys.sp_cdc_help_change_data_capture lists their names.", "%s", err))
		}
	}
	cfg.snapshotKeys = b.texts(argSnapshotKeys)
	for i, k := range cfg.snapshotKeys {
		if _, err := tsql.Quote(k); err != nil {
			list = append(list, configError("", "Name a captured column as the table has it, without brackets.", "%s", err).At(argSnapshotKeys, i))
		}
	}
	if b.given(argSnapshotKeys) && len(cfg.snapshotKeys) == 0 {
		list = append(list, configError(argSnapshotKeys, `Name at least one column: ["order_id"].`, "snapshot_keys is empty"))
	}
	return cfg, list
}

func parseRead(value cty.Value) (readConfig, diag.List) {
	var list diag.List
	b := body{value}
	cfg := readConfig{partitions: defaultPartitions, batchRows: defaultBatchRows, policy: policyClassify, commandID: b.boolean(argCommandID, true)}
	number := func(arg string, limit int, into *int) {
		v := b.get(arg)
		if v.IsNull() || !v.IsKnown() {
			return
		}
		n, ok := b.integer(arg)
		if !ok || n < 1 || n > int64(limit) {
			list = append(list, configError(arg, fmt.Sprintf("Write a whole number from 1 to %d.", limit), "%s is no number that can be used: %s", arg, b.text(arg)))
			return
		}
		*into = int(n)
	}
	number(argPartitions, maxPartitions, &cfg.partitions)
	number(argBatchRows, maxBatchRows, &cfg.batchRows)
	if policy := b.text(argSchemaPolicy); policy != "" {
		cfg.policy = strings.ToLower(policy)
		if cfg.policy != policyClassify && cfg.policy != policyFail {
			list = append(list, configError(argSchemaPolicy, `Write "classify" or "fail".`, "%q is no policy for schema changes", policy))
		}
	}
	return cfg, list
}

// parseObjectName reads SCHEMA.NAME, each part perhaps in brackets.
func parseObjectName(text string) (tsql.Table, error) {
	rest := strings.TrimSpace(text)
	var parts []string
	for {
		var part string
		if strings.HasPrefix(rest, "[") {
			end := 1
			for end < len(rest) && (rest[end] != ']' || strings.HasPrefix(rest[end:], "]]")) {
				if rest[end] == ']' {
					end++
				}
				end++
			}
			if end >= len(rest) {
				return tsql.Table{}, fmt.Errorf("%q lacks a closing bracket", text)
			}
			part, rest = strings.ReplaceAll(rest[1:end], "]]", "]"), rest[end+1:]
		} else {
			i := strings.IndexByte(rest, '.')
			if i < 0 {
				i = len(rest)
			}
			part, rest = rest[:i], rest[i:]
		}
		parts = append(parts, part)
		if rest == "" {
			break
		}
		if rest[0] != '.' {
			return tsql.Table{}, fmt.Errorf("%q is no name of a table", text)
		}
		rest = rest[1:]
	}
	switch len(parts) {
	case 2:
	case 1:
		return tsql.Table{}, fmt.Errorf("%q is no schema and table", text)
	default:
		return tsql.Table{}, fmt.Errorf("%q has %d parts, want a schema and a table", text, len(parts))
	}
	t := tsql.Table{Schema: parts[0], Name: parts[1]}
	if _, err := t.Quoted(); err != nil {
		return tsql.Table{}, err
	}
	return t, nil
}
