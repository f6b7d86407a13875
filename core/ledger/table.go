package ledger

import (
	"context"
	"fmt"
	"strconv"

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

// Plan says what Ensure would do, for tables that are missing or older than
// this program; it changes nothing.
func (l *Ledger) Plan(ctx context.Context) ([]TableChange, error) {
	var out []TableChange
	for _, s := range []plugin.TableSpec{l.factsSpec(), l.controlSpec()} {
		due, err := l.due(ctx, s, nil)
		if err != nil {
			return nil, err
		}
		if !due {
			continue
		}
		p, err := l.tables.PlanTable(ctx, s)
		if err != nil {
			return nil, fmt.Errorf("planning table %s: %w", s.Table.Name, err)
		}
		out = append(out, TableChange{Spec: s, Plan: p})
	}
	return out, nil
}

// Ensure creates the ledger's tables or brings older ones up to date.
func (l *Ledger) Ensure(ctx context.Context) error {
	if err := l.ensure(ctx, l.factsSpec()); err != nil {
		return err
	}
	return l.ensure(ctx, l.controlSpec())
}

// ensure opens a table for writing, once per ledger.
func (l *Ledger) ensure(ctx context.Context, s plugin.TableSpec) error {
	l.mu.Lock()
	_, ready := l.opened[s.Table.Name]
	l.mu.Unlock()
	if ready {
		return nil
	}
	err := l.retry(ctx, func() error {
		due, err := l.due(ctx, s, l.warn)
		if err != nil || !due {
			return err
		}
		if _, err := l.tables.ApplyTable(ctx, plugin.ApplyTableRequest{Spec: s}); err != nil {
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

func (l *Ledger) due(ctx context.Context, s plugin.TableSpec, warn func(diag.Diagnostic)) (bool, error) {
	states, err := l.tables.GetTables(ctx, plugin.GetTablesRequest{Tables: []plugin.TableRef{s.Table}})
	if err != nil {
		return false, fmt.Errorf("looking at table %s: %w", s.Table.Name, err)
	}
	return Due(states[0], s, warn)
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
