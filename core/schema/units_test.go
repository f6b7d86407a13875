package schema_test

import (
	"testing"
	"time"

	"github.com/pipectl/pipectl/core/schema"
)

func TestParseDuration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "20m": 20 * time.Minute, "72h": 72 * time.Hour, "7d": 7 * 24 * time.Hour,
		"1d12h": 36 * time.Hour, "1h30m": 90 * time.Minute, "250ms": 250 * time.Millisecond, "0s": 0,
	} {
		if got, err := schema.ParseDuration(text); err != nil || got != want {
			t.Errorf("%q: got %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "5", "-5s", "+5s", "d", "7dd", "1.5d", "7 d", "s", "0", "999999999d", "106751d48h"} {
		if got, err := schema.ParseDuration(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}

func TestFormatDuration(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]time.Duration{
		"0s": 0, "2m": 2 * time.Minute, "1h30m": 90 * time.Minute, "30s": 30 * time.Second, "1m10s": 70 * time.Second,
		"72h": 72 * time.Hour, "250ms": 250 * time.Millisecond, "1h0m5s": time.Hour + 5*time.Second,
	} {
		got := schema.FormatDuration(d)
		if got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
		if back, err := schema.ParseDuration(got); err != nil || back != d {
			t.Errorf("%q is read back as %v, %v", got, back, err)
		}
	}
}

func TestParseSize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"100B": 100, "512KiB": 512 << 10, "64MiB": 64 << 20, "1GiB": 1 << 30, "2TiB": 2 << 40} {
		if got, err := schema.ParseSize(text); err != nil || got != want {
			t.Errorf("%q: got %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "64", "64MB", "-1MiB", "1.5GiB", "MiB", "64 MiB", "9999999999TiB"} {
		if got, err := schema.ParseSize(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}

func TestParseTimeNeedsAZone(t *testing.T) {
	t.Parallel()
	got, err := schema.ParseTime("2026-03-01T01:00:00+01:00")
	if err != nil || !got.Equal(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("got %v, %v", got, err)
	}
	for _, text := range []string{"2026-03-01T00:00:00", "2026-03-01", "", "now"} {
		if got, err := schema.ParseTime(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}
