package mssql

import (
	"testing"
	"time"
)

func TestWhichServersKnowTheirZone(t *testing.T) {
	t.Parallel()
	// Microsoft: CURRENT_TIMEZONE_ID applies to SQL Server 2022 (16.x) and
	// later, Azure SQL Database and Managed Instance.
	for _, tc := range []struct {
		version, edition string
		want             bool
	}{{"16.0.4125.3", "3", true}, {"17.0.1", "2", true}, {"15.0.4000.1", "3", false}, {"12.0.2000.8", "5", true}, {"12.0.2000.8", "8", true}, {"13.0.5026.0", "3", false}, {"", "", false}, {"sixteen", "3", false}} {
		if got := knowsItsZone(tc.version, tc.edition); got != tc.want {
			t.Errorf("%+v: %v", tc, got)
		}
	}
}

func TestNamesOfOffsets(t *testing.T) {
	t.Parallel()
	for minutes, want := range map[int]string{-180: "UTC-03:00", 0: "UTC+00:00", 330: "UTC+05:30", -210: "UTC-03:30"} {
		if got := offsetName(minutes); got != want {
			t.Errorf("%d: %s", minutes, got)
		}
	}
}

func TestCommitTimesAsText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2026-09-28T14:03:12.117": "2026-09-28T14:03:12.117", "2026-09-28T14:03:12": "2026-09-28T14:03:12.000",
	} {
		got, err := parseLocal(text)
		if err != nil || formatLocal(got) != want {
			t.Errorf("%q is %s, %v", text, formatLocal(got), err)
		}
	}
	for _, bad := range []string{"", "now", "2026-09-28 14:03:12"} {
		if _, err := parseLocal(bad); err == nil {
			t.Errorf("%q is a time", bad)
		}
	}
}

func local(clock string) int64 {
	t, err := time.Parse("15:04:05", clock)
	if err != nil {
		panic(err)
	}
	return time.Date(2026, 11, 1, t.Hour(), t.Minute(), t.Second(), 0, time.UTC).UnixMicro()
}

// In the night of a fall-back commits of the second pass read earlier than
// those of the first; the first that does decides for all that follow.
func TestCommitsAfterADropAreInTheSecondPass(t *testing.T) {
	t.Parallel()
	drops := []drop{{at(30), local("01:05:00")}}
	for _, tc := range []struct {
		name  string
		lsn   int
		local string
		want  bool
	}{
		{"first pass", 20, "01:50:00", false}, {"the drop itself", 30, "01:05:00", true}, {"after it", 31, "01:30:00", true},
		{"after the repeated hour", 40, "02:10:00", true}, {"more than three hours later", 50, "04:05:01", false},
	} {
		if got := second(drops, at(tc.lsn), local(tc.local)); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
	if second(nil, at(31), local("01:30:00")) {
		t.Error("without a drop there is no second pass")
	}
}

// Offsets are those of Microsoft: Default time zones.
func TestAStoredTimeIsTheLocalOneByAnyOffset(t *testing.T) {
	t.Parallel()
	base := local("12:00:00")
	minute := time.Minute.Microseconds()
	for _, tc := range []struct {
		name string
		off  int64
		want bool
	}{
		{"UTC", 0, true}, {"Nepal", (5*60 + 45) * minute, true}, {"Kiritimati", 14 * 60 * minute, true}, {"Dateline", -12 * 60 * minute, true},
		{"no offset has so many hours", (14*60 + 15) * minute, false}, {"a second later", 1_000_000, false}, {"a tick later", 60*minute + 3000, false},
		{"a minute later", minute, false}, {"a day later", 24 * 60 * minute, false}, {"a day before", -24 * 60 * minute, false},
	} {
		if got := sameTime(base+tc.off, base); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
}
