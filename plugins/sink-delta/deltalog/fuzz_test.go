package deltalog

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/plugins/sink-delta/internal/golden"
)

// seedCommits gives a fuzz target the commits of a few golden tables.
func seedCommits(f *testing.F, add func(data []byte)) {
	for _, name := range []string{"spark-dv-ntz-mapping", "hand-unknown-actions", "rs-types", "spark-row-tracking"} {
		g := golden.Load(f, name)
		for info, err := range g.Store.List(f.Context(), golden.Path+"/"+logDir+"/", "") {
			if err != nil {
				f.Fatal(err)
			}
			if parseLogName(info.Path[strings.LastIndexByte(info.Path, '/')+1:]).kind != commitFile {
				continue
			}
			data, err := g.Store.Get(f.Context(), info.Path)
			if err != nil {
				f.Fatal(err)
			}
			add(data)
		}
	}
}

// FuzzCommit: whatever can be read can be written and read again.
func FuzzCommit(f *testing.F) {
	seedCommits(f, func(data []byte) { f.Add(data) })
	f.Add([]byte(`{"commitInfo":{"timestamp":"x","operationMetrics":{"a":{"b":1}},"userMetadata":7}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = parseActions("fuzz", data, func(a *Action) error {
			line, err := marshal(a)
			if err != nil {
				t.Fatalf("%+v cannot be written: %v", a, err)
			}
			if _, err := parseAction(line); err != nil {
				t.Fatalf("%s cannot be read again: %v", line, err)
			}
			s := newState(nil)
			b := &batch{}
			b.put(a)
			s.apply(b)
			return nil
		})
	})
}

func FuzzSchema(f *testing.F) {
	f.Add(everyType)
	f.Add(`{"type":"struct","fields":[{"name":"a","type":"decimal","nullable":null,"metadata":null}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSchema(text)
		if err != nil {
			return
		}
		out, err := FormatSchema(s)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseSchema(out)
		if err != nil || !Equal(s, again) {
			t.Fatalf("%s became %s: %v", text, out, err)
		}
		if a, err := ToArrow(s, ArrowOptions{Physical: true, FieldIDs: true}); err == nil {
			if _, err := FromArrow(a); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// FuzzStats: the quick scanner and the parser agree, and nothing panics.
func FuzzStats(f *testing.F) {
	schema, err := ParseSchema(everyType)
	must(err)
	f.Add(`{"numRecords":3,"minValues":{"l":1,"st":{"x":2}},"maxValues":{"l":9,"dec":1E-10},"nullCount":{"l":0},"tightBounds":false}`)
	f.Add(`{"numRecords":1,"minValues":{"f":"NaN","str":"\u0061\"","ts":"2024-01-01T00:00:00.000+02:00"},"\u006eullCount":{}}`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseStats(text, schema)
		a := &Add{Stats: text}
		n, ok := a.NumRecords()
		p := Where(Comparison{Column: "l", Op: OpEq, Values: []Value{IntValue(5)}})
		newPruner(p, schema, nil).mayMatch(nil, text)
		if err != nil {
			return
		}
		// Keys that differ in case only are taken alike by encoding/json.
		if s.NumRecords >= 0 && ok && n != s.NumRecords && strings.Count(strings.ToLower(text), "numrecords") == 1 {
			t.Fatalf("scanned %d, parsed %d", n, s.NumRecords)
		}
		out, err := s.Encode()
		if err != nil {
			return // names that are both a column and a struct
		}
		if !json.Valid([]byte(out)) {
			t.Fatalf("%s is no JSON", out)
		}
	})
}

func FuzzZ85(f *testing.F) {
	f.Add("HelloWorld")
	f.Fuzz(func(t *testing.T, text string) {
		raw, err := decodeZ85(text)
		if err == nil && encodeZ85(raw) != text {
			t.Fatalf("%q became %q", text, encodeZ85(raw))
		}
	})
}

// FuzzDeletionVector: hostile bitmaps give an error, never a panic, and what is
// taken survives being written.
func FuzzDeletionVector(f *testing.F) {
	f.Add([]byte("\xd1\xd39d\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00:0\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x10\x00\x00\x00\x01\x00"))
	f.Add([]byte("\xd1\xd39d\xff\xff\xff\xff\xff\xff\xff\x7f\x00\x00\x00\x00"))
	f.Add([]byte("\xd1\xd39d\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00;0\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, payload []byte) {
		rows, err := decodeVector(payload)
		if err != nil {
			return
		}
		n := rows.GetCardinality()
		out, err := encodeVector(rows)
		if err != nil {
			t.Fatal(err)
		}
		again, err := decodeVector(out)
		if err != nil || again.GetCardinality() != n || !again.Equals(rows) {
			t.Fatalf("%x became %x: %v", payload, out, err)
		}
	})
}

func FuzzLastCheckpoint(f *testing.F) {
	f.Add([]byte(`{"version":6,"size":1,"checksum":"x"}`))
	f.Add([]byte(`{"version":6,"size":10,"v2Checkpoint":{"path":"a.json","sidecarFiles":[{"path":"b"}],"nonFileActions":[{"txn":{"appId":"a"}}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := parseHint(data)
		if err != nil {
			return
		}
		out, err := h.encode()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := parseHint(out); err != nil || again.Version != h.Version {
			t.Fatalf("%s: %v", out, err)
		}
	})
}

func FuzzValues(f *testing.F) {
	for _, s := range []string{"2024-02-29", "-0044-03-15", "+10000-01-01", "2024-01-01 00:00:00.123456", "2024-01-01T00:00:00.1Z", "2024-01-01T00:00:00+05:30", "-1E-10", "1e400", "9.9", "NaN"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := parseDate(text); err == nil {
			if again, err := parseDate(formatDate(d)); err != nil || again != d {
				t.Fatalf("date %q is %d, then %d (%v)", text, d, again, err)
			}
		}
		if us, err := parseTimestamp(text); err == nil {
			if again, err := parseTimestamp(formatTimestamp(us)); err != nil || again != us {
				t.Fatalf("timestamp %q is %d, then %d (%v)", text, us, again, err)
			}
		}
		if v, err := parseDecimal(text); err == nil {
			if again, err := parseDecimal(formatDecimal(v)); err != nil || !again.Equal(v) {
				t.Fatalf("decimal %q is %v, then %v (%v)", text, v, again, err)
			}
		}
		if _, object, err := decodePath(text); err == nil && !strings.ContainsAny(text, ":") && !strings.HasPrefix(object, "/") {
			if _, again, err := decodePath(EncodePath(object)); err != nil || again != object {
				t.Fatalf("path %q is %q, then %q (%v)", text, object, again, err)
			}
		}
		parseLogName(text)
	})
}
