package tsql

import (
	"strings"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

var dateParts = map[string]string{"year": "year", "yy": "year", "yyyy": "year", "quarter": "quarter", "qq": "quarter", "q": "quarter", "month": "month", "mm": "month", "m": "month",
	"dayofyear": "dayofyear", "dy": "dayofyear", "y": "dayofyear", "day": "day", "dd": "day", "d": "day", "week": "week", "wk": "week", "ww": "week",
	"weekday": "weekday", "dw": "weekday", "hour": "hour", "hh": "hour", "minute": "minute", "mi": "minute", "n": "minute", "second": "second", "ss": "second", "s": "second",
	"millisecond": "millisecond", "ms": "millisecond", "microsecond": "microsecond", "mcs": "microsecond", "nanosecond": "nanosecond", "ns": "nanosecond",
	"tzoffset": "tzoffset", "tz": "tzoffset", "iso_week": "iso_week", "isowk": "iso_week", "isoww": "iso_week", "w": "weekday"}

// unitTicks are the lengths of date parts in 100 ns; nanoseconds are smaller and handled apart.
var unitTicks = map[string]int64{"week": 7 * sqltype.TicksPerDay, "day": sqltype.TicksPerDay, "dayofyear": sqltype.TicksPerDay, "weekday": sqltype.TicksPerDay,
	"hour": 60 * sqltype.TicksPerMinute, "minute": sqltype.TicksPerMinute, "second": sqltype.TicksPerSecond, "millisecond": sqltype.TicksPerSecond / 1000, "microsecond": 10}

func (b *binder) dateFunction(name, word string, args []expr) expr {
	part, ok := dateParts[word]
	if !ok {
		failf(155, "'%s' is not a recognized %s option.", word, strings.ToLower(name))
	}
	switch name {
	case "DATEPART":
		return b.datePart(part, args[0])
	case "DATENAME":
		return b.dateName(part, args[0])
	case "DATEADD":
		return b.dateAdd(part, args[0], args[1])
	case "DATETRUNC":
		return b.truncated(part, args[0])
	case "DATE_BUCKET":
		return b.bucket(part, args)
	}
	return b.dateDiff(name, part, args[0], args[1])
}

// asTime converts text given where a date is wanted.
func (b *binder) asTime(e expr) expr {
	if e.typ.Class() == sqltype.ClassTime {
		return e
	}
	if e.typ.Class() == sqltype.ClassString {
		return b.cast(e, sqltype.Scaled(sqltype.DateTimeOffset, 7), 0)
	}
	return b.given(e, sqltype.Of(sqltype.DateTime))
}

// localTicks gives the ticks the value's own clock shows.
func localTicks(v sqltype.Value) int64 { return v.Ticks() + int64(v.Offset())*sqltype.TicksPerMinute }

func (b *binder) datePart(part string, e expr) expr {
	e = b.asTime(e)
	partless("datepart", part, e.typ)
	locale := b.locale()
	return folded(expr{typ: sqltype.Of(sqltype.Int), null: e.null, konst: e.konst, eval: func(f *frame) sqltype.Value {
		v := e.eval(f)
		if v.IsNull() {
			return v
		}
		return sqltype.FromInt(partOf(part, localTicks(v), v.Offset(), locale.First()))
	}})
}

// partOf gives a part of a time; first is the first day of the week, 1 for Monday (Microsoft: SET DATEFIRST (Transact-SQL)).
func partOf(part string, ticks int64, offset, first int) int64 {
	t := sqltype.TimeOf(ticks)
	switch part {
	case "year":
		return int64(t.Year())
	case "quarter":
		return int64(t.Month()-1)/3 + 1
	case "month":
		return int64(t.Month())
	case "day":
		return int64(t.Day())
	case "dayofyear":
		return int64(t.YearDay())
	case "week":
		newYear := time.Date(t.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
		return int64(t.YearDay()-1+dayOfWeek(newYear, first)-1)/7 + 1
	case "weekday":
		return int64(dayOfWeek(t, first))
	case "iso_week":
		return isoWeek(t)
	case "hour":
		return int64(t.Hour())
	case "minute":
		return int64(t.Minute())
	case "second":
		return int64(t.Second())
	case "millisecond":
		return int64(t.Nanosecond() / 1e6)
	case "microsecond":
		return int64(t.Nanosecond() / 1e3)
	case "nanosecond":
		return int64(t.Nanosecond())
	}
	return int64(offset)
}

// dayOfWeek numbers a day from the first of the week, which is 1 for Monday.
func dayOfWeek(t time.Time, first int) int { return (int(t.Weekday())-first+7)%7 + 1 }

func (b *binder) dateAdd(part string, n, e expr) expr {
	n = b.given(n, sqltype.Of(sqltype.Int))
	if e.typ.Class() == sqltype.ClassString {
		e = b.cast(e, sqltype.Of(sqltype.DateTime), 0)
	}
	e = b.asTime(e)
	t := e.typ
	unit := unitTicks[part]
	months := map[string]int{"year": 12, "quarter": 3, "month": 1}[part]
	partless("dateadd", part, t)
	return folded(expr{typ: t, null: e.null || n.null, konst: e.konst && n.konst, eval: func(f *frame) sqltype.Value {
		v, k := e.eval(f), n.eval(f)
		if v.IsNull() || k.IsNull() {
			return sqltype.Value{}
		}
		ticks, in := addParts(part, localTicks(v), k.Int(), unit, months)
		switch t.Kind {
		case sqltype.Time: // goes round the clock
			return sqltype.FromTicks(timeOfDay(ticks))
		case sqltype.DateTime:
			in = in && ticks >= firstDateTime
		case sqltype.SmallDateTime:
			ticks = sqltype.SmallDateTimeTicks(ticks)
			in = in && ticks >= firstSmall && ticks < endOfSmall
		case sqltype.DateTimeOffset:
			utc := ticks - int64(v.Offset())*sqltype.TicksPerMinute
			in = in && utc >= 0 && utc < endOfDays
		}
		if !in || ticks < 0 || ticks >= endOfDays {
			b.fail(sqltype.Errorf(517, "Adding a value to a '%s' column caused an overflow.", t.Kind))
			return sqltype.Value{}
		}
		if t.Kind == sqltype.DateTimeOffset {
			return sqltype.FromTicksOffset(ticks-int64(v.Offset())*sqltype.TicksPerMinute, v.Offset())
		}
		if t.Kind == sqltype.DateTime {
			ticks = sqltype.DateTimeTicks(ticks)
		}
		return sqltype.FromTicks(ticks)
	}})
}

var (
	endOfDays     = sqltype.TicksOf(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC))
	firstDateTime = sqltype.TicksOf(time.Date(1753, 1, 1, 0, 0, 0, 0, time.UTC))
	firstSmall    = sqltype.TicksOf(time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC))
	endOfSmall    = firstSmall + 65536*sqltype.TicksPerDay
)

