package host

import (
	"fmt"

	"github.com/hashicorp/go-hclog"
)

// maskedLogger hands go-plugin's lines, which are a plugin's own, to the host's
// logger without sensitive values.
type maskedLogger struct {
	hclog.Logger
	mask *mask
}

func (l maskedLogger) args(list []any) []any {
	out := make([]any, len(list))
	for i, a := range list {
		switch v := a.(type) {
		case string:
			out[i] = l.mask.text(v)
		case error, fmt.Stringer, []string, []byte:
			out[i] = l.mask.text(fmt.Sprint(v))
		default:
			out[i] = a
		}
	}
	return out
}

func (l maskedLogger) Log(level hclog.Level, msg string, args ...any) {
	l.Logger.Log(level, l.mask.text(msg), l.args(args)...)
}

func (l maskedLogger) Trace(msg string, args ...any) { l.Log(hclog.Trace, msg, args...) }
func (l maskedLogger) Debug(msg string, args ...any) { l.Log(hclog.Debug, msg, args...) }
func (l maskedLogger) Info(msg string, args ...any)  { l.Log(hclog.Info, msg, args...) }
func (l maskedLogger) Warn(msg string, args ...any)  { l.Log(hclog.Warn, msg, args...) }
func (l maskedLogger) Error(msg string, args ...any) { l.Log(hclog.Error, msg, args...) }

func (l maskedLogger) With(args ...any) hclog.Logger {
	return maskedLogger{Logger: l.Logger.With(l.args(args)...), mask: l.mask}
}

func (l maskedLogger) Named(name string) hclog.Logger {
	return maskedLogger{Logger: l.Logger.Named(name), mask: l.mask}
}

func (l maskedLogger) ResetNamed(name string) hclog.Logger {
	return maskedLogger{Logger: l.Logger.ResetNamed(name), mask: l.mask}
}
