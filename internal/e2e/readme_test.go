package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The plan that the README shows makes the tables of the ledger as a plan of today
// does: how many columns they have changes with releases, and nobody reads it there.
func TestTheReadmeShowsTheLedgerAsItIs(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	golden, err := os.ReadFile(filepath.Join("testdata", "script", "apply-creates-fills-and-proves.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for line := range strings.Lines(string(readme)) {
		if !strings.HasPrefix(line, "  + ops.") {
			continue
		}
		if shown++; !strings.Contains(string(golden), "\n"+line) {
			t.Errorf("no plan says: %s", line)
		}
	}
	if shown != 2 {
		t.Errorf("%d tables of the ledger are shown, want 2", shown)
	}
}