// timeOfDay gives ticks of a time as it is held: on the day that SQL Server counts from.
func timeOfDay(ticks int64) int64 {
	n := (ticks - firstSmall) % sqltype.TicksPerDay
	if n < 0 {
		n += sqltype.TicksPerDay
	}
	return firstSmall + n
}

// addParts adds so many parts to a clock; in is false where the sum is out of any range.
func addParts(part string, ticks, n, unit int64, months int) (sum int64, in bool) {
	switch {
	case part == "nanosecond": // of 100 each
		half := int64(50)
		if n < 0 {
			half = -half
		}
		return ticks + (n+half)/100, true
	case unit > 0:
		if n > endOfDays/unit || n < -endOfDays/unit {
			return 0, false
		}
		return ticks + n*unit, true
	case n*int64(months) > 120_000 || n*int64(months) < -120_000:
		return 0, false
	}
	return addMonths(ticks, int(n)*months), true
}

// addMonths keeps the day, or takes the last of a shorter month ("Microsoft: DATEADD (Transact-SQL)").
func addMonths(ticks int64, n int) int64 {
	t := sqltype.TimeOf(ticks - ticks%sqltype.TicksPerDay)
	first := time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC).AddDate(0, n, 0)
	last := first.AddDate(0, 1, -1).Day()
	day := first.AddDate(0, 0, min(t.Day(), last)-1)
	return sqltype.TicksOf(day) + ticks%sqltype.TicksPerDay
}

