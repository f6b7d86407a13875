package ledger

import (
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// What a run says of a table of the ledger that it cannot write is what the table
// is: older, newer, or without columns that nobody can say why they are missing.
// Apply adds what is missing, and takes no newer number back.
func TestATableOfTheLedgerIsToldAsWhatItIs(t *testing.T) {
	t.Parallel()
	own := []string{"silver_version", "foreign_version", "silver_merge", "table_path", "table_id"}
	for name, tt := range map[string]struct {
		lacks         []string
		version       string
		code, summary string // "" when it is written as it is
		after         string // the number that it has after apply
	}{
		"as it should be":        {nil, "4", "", "", "4"},
		"older":                  {[]string{"snapshot_wave", "silver_merge"}, "3", CodeTableOld, "Table ops.control is of an older release, with the schema version 3 (this pipectl writes 4): it lacks the columns snapshot_wave, silver_merge", "4"},
		"older, with all":        {nil, "3", CodeTableOld, "Table ops.control is of an older release, with the schema version 3 (this pipectl writes 4)", "4"},
		"without our own":        {own, "4", CodeTableOld, "Table ops.control lacks the columns silver_version, foreign_version, silver_merge, table_path, table_id, which this pipectl writes", "4"},
		"without one":            {[]string{"silver_merge"}, "4", CodeTableOld, "Table ops.control lacks the column silver_merge, which this pipectl writes", "4"},
		"newer":                  {nil, "6", "", "", "6"},
		"newer, and without one": {[]string{"silver_merge"}, "6", CodeTableNewer, "Table ops.control is of a newer release, with the schema version 6 (this pipectl writes 4): it lacks the column silver_merge", "6"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newBareLake()
			if err := l.Ensure(ctx); err != nil {
				t.Fatal(err)
			}
			l.DropTable("ops.control")
			l.put(t, "ops.control", without(schemaOf(controlColumns), tt.lacks...), withVersion(tt.version), `{"table_name": "silver.x", "applied_lsn": "0x5"}`)
			l.reopen()
			checked := l.Check(ctx)
			wrote := l.SetPosition(ctx, "silver.x", plugin.TargetPosition{Applied: "0x5"}, plugin.TargetPosition{Applied: "0x6"})
			for who, err := range map[string]error{"check": checked, "write": wrote} {
				if tt.code == "" {
					if err != nil {
						t.Errorf("%s: %v", who, err)
					}
					continue
				}
				if list := diag.FromError(err); len(list) != 1 || list[0].Code != tt.code || list[0].Kind != diag.KindStale || list[0].Summary != tt.summary || !strings.Contains(list[0].Detail, "pipectl apply") {
					t.Errorf("%s: %+v", who, list)
				}
			}
			plan, err := l.Plan(ctx)
			if err != nil || len(plan) > 0 != (tt.code != "") {
				t.Errorf("planned %+v, %v", plan, err)
			}
			for _, c := range plan {
				if text := strings.Join(c.Plan.Changes, "\n"); tt.version == "6" && strings.Contains(text, PropertySchemaVersion) {
					t.Errorf("a newer number is taken back: %s", text)
				}
			}
			if err := l.Ensure(ctx); err != nil {
				t.Fatal(err)
			}
			state := l.state(t, "ops.control")
			if state.Properties[PropertySchemaVersion] != tt.after || state.Schema.NumFields() != len(controlColumns) {
				t.Errorf("after apply: %s columns %d", state.Properties, state.Schema.NumFields())
			}
		})
	}
}
