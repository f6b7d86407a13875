package tds

import (
	"fmt"
	"time"
)

// Ticks are the unit of date and time values in the typed path: 100 ns since 0001-01-01T00:00:00, the calendar being
// the proleptic Gregorian one, as SQL Server counts (Microsoft: [MS-TDS] Data Types, DATETIME2N).
const (
	ticksPerSecond = 10_000_000
	ticksPerDay    = 24 * 60 * 60 * ticksPerSecond
	daysPerRange   = 3_652_059 // from 0001-01-01 to 9999-12-31
	maxTicks       = daysPerRange*ticksPerDay - 1
	days1900       = 693_595 // from 0001-01-01 to 1900-01-01, the epoch of datetime
	unixSeconds    = 62_135_596_800
)

// tickDivisor brings ticks to a number of fractional digits.
var tickDivisor = [8]int64{10_000_000, 1_000_000, 100_000, 10_000, 1000, 100, 10, 1}

// TicksOf is the date and time that t shows on its own clock, in ticks; digits below 100 ns are cut.
// It is outside 0 to 3,652,059 days for years that SQL Server does not have.
func TicksOf(t time.Time) int64 {
	_, offset := t.Zone()
	return (t.Unix()+int64(offset)+unixSeconds)*ticksPerSecond + int64(t.Nanosecond())/100
}

// TimeOf is the reverse of TicksOf, in UTC.
func TimeOf(ticks int64) time.Time {
	return time.Unix(ticks/ticksPerSecond-unixSeconds, ticks%ticksPerSecond*100).UTC()
}

// appendMoment appends the value of a date or time type without its length. Digits beyond the scale are cut, but
// datetime takes the nearest 1/300 s. offset is the minutes east of UTC of a datetimeoffset, whose ticks are local.
func appendMoment(b []byte, t *Type, ticks int64, offset int) ([]byte, error) {
	if t.ID == IDDateTimeOffset {
		if offset < -840 || offset > 840 {
			return b, fmt.Errorf("offset of %d minutes, %s allows 14 hours", offset, *t)
		}
		ticks -= int64(offset) * 60 * ticksPerSecond
	}
	if ticks < 0 || ticks > maxTicks {
		return b, fmt.Errorf("%d ticks are outside the years 1 to 9999 of %s", ticks, *t)
	}
	day, tick := ticks/ticksPerDay, ticks%ticksPerDay
	switch t.ID {
	case IDDate:
		return appendDay(b, day), nil
	case IDTime:
		return appendClock(b, t.Scale, tick), nil
	case IDDateTime2:
		return appendDay(appendClock(b, t.Scale, tick), day), nil
	case IDDateTimeOffset:
		return u16(appendDay(appendClock(b, t.Scale, tick), day), uint16(int16(offset))), nil
	case IDDateTimeN:
		return appendDateTime(b, t, day-days1900, tick)
	}
	return b, fmt.Errorf("a date or time does not fit %s", *t)
}

func appendDay(b []byte, day int64) []byte {
	return append(b, byte(day), byte(day>>8), byte(day>>16))
}

func appendClock(b []byte, scale byte, tick int64) []byte {
	v := uint64(tick / tickDivisor[scale])
	switch timeSize(scale) {
	case 3:
		return append(b, byte(v), byte(v>>8), byte(v>>16))
	case 4:
		return append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	}
	return append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24), byte(v>>32))
}

// appendDateTime appends datetime (days from 1900, 1/300 s) or smalldatetime (days from 1900, minutes).
func appendDateTime(b []byte, t *Type, day, tick int64) ([]byte, error) {
	if t.Size == 4 {
		if day < 0 || day > 65535 {
			return b, fmt.Errorf("%d days from 1900-01-01 are outside smalldatetime", day)
		}
		return u16(u16(b, uint16(day)), uint16(tick/(60*ticksPerSecond))), nil
	}
	const perDay = 24 * 60 * 60 * 300
	n := (tick*3 + 50_000) / 100_000
	if n == perDay {
		day, n = day+1, 0
	}
	if day < -53690 || day > daysPerRange-days1900-1 { // 1753-01-01 to 9999-12-31
		return b, fmt.Errorf("%d days from 1900-01-01 are outside datetime", day)
	}
	return u32(u32(b, uint32(int32(day))), uint32(n)), nil
}

// moment reads the value of a date or time type.
func (d *decoder) moment(t Type, p []byte) any {
	day := func(p []byte) int64 {
		n := int64(littleEndian(p))
		if n >= daysPerRange {
			d.fail("%s: day %d", t, n)
			return 0
		}
		return n * ticksPerDay
	}
	clock := func(p []byte) int64 {
		n := int64(littleEndian(p))
		if n >= ticksPerDay/tickDivisor[t.Scale] {
			d.fail("%s: time of day %d", t, n)
			return 0
		}
		return n * tickDivisor[t.Scale]
	}
	if t.ID == IDDateTimeN {
		return d.dateTime(t, p)
	}
	n := timeSize(t.Scale)
	switch t.ID {
	case IDDate:
		return TimeOf(day(p))
	case IDTime:
		return TimeOf(clock(p))
	case IDDateTime2:
		return TimeOf(clock(p[:n]) + day(p[n:]))
	}
	offset := int(int16(littleEndian(p[n+3:])))
	if offset < -840 || offset > 840 {
		d.fail("%s: offset of %d minutes", t, offset)
		return nil
	}
	return TimeOf(clock(p[:n]) + day(p[n:n+3])).In(time.FixedZone("", offset*60))
}

func (d *decoder) dateTime(t Type, p []byte) any {
	var day, tick int64
	if t.Size == 4 || len(p) == 4 {
		minutes := int64(littleEndian(p[2:4]))
		day, tick = int64(littleEndian(p[:2])), minutes*60*ticksPerSecond
	} else {
		n := int64(littleEndian(p[4:8]))
		day, tick = int64(int32(littleEndian(p[:4]))), n*100_000/3
	}
	day += days1900
	if day < 0 || day >= daysPerRange || tick >= ticksPerDay {
		d.fail("%s: % x", t, p)
		return nil
	}
	return TimeOf(day*ticksPerDay + tick)
}

// momentText is how a client older than TDS 7.3 is sent the value of a type it does not know: with all digits of the
// scale.
func momentText(t Type, ticks int64, offset int) string {
	fraction := ""
	if t.Scale > 0 {
		fraction = "." + "0000000"[:t.Scale]
	}
	x := TimeOf(ticks)
	switch t.ID {
	case IDDate:
		return x.Format("2006-01-02")
	case IDTime:
		return x.Format("15:04:05" + fraction)
	case IDDateTime2:
		return x.Format("2006-01-02 15:04:05" + fraction)
	}
	sign := '+'
	if offset < 0 {
		sign, offset = '-', -offset
	}
	return x.Format("2006-01-02 15:04:05"+fraction) + fmt.Sprintf(" %c%02d:%02d", sign, offset/60, offset%60)
}