// dateDiff counts the borders of a part between two times ("Microsoft: DATEDIFF (Transact-SQL)").
func (b *binder) dateDiff(name, part string, x, y expr) expr {
	x, y = b.asTime(x), b.asTime(y)
	t := sqltype.Of(sqltype.Int)
	if name == "DATEDIFF_BIG" {
		t = sqltype.Of(sqltype.BigInt)
	}
	unit := unitTicks[part]
	months := map[string]int64{"year": 12, "quarter": 3, "month": 1}[part]
	for _, e := range []expr{x, y} {
		partless(lower(name), part, e.typ)
	}
	function := lower(name)
	return folded(expr{typ: t, null: x.null || y.null, konst: x.konst && y.konst, eval: func(f *frame) sqltype.Value {
		v, w := x.eval(f), y.eval(f)
		if v.IsNull() || w.IsNull() {
			return sqltype.Value{}
		}
		p, q := v.Ticks(), w.Ticks()
		var n int64
		switch {
		case months > 0:
			a, z := sqltype.TimeOf(p), sqltype.TimeOf(q)
			n = (int64(z.Year())*12+int64(z.Month()-1))/months - (int64(a.Year())*12+int64(a.Month()-1))/months
		case part == "week": // weeks begin on Sunday
			n = (q+sqltype.TicksPerDay)/unit - (p+sqltype.TicksPerDay)/unit
		case unit > 0:
			n = q/unit - p/unit
		default:
			if n = (q - p) * 100; n/100 != q-p {
				n = 1 << 62
			}
		}
		if name == "DATEDIFF" && n != int64(int32(n)) || n == 1<<62 {
			b.fail(sqltype.Errorf(535, "The %s function resulted in an overflow. The number of dateparts separating two date/time instances is too large. Try to use %s with a less precise datepart.", function, function))
		}
		return sqltype.FromInt(n)
	}})
}

// offsetFunction is TODATETIMEOFFSET, which gives a clock time an offset, or SWITCHOFFSET, which moves an instant.
func (b *binder) offsetFunction(name string, args []expr) expr {
	e, o := args[0], args[1]
	scale := e.typ.Scale
	switch e.typ.Kind {
	case sqltype.DateTime:
		scale = 3
	case sqltype.DateTime2, sqltype.DateTimeOffset:
	default:
		scale = 7
	}
	t := sqltype.Scaled(sqltype.DateTimeOffset, scale)
	if name == "SWITCHOFFSET" {
		e = b.cast(e, t, 0)
	} else {
		e = b.cast(e, sqltype.Scaled(sqltype.DateTime2, scale), 0)
	}
	text := o.typ.Class() == sqltype.ClassString
	if !text {
		o = b.cast(o, sqltype.Of(sqltype.Int), 0)
	}
	return folded(expr{typ: t, null: e.null || o.null, konst: e.konst && o.konst, eval: func(f *frame) sqltype.Value {
		v, z := e.eval(f), o.eval(f)
		if v.IsNull() || z.IsNull() {
			return sqltype.Value{}
		}
		minutes := z.Int()
		if text {
			w, err := sqltype.Convert(sqltype.FromString("2000-01-01 00:00:00 "+z.Str()), sqltype.Str(sqltype.VarChar, 40), t, 0)
			if err != nil {
				b.fail(sqltype.Errorf(9812, "The timezone provided to builtin function %s is invalid.", strings.ToLower(name)))
			}
			minutes = int64(w.Offset())
		}
		if minutes < -14*60 || minutes > 14*60 {
			b.fail(sqltype.Errorf(9812, "The timezone provided to builtin function %s is invalid.", strings.ToLower(name)))
		}
		if name == "SWITCHOFFSET" {
			return sqltype.FromTicksOffset(v.Ticks(), int(minutes))
		}
		return sqltype.FromTicksOffset(v.Ticks()-minutes*sqltype.TicksPerMinute, int(minutes))
	}})
}

func (b *binder) atTimeZone(e, z expr) expr {
	if e.typ.Class() == sqltype.ClassString {
		e = b.cast(e, sqltype.Scaled(sqltype.DateTimeOffset, 7), 0)
	}
	if e.typ.Class() != sqltype.ClassTime || e.typ.Kind == sqltype.Date || e.typ.Kind == sqltype.Time {
		failf(8116, "Argument data type %s is invalid for argument 1 of AT TIME ZONE function.", e.typ.Kind)
	}
	scale := e.typ.Scale
	switch e.typ.Kind {
	case sqltype.DateTime:
		scale = 3
	case sqltype.SmallDateTime:
		scale = 0
	}
	moved := e.typ.Kind == sqltype.DateTimeOffset
	return folded(expr{typ: sqltype.Scaled(sqltype.DateTimeOffset, scale), null: e.null || z.null, konst: e.konst && z.konst, eval: func(f *frame) sqltype.Value {
		v, name := e.eval(f), z.eval(f)
		if v.IsNull() || name.IsNull() {
			return sqltype.Value{}
		}
		loc, err := b.zone(name.Str())
		if err != nil {
			b.fail(err)
			return sqltype.Value{}
		}
		if moved {
			_, off := sqltype.TimeOf(v.Ticks()).In(loc).Zone()
			return sqltype.FromTicksOffset(v.Ticks(), off/60)
		}
		utc, minutes := InZone(v.Ticks(), loc)
		return sqltype.FromTicksOffset(utc, minutes)
	}})
}
