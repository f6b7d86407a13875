package ledger

import (
	"testing"
	"time"

	"github.com/pipectl/pipectl/core/plugin"
)

func micros(text string) *int64 {
	at, err := time.Parse("2006-01-02T15:04:05", text)
	if err != nil {
		panic(err)
	}
	return new(at.UnixMicro())
}

func TestFold(t *testing.T) {
	t.Parallel()
	last := func(m plugin.ReadMetrics) plugin.ReadMetrics {
		m.Last, m.ToCommit, m.RetentionWatermark = true, micros("2026-03-04T10:00:00"), micros("2026-03-01T12:00:00")
		m.SourceMaxCommit, m.CaptureLagSeconds = micros("2026-03-04T10:00:01.5"), new(-0.12345)
		return m
	}
	tests := []struct {
		rule   string
		ranges []plugin.ReadMetrics
		newest plugin.Position
		check  func(measures, plugin.Position) bool
	}{
		{"no measurement: everything NULL", nil, plugin.At("0x5", time.Now()), func(m measures, end plugin.Position) bool {
			return m == measures{} && end == plugin.Position{}
		}},
		{"round trips of 2 and 4 ms have the median 3", []plugin.ReadMetrics{{To: "1", RTTMillis: new(2.0)}, {To: "2", RTTMillis: new(4.0)}}, plugin.Position{},
			func(m measures, _ plugin.Position) bool { return *m.rttMillis == 3.0 }},
		{"the median of three is the middle one, with one digit", []plugin.ReadMetrics{{To: "1", RTTMillis: new(9.0)}, {To: "2", RTTMillis: new(1.26)}, {To: "3", RTTMillis: new(0.1)}}, plugin.Position{},
			func(m measures, _ plugin.Position) bool { return *m.rttMillis == 1.3 }},
		{"a range without round trip does not count in the median", []plugin.ReadMetrics{{To: "1"}, {To: "2", RTTMillis: new(4.0)}}, plugin.Position{},
			func(m measures, _ plugin.Position) bool { return *m.rttMillis == 4.0 }},
		{"one range without a network wait makes it NULL, not a partial sum", []plugin.ReadMetrics{{To: "1", NetworkWaitMs: new(int64(5))}, {To: "2"}}, plugin.Position{},
			func(m measures, _ plugin.Position) bool { return m.networkWaitMillis == nil }},
		{"network waits add up", []plugin.ReadMetrics{{To: "1", NetworkWaitMs: new(int64(5))}, {To: "2", NetworkWaitMs: new(int64(0))}}, plugin.Position{},
			func(m measures, _ plugin.Position) bool { return *m.networkWaitMillis == 5 }},
		{"seconds and megabytes add up, empty ranges included", []plugin.ReadMetrics{{To: "1", Seconds: 0.1234, Bytes: 1}, {To: "2", Seconds: 0.1, Bytes: 2_000_000}}, plugin.Position{},
			func(m measures, _ plugin.Position) bool { return *m.readSeconds == 0.223 && *m.readMB == 2.000001 }},
		{"the end is that of the largest range, in any order", []plugin.ReadMetrics{last(plugin.ReadMetrics{To: "0x9"}), {To: "0x5"}}, plugin.Position{},
			func(m measures, end plugin.Position) bool {
				return end.Text == "0x9" && end.CommitText() == "2026-03-04T10:00:00.000"
			}},
		{"headroom counts from the end of the batch, not from its last change", []plugin.ReadMetrics{last(plugin.ReadMetrics{To: "0x9"})}, plugin.At("0x2", time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC)),
			func(m measures, _ plugin.Position) bool { return *m.headroomHours == 70 && *m.ingestionLag == 1.5 }},
		{"a negative capture lag stays", []plugin.ReadMetrics{last(plugin.ReadMetrics{To: "0x9"})}, plugin.Position{},
			func(m measures, _ plugin.Position) bool { return *m.captureLag == -0.123 }},
		{"the last change stands in for an end without time", []plugin.ReadMetrics{{To: "0x9", RetentionWatermark: micros("2026-03-01T12:00:00")}}, plugin.At("0x2", time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC)),
			func(m measures, end plugin.Position) bool { return *m.headroomHours == 1 && !end.HasCommit }},
		{"no time at all: no headroom", []plugin.ReadMetrics{{To: "0x9", RetentionWatermark: micros("2026-03-01T12:00:00")}}, plugin.Position{},
			func(m measures, _ plugin.Position) bool { return m.headroomHours == nil && m.ingestionLag == nil }},
	}
	for _, tt := range tests {
		if m, end := fold(tt.ranges, tt.newest); !tt.check(m, end) {
			t.Errorf("%s: got %+v, %+v", tt.rule, m, end)
		}
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	var c Counts
	c.Add(plugin.End{Rows: 5, Operations: map[int32]int64{1: 1, 2: 2, 3: 1, 4: 1}, Least: plugin.Position{Text: "0x5"}, Greatest: plugin.Position{Text: "0x6"}})
	c.Add(plugin.End{})
	c.Add(plugin.End{Rows: 1, Operations: map[int32]int64{2: 1}, Least: plugin.Position{Text: "0x2"}, Greatest: plugin.Position{Text: "0x2"}})
	want := Counts{Rows: 6, Deletes: 1, Inserts: 3, Updates: 1, Least: plugin.Position{Text: "0x2"}, Greatest: plugin.Position{Text: "0x6"}}
	if c != want {
		t.Errorf("got %+v, want %+v", c, want)
	}
}
