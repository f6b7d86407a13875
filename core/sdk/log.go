package sdk

import (
	"io"
	"log/slog"
	"strings"
	"time"
)

// newLogger returns a logger whose lines the host takes apart again: JSON with
// the keys of hclog (@timestamp, @level, @message), the only form that
// go-plugin reads. Secrets are masked by the host, but better not logged.
func newLogger(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: hclogKeys}))
}

func hclogKeys(groups []string, a slog.Attr) slog.Attr {
	if len(groups) > 0 {
		return a
	}
	switch a.Key {
	case slog.TimeKey:
		return slog.String("@timestamp", a.Value.Time().Format("2006-01-02T15:04:05.000000Z07:00"))
	case slog.LevelKey:
		return slog.String("@level", strings.ToLower(a.Value.String()))
	case slog.MessageKey:
		a.Key = "@message"
	default:
		// A duration or time would arrive as a number without its unit.
		switch a.Value.Kind() {
		case slog.KindDuration:
			a.Value = slog.StringValue(a.Value.Duration().String())
		case slog.KindTime:
			a.Value = slog.StringValue(a.Value.Time().Format(time.RFC3339Nano))
		}
	}
	return a
}

// logLevel reads the level that the host asks for; anything else is info.
func logLevel(name string) slog.Level {
	var level slog.Level
	if err := level.UnmarshalText([]byte(name)); err != nil {
		return slog.LevelInfo
	}
	return level
}
