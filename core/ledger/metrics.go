package ledger

import (
	"math"
	"slices"
	"strconv"

	"github.com/pipectl/pipectl/core/plugin"
)

// fold turns the measurements of a batch's ranges into columns, and says where
// the batch ended. Without any measurement everything is NULL. Headroom and lag
// are counted from the end of the batch and not from its last change, which on
// a quiet table is old although the stream is current; newest stands in for an
// end whose commit time is not known.
func fold(ranges []plugin.ReadMetrics, newest plugin.Position) (measures, plugin.Position) {
	var m measures
	if len(ranges) == 0 {
		return m, plugin.Position{}
	}
	var (
		seconds float64
		bytes   int64
		rtts    []float64
		waits   int64
		waited  = true
		last    plugin.ReadMetrics
	)
	for _, r := range ranges {
		seconds += r.Seconds
		bytes += r.Bytes
		if r.RTTMillis != nil {
			rtts = append(rtts, *r.RTTMillis)
		}
		if r.NetworkWaitMs == nil {
			waited = false
		} else {
			waits += *r.NetworkWaitMs
		}
		if last.To == "" || r.To > last.To {
			last = r
		}
		m.watermark = later(m.watermark, r.RetentionWatermark)
		m.sourceMax = later(m.sourceMax, r.SourceMaxCommit)
		if r.CaptureLagSeconds != nil && (m.captureLag == nil || *r.CaptureLagSeconds > *m.captureLag) {
			m.captureLag = r.CaptureLagSeconds
		}
	}
	m.readSeconds = rounded(seconds, 3)
	m.readMB = rounded(float64(bytes)/1e6, 6)
	if len(rtts) > 0 {
		m.rttMillis = rounded(median(rtts), 1)
	}
	if waited {
		m.networkWaitMillis = &waits
	}
	if m.captureLag != nil {
		m.captureLag = rounded(*m.captureLag, 3)
	}
	end := plugin.Position{Text: last.To}
	if last.ToCommit != nil {
		end.CommitMicros, end.HasCommit = *last.ToCommit, true
	}
	reached := commitMicros(end)
	if reached == nil {
		reached = commitMicros(newest)
	}
	if reached != nil && m.watermark != nil {
		m.headroomHours = headroomHours(*reached, *m.watermark)
	}
	if reached != nil && m.sourceMax != nil {
		m.ingestionLag = rounded(float64(*m.sourceMax-*reached)/1e6, 3)
	}
	return m, end
}

// headroomHours is the time between two instants in microseconds.
func headroomHours(reached, watermark int64) *float64 {
	return rounded(float64(reached-watermark)/3.6e9, 2)
}

func later(a, b *int64) *int64 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

func median(v []float64) float64 {
	slices.Sort(v)
	half := len(v) / 2
	if len(v)%2 == 1 {
		return v[half]
	}
	return (v[half-1] + v[half]) / 2
}

// rounded is exact decimal rounding. A number that is none is not measured.
func rounded(v float64, digits int) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'f', digits, 64), 64)
	if err != nil {
		return nil
	}
	return &r
}
