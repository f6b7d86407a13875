package ledger

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// Properties that tables of this layout carry. SchemaVersion counts the
// migrations a table has had and is shared with other writers: it is never set
// above the numbers below. MinVersion is the oldest code that may write.
const (
	PropertySchemaVersion = "mssql_cdc.schema_version"
	PropertyMinVersion    = "mssql_cdc.min_version"
)

// Numbers of migrations that tables are born with.
const (
	BronzeVersion  = 2
	FactsVersion   = 14
	ControlVersion = 4
	PlansVersion   = 1
)

const factsDescription = "One row per micro-batch of a stream, batches without rows included: what was written, how far the source had been read " +
	"and how long it took. Rows with an event are what happened besides: snapshots, schema changes, skipped changes. " +
	"Rows over batches are those with event NULL; snapshots to rebuild from are exactly the events bootstrap and resnapshot. All times are UTC."

const controlDescription = "One row per table: until when its data is complete (finalized_until), and for silver tables how far they have come. " +
	"A consumer of the period [start, end) waits until finalized_until >= end. All times are UTC."

func (l *Ledger) factsSpec() plugin.TableSpec {
	return spec(l.facts, schemaOf(factsColumns), factsDescription, FactsVersion)
}

func (l *Ledger) controlSpec() plugin.TableSpec {
	return spec(l.control, schemaOf(controlColumns), controlDescription, ControlVersion)
}

func spec(ref plugin.TableRef, schema *arrow.Schema, description string, version int) plugin.TableSpec {
	return plugin.TableSpec{
		Table: ref, Schema: schema, Description: description, Layout: plugin.LayoutSmall,
		Properties: map[string]string{PropertySchemaVersion: strconv.Itoa(version)},
		Converge:   []string{PropertySchemaVersion},
	}
}

// TableChange is what Ensure would do to one table of the ledger.
type TableChange struct {
	Spec plugin.TableSpec
	Plan plugin.TablePlan
}

// Plan says what Ensure would do, for tables that are missing, are older than
// this program or lack columns that it writes; it changes nothing.
func (l *Ledger) Plan(ctx context.Context) ([]TableChange, error) {
	var out []TableChange
	for _, s := range l.specs() {
		state, err := l.look(ctx, s.Table)
		if err != nil {
			return nil, err
		}
		due, err := l.outdated(state, s, nil)
		if err != nil {
			return nil, err
		}
		if !due {
			continue
		}
		s = forward(state, s)
		p, err := l.tables.PlanTable(ctx, s)
		if err != nil {
			return nil, fmt.Errorf("planning table %s: %w", s.Table.Name, err)
		}
		out = append(out, TableChange{Spec: s, Plan: p})
	}
	return out, nil
}

func (l *Ledger) specs() []plugin.TableSpec {
	return []plugin.TableSpec{l.factsSpec(), l.controlSpec()}
}

// Ensure creates the ledger's tables or brings older ones up to date. Nothing
// else creates them.
func (l *Ledger) Ensure(ctx context.Context) error {
	for _, s := range l.specs() {
		if err := l.open(ctx, s, true); err != nil {
			return err
		}
	}
	return nil
}

// Exists fails with kind stale when a table of the ledger does not exist.
func (l *Ledger) Exists(ctx context.Context) error {
	return l.each(ctx, func(plugin.TableSpec, plugin.TableState) error { return nil })
}

// Check fails with kind stale when a table of the ledger does not exist, is of an
// older release, or lacks a column: a run changes no table's columns, apply does.
func (l *Ledger) Check(ctx context.Context) error {
	return l.each(ctx, func(s plugin.TableSpec, state plugin.TableState) error {
		due, err := l.outdated(state, s, nil)
		if err != nil {
			return err
		}
		if due {
			return old(state, s)
		}
		return nil
	})
}

// each looks at the tables of the ledger, all of which must exist.
func (l *Ledger) each(ctx context.Context, do func(plugin.TableSpec, plugin.TableState) error) error {
	for _, s := range l.specs() {
		state, err := l.look(ctx, s.Table)
		if err != nil {
			return err
		}
		if !state.Exists {
			return l.gone(s.Table)
		}
		if err := do(s, state); err != nil {
			return err
		}
	}
	return nil
}

// gone is the error of a write to a table of the ledger that does not exist:
// made anew without a word it would hide that what it held is lost.
func (l *Ledger) gone(table plugin.TableRef) error {
	return diag.Errorf(diag.KindStale, CodeTableGone, "Restore it. Where that cannot be, `pipectl apply` makes it anew: "+l.Loss(table)+".",
		"Table %s does not exist", table.Name).Err()
}

// CodeTableGone is the code of the diagnostics about a table of the ledger that
// does not exist any more.
const CodeTableGone = "ledger.table_gone"

// Loss says for people what a table of the ledger takes along when it goes.
func (l *Ledger) Loss(table plugin.TableRef) string {
	if table == l.control {
		return "the verdicts begin anew, and each silver is applied from bronze again from the start"
	}
	return "what was recorded of batches, snapshots and events is gone"
}

