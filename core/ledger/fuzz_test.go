package ledger

import (
	"encoding/json"
	"testing"
)

// Details come from tables that others write, too.
func FuzzDetails(f *testing.F) {
	for _, seed := range []string{
		`{"mode": "full", "kind": "bootstrap", "generation": 0}`, `{"keys": ["a"], "plan": {"kind": "int"}}`, `{"snapshot": "0x1", "wave": 1, "chunk": 2, "lo": null, "hi": [1, "a"], "last": true}`,
		`null`, `0x1..0x2`, `{"keys": 5}`, `{"mode": 5}`, ``,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		row := SnapshotRow{Event: EventSnapshotOpen}
		if err := row.readDetail(text); err == nil && row.Mode != ModeFull && row.Mode != ModeChunked {
			t.Errorf("%q has mode %q", text, row.Mode)
		}
		var d chunkDetail
		if json.Unmarshal([]byte(text), &d) != nil {
			return
		}
		for _, b := range []string{bound(d.Lo), bound(d.Hi)} {
			if b != "" && !json.Valid([]byte(b)) {
				t.Errorf("bound %q of %q is no JSON", b, text)
			}
		}
	})
}
