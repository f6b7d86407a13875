package ledger

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/pipectl/pipectl/core/plugin"
)

func TestPayloadForm(t *testing.T) {
	t.Parallel()
	tests := []struct {
		rule string
		form spacing
		in   object
		want string
	}{
		{"batch metadata has no blanks", dense, object{{"rows", int64(3)}, {"min_lsn", nil}, {"list", []string{"a", "b"}}}, `{"rows":3,"min_lsn":null,"list":["a","b"]}`},
		{"all others have one after comma and colon", spaced, object{{"a", 1}, {"b", object{{"c", true}}}, {"d", []string{"x", "y"}}}, `{"a": 1, "b": {"c": true}, "d": ["x", "y"]}`},
		{"no HTML escaping", spaced, object{{"backfill", "a<b>&c#snap.0x1"}}, `{"backfill": "a<b>&c#snap.0x1"}`},
		{"ASCII only", spaced, object{{"note", "Zürich 東京 🙂\x7f"}}, `{"note": "Z\u00fcrich \u6771\u4eac \ud83d\ude42\u007f"}`},
		{"control characters", spaced, object{{"note", "\"\\\n\r\t\b\f\x01"}}, `{"note": "\"\\\n\r\t\b\f\u0001"}`},
		{"bytes that are no text", spaced, object{{"note", "a\xffb"}}, `{"note": "a\ufffdb"}`},
		{"key values as they are", spaced, object{{"lo", json.RawMessage(`[1, "a"]`)}}, `{"lo": [1, "a"]}`},
		{"nothing", spaced, object{}, `{}`},
	}
	for _, tt := range tests {
		if got := tt.form.encode(tt.in); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.rule, got, tt.want)
		}
	}
}

func TestPayloadsAreJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		key, value := rapid.String().Draw(t, "key"), rapid.String().Draw(t, "value")
		got := map[string]string{}
		text := spaced.encode(object{{key, value}})
		if err := json.Unmarshal([]byte(text), &got); err != nil || got[key] != value {
			t.Fatalf("%q: %v, %v", text, got, err)
		}
		for _, c := range []byte(text) {
			if c >= 0x7F {
				t.Fatalf("%q is not ASCII", text)
			}
		}
	})
}

func TestSnapshotMetadata(t *testing.T) {
	t.Parallel()
	p, err := plugin.ParsePosition("0x0000002A000001000041", "2026-03-01T08:33:00.000")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := SnapshotMetadata("dbo_orders", p), `{"snapshot": "dbo_orders", "lsn": "0x0000002A000001000041", "commit_ts": "2026-03-01T08:33:00.000"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := SnapshotMetadata("dbo_orders", plugin.Position{Text: "0x1"}), `{"snapshot": "dbo_orders", "lsn": "0x1", "commit_ts": ""}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestBatchMetadataWithoutRows(t *testing.T) {
	t.Parallel()
	want := `{"rows":0,"min_lsn":null,"max_lsn":null,"min_commit_ts":null,"max_commit_ts":null,"deletes":0,"inserts":0,"updates":0,"batch_id":7,"app_id":"orders-v1"}`
	if got := BatchMetadata(Batch{AppID: "orders-v1", Number: 7}); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
