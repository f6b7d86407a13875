package state

import (
	"testing"

	"github.com/pipectl/pipectl/core/model"
)

func FuzzOffset(f *testing.F) {
	f.Add([]byte(`{"start": {"lsn": "0x1", "commit_ts": ""}, "end": {"lsn": "0x2", "commit_ts": "2026-03-01T12:00:00.000"}}`))
	f.Add([]byte(`{"start": null, "end": {}}`))
	f.Add([]byte(`{"start": {"lsn": "\u0000<\"", "commit_ts": "0000-01-01T00:00:00"}, "end": {"lsn": "é", "commit_ts": "9999-12-31T23:59:59.9999999"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := decodeOffset(data)
		if err != nil {
			return
		}
		// What was read is written in a form that reads as the same, and stays.
		again, err := decodeOffset(encodeOffset(o))
		if err != nil || again.Start.Text != o.Start.Text || again.End.CommitText() != o.End.CommitText() {
			t.Errorf("%+v became %+v (%v)", o, again, err)
		}
	})
}

func FuzzName(f *testing.F) {
	for _, seed := range []string{"bronze.orders", "%41", "..", "%", "a%2Fb"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, element string) {
		name, err := decodeName(element)
		if err != nil {
			return
		}
		if got, err := decodeName(model.Element(name)); err != nil || got != name {
			t.Errorf("%q became %q (%v)", name, got, err)
		}
	})
}