// ensure opens a table for writing, once per ledger. It must exist and be up to date.
func (l *Ledger) ensure(ctx context.Context, s plugin.TableSpec) error { return l.open(ctx, s, false) }

func (l *Ledger) open(ctx context.Context, s plugin.TableSpec, create bool) error {
	l.mu.Lock()
	_, ready := l.opened[s.Table.Name]
	l.mu.Unlock()
	if ready {
		return nil
	}
	err := l.retry(ctx, func() error {
		state, err := l.look(ctx, s.Table)
		if err != nil {
			return err
		}
		if !state.Exists && !create {
			return l.gone(s.Table)
		}
		due, err := l.outdated(state, s, l.warn)
		if err != nil || !due {
			return err
		}
		if !create {
			return old(state, s)
		}
		// Of a table that exists, only that one is changed.
		if _, err := l.tables.ApplyTable(ctx, plugin.ApplyTableRequest{Spec: forward(state, s), RequireID: state.ID}); err != nil {
			return fmt.Errorf("opening table %s: %w", s.Table.Name, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.opened[s.Table.Name] = struct{}{}
	l.mu.Unlock()
	return nil
}

// CodeOtherTable is the code of a table of another program in the place of one of
// the ledger.
const CodeOtherTable = "ledger.other_table"

// strange refuses a table with rows that is none of the ledger's: it counts no
// migrations, and has none of the columns that the spec begins with, as a table
// has that is older than the count.
func strange(state plugin.TableState, s plugin.TableSpec) error {
	const detail = "Nothing of it has been changed. Give facts and control names that nothing has, in the block ledger of the sink."
	if !state.Exists {
		return nil
	}
	if owner := state.Properties[PropertyOwner]; owner != "" { // those of a ledger have none
		return diag.Errorf(diag.KindStale, CodeOtherTable, "It is the table of a stream, a silver or a check. "+detail,
			"Table %s is written by the configuration %q, and is no ledger", state.Table.Name, strings.SplitN(owner, "/", 2)[0]).Err()
	}
	key := s.Schema.Field(0).Name
	if state.Rows == 0 || hasColumns(state, key) {
		return nil
	}
	return diag.Errorf(diag.KindStale, CodeOtherTable, "Another program made it. "+detail,
		"Table %s holds rows that pipectl did not write: it has no column %q", state.Table.Name, key).Err()
}

// PropertyOwner is on the tables of streams, silvers and checks, and names the
// configuration that writes them: its name, a slash and the lineage of its state.
const PropertyOwner = "pipectl.owner"

// IsLedger reports whether a table is the facts or the control of a lake, by the
// columns that those of every release have.
func IsLedger(state plugin.TableState) bool {
	return state.Exists && (hasColumns(state, columnTableName, columnFinalizedUntil, "end_lsn") || hasColumns(state, "app_id", "batch_id", "max_lsn", "written_at"))
}

func hasColumns(state plugin.TableState, names ...string) bool {
	return state.Schema != nil && !slices.ContainsFunc(names, func(name string) bool {
		return !slices.ContainsFunc(state.Schema.Fields(), func(have arrow.Field) bool { return strings.EqualFold(have.Name, name) })
	})
}

// Due reports whether a table must be created or migrated before it is written:
// it is missing, or its schema version is below the spec's. A table of newer
// code is written as it is, with a warning (warn may be nil), unless it says
// that it needs newer code: then a diagnostic of kind configuration names both
// numbers. A table that the sink cannot write is one of kind unsupported.
func Due(state plugin.TableState, s plugin.TableSpec, warn func(diag.Diagnostic)) (bool, error) {
	known, err := strconv.Atoi(s.Properties[PropertySchemaVersion])
	if err != nil {
		return false, fmt.Errorf("the spec of table %s has no schema version: %w", s.Table.Name, err)
	}
	name := state.Table.Name
	if !state.Exists {
		return true, nil
	}
	if state.Writable != "" {
		return false, diag.Errorf(diag.KindUnsupported, "table.not_writable", state.Writable, "Table %s cannot be written", name).Err()
	}
	least, err := versionOf(state, PropertyMinVersion)
	if err != nil {
		return false, err
	}
	if least > known {
		return false, diag.Errorf(diag.KindConfiguration, "table.newer", "Use a newer pipectl for this lake.",
			"Table %s may only be written by code that knows its schema version %d; this pipectl knows up to %d", name, least, known).Err()
	}
	version, err := versionOf(state, PropertySchemaVersion)
	if err != nil {
		return false, err
	}
	if version > known && warn != nil {
		warn(diag.Warningf("table.newer", "It is written as it is; columns this pipectl does not know stay NULL.",
			"Table %s was migrated by newer code: its schema version is %d, this pipectl knows up to %d", name, version, known))
	}
	return version < known, nil
}

// versionOf reads a property that counts; missing is 0.
func versionOf(state plugin.TableState, property string) (int, error) {
	value, ok := state.Properties[property]
	if !ok {
		return 0, nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		return 0, diag.Errorf(diag.KindConfiguration, "table.property", "Set it to the number of migrations the table has had.",
			"Property %s of table %s is %q, not a number", property, state.Table.Name, value).Err()
	}
	return n, nil
}
