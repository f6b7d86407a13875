package schema

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseDuration reads a duration as the language writes them: "90s", "20m",
// "72h", "7d", "1h30m", "250ms". A day is 24 hours. Durations are not negative.
func ParseDuration(text string) (time.Duration, error) {
	fault := fmt.Errorf(`%q is no duration; write it like "90s", "20m", "72h" or "7d"`, text)
	days, rest, hasDays := strings.Cut(text, "d")
	if !hasDays {
		rest = text
	}
	var total time.Duration
	if hasDays {
		n, err := strconv.ParseUint(days, 10, 31)
		if err != nil || n > uint64(math.MaxInt64/(24*time.Hour)) {
			return 0, fault
		}
		total = time.Duration(n) * 24 * time.Hour
		if rest == "" {
			return total, nil
		}
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d < 0 || strings.HasPrefix(rest, "+") || rest == "0" || total+d < total {
		return 0, fault
	}
	return total + d, nil
}

// FormatDuration writes a duration as the language does, with no unit that
// counts nothing: "2m", not "2m0s". ParseDuration reads it back.
func FormatDuration(d time.Duration) string {
	text := d.String()
	if rest, ok := strings.CutSuffix(text, "m0s"); ok {
		text = rest + "m"
	}
	if rest, ok := strings.CutSuffix(text, "h0m"); ok {
		text = rest + "h"
	}
	return text
}

// ParseSize reads a number of bytes as the language writes them: "64MiB",
// "1GiB", "512KiB", "100B". Units are powers of 1024.
func ParseSize(text string) (int64, error) {
	fault := fmt.Errorf(`%q is no size; write it like "512KiB", "64MiB" or "1GiB"`, text)
	units := []struct {
		suffix string
		bytes  int64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"B", 1}}
	for _, u := range units {
		digits, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 63)
		if err != nil || int64(n) > math.MaxInt64/u.bytes {
			return 0, fault
		}
		return int64(n) * u.bytes, nil
	}
	return 0, fault
}

// ParseTime reads a time with its zone, RFC 3339: "2026-03-01T00:00:00Z". A
// time without a zone is an error: it would mean something else on another
// machine.
func ParseTime(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}, fmt.Errorf(`%q is no time with a zone; write it like "2026-03-01T00:00:00Z" or "2026-03-01T00:00:00+01:00"`, text)
	}
	return t, nil
}
