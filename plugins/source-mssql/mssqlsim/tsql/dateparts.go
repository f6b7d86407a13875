package tsql

import (
	"strings"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// dateArguments is how many arguments the functions take that begin with a date part.
var dateArguments = map[string]int{"DATEPART": 2, "DATENAME": 2, "DATEADD": 3, "DATEDIFF": 3, "DATEDIFF_BIG": 3, "DATETRUNC": 2, "DATE_BUCKET": 3}

// partless refuses date parts that a type has not ("Microsoft: DATEPART (Transact-SQL)", "DATEADD (Transact-SQL)").
func partless(function, part string, t sqltype.Type) {
	bad := false
	day := false
	switch part {
	case "year", "quarter", "month", "dayofyear", "day", "week", "weekday", "iso_week":
		bad, day = t.Kind == sqltype.Time, true
	case "tzoffset":
		bad = t.Kind != sqltype.DateTimeOffset && t.Kind != sqltype.DateTime2
	default:
		bad = t.Kind == sqltype.Date
	}
	adds := function == "dateadd" || function == "datetrunc"
	switch {
	case adds && (part == "tzoffset" || part == "iso_week" && function == "dateadd"):
		bad = true
	case function == "dateadd" && (part == "microsecond" || part == "nanosecond") && (t.Kind == sqltype.DateTime || t.Kind == sqltype.SmallDateTime):
		bad = true
	case strings.HasPrefix(function, "datediff"): // the part that is missing counts as its default
		bad = !day && part == "tzoffset" || part == "iso_week"
	}
	if bad {
		failf(9810, "The datepart %s is not supported by date function %s for data type %s.", part, function, t.Kind)
	}
}

// isoWeek is the week of ISO 8601, to which the Thursday belongs.
func isoWeek(t time.Time) int64 {
	_, w := t.ISOWeek()
	return int64(w)
}

// partFunction is YEAR, MONTH and DAY.
func (b *binder) partFunction(name string, args []expr) expr {
	return b.datePart(lower(name), args[0])
}

// endOfMonth is EOMONTH (Microsoft: EOMONTH (Transact-SQL)).
func (b *binder) endOfMonth(_ string, args []expr) expr {
	e := args[0]
	if e.typ.Kind == sqltype.Null {
		e = b.cast(e, sqltype.Of(sqltype.Date), 0)
	}
	e = b.cast(b.asTime(e), sqltype.Of(sqltype.Date), 0)
	n := constant(sqltype.Of(sqltype.Int), sqltype.FromInt(0))
	if len(args) > 1 {
		n = b.given(args[1], sqltype.Of(sqltype.Int))
	}
	return folded(expr{typ: sqltype.Of(sqltype.Date), null: true, konst: e.konst && n.konst, eval: func(f *frame) sqltype.Value {
		v, k := e.eval(f), n.eval(f)
		if v.IsNull() || b.err != nil {
			return sqltype.Value{}
		}
		t := sqltype.TimeOf(v.Ticks())
		if k.Int() < -200_000 || k.Int() > 200_000 {
			b.fail(sqltype.Errorf(517, "Adding a value to a 'date' column caused an overflow."))
			return sqltype.Value{}
		}
		ticks := sqltype.TicksOf(time.Date(t.Year(), t.Month()+time.Month(k.Int())+1, 0, 0, 0, 0, 0, time.UTC))
		if ticks < 0 || ticks >= endOfDays {
			b.fail(sqltype.Errorf(517, "Adding a value to a 'date' column caused an overflow."))
			return sqltype.Value{}
		}
		return sqltype.FromTicks(ticks)
	}})
}

// isDate is ISDATE: whether a text is a datetime.
func (b *binder) isDate(_ string, args []expr) expr {
	e, t := args[0], sqltype.Of(sqltype.Int)
	if c := e.typ.Class(); c != sqltype.ClassString && c != sqltype.ClassNull && e.typ.Kind != sqltype.DateTime && e.typ.Kind != sqltype.SmallDateTime {
		failf(8116, "Argument data type %s is invalid for argument 1 of isdate function.", e.typ.Kind)
	}
	return expr{typ: t, konst: e.konst, eval: func(f *frame) sqltype.Value {
		v := e.eval(f)
		if v.IsNull() {
			return sqltype.FromInt(0)
		}
		_, err := sqltype.Convert(v, e.typ, sqltype.Of(sqltype.DateTime), 0)
		return sqltype.FromBool(err == nil && strings.TrimSpace(v.Str()) != "" || e.typ.Class() == sqltype.ClassTime)
	}}
}

// fromParts is DATEFROMPARTS and its kin (Microsoft: DATEFROMPARTS, TIMEFROMPARTS, ...).
func (b *binder) fromParts(name string, args []expr) expr {
	t := sqltype.Of(map[string]sqltype.Kind{"DATEFROMPARTS": sqltype.Date, "DATETIMEFROMPARTS": sqltype.DateTime, "SMALLDATETIMEFROMPARTS": sqltype.SmallDateTime,
		"DATETIME2FROMPARTS": sqltype.DateTime2, "TIMEFROMPARTS": sqltype.Time, "DATETIMEOFFSETFROMPARTS": sqltype.DateTimeOffset}[name])
	out := expr{konst: true, null: true}
	for i := range args {
		args[i] = b.given(args[i], sqltype.Of(sqltype.Int))
		out.konst = out.konst && args[i].konst
	}
	scaled := t.Kind == sqltype.DateTime2 || t.Kind == sqltype.Time || t.Kind == sqltype.DateTimeOffset
	if scaled { // the precision is part of the type
		p := args[len(args)-1]
		v := sqltype.Value{}
		if p.konst {
			v = p.eval(&frame{})
		}
		if !p.konst || v.IsNull() || v.Int() < 0 || v.Int() > 7 {
			failf(10760, "Scale argument is not valid. Valid expressions for data type %s scale argument are integer constants and integer constant expressions.", t.Kind)
		}
		t.Scale = uint8(v.Int())
		args = args[:len(args)-1]
	}
	bad := sqltype.Errorf(289, "Cannot construct data type %s, some of the arguments have values which are not valid.", t.Kind)
	out.typ = t
	out.eval = func(f *frame) sqltype.Value {
		n := make([]int64, len(args))
		for i, a := range args {
			v := a.eval(f)
			if v.IsNull() {
				return v
			}
			n[i] = v.Int()
		}
		if b.err != nil {
			return sqltype.Value{}
		}
		v, ok := madeOfParts(n, t)
		if !ok {
			b.fail(bad)
		}
		return v
	}
	return folded(out)
}

func madeOfParts(n []int64, t sqltype.Type) (sqltype.Value, bool) {
	y, m, d := int64(1900), int64(1), int64(1)
	if t.Kind != sqltype.Time {
		y, m, d, n = n[0], n[1], n[2], n[3:]
	}
	clock := make([]int64, 6) // hour, minute, second, fraction, hour and minute of the offset
	copy(clock, n)
	day := time.Date(int(y), time.Month(m), int(d), 0, 0, 0, 0, time.UTC)
	if y < 1 || y > 9999 || int64(day.Month()) != m || int64(day.Day()) != d || clock[0] < 0 || clock[0] > 23 || clock[1] < 0 || clock[1] > 59 || clock[2] < 0 || clock[2] > 59 {
		return sqltype.Value{}, false
	}
	unit := int64(sqltype.TicksPerSecond)
	for range t.Scale {
		unit /= 10
	}
	if t.Kind == sqltype.DateTime {
		unit = sqltype.TicksPerSecond / 1000
	}
	if clock[3] < 0 || clock[3]*unit >= sqltype.TicksPerSecond && clock[3] > 0 || clock[3] > 0 && t.Scale == 0 && t.Kind != sqltype.DateTime {
		return sqltype.Value{}, false
	}
	ticks := sqltype.TicksOf(day) + (clock[0]*3600+clock[1]*60+clock[2])*sqltype.TicksPerSecond + clock[3]*unit
	if t.Kind == sqltype.DateTimeOffset {
		off := clock[4]*60 + clock[5]
		if off < -14*60 || off > 14*60 || clock[5] < -59 || clock[5] > 59 || clock[4]*clock[5] < 0 {
			return sqltype.Value{}, false
		}
		utc := ticks - off*sqltype.TicksPerMinute
		return sqltype.FromTicksOffset(utc, int(off)), utc >= 0 && utc < endOfDays
	}
	v, err := sqltype.Convert(sqltype.FromTicks(ticks), sqltype.Scaled(sqltype.DateTime2, 7), t, 0)
	return v, err == nil
}

// truncated is DATETRUNC (Microsoft: DATETRUNC (Transact-SQL)).
func (b *binder) truncated(part string, e expr) expr {
	if e.typ.Class() == sqltype.ClassString {
		e = b.cast(e, sqltype.Scaled(sqltype.DateTime2, 7), 0)
	}
	e = b.asTime(e)
	partless("datetrunc", part, e.typ)
	if part == "nanosecond" || part == "weekday" {
		failf(9810, "The datepart %s is not supported by date function datetrunc for data type %s.", part, e.typ.Kind)
	}
	locale := b.locale()
	return folded(expr{typ: e.typ, null: e.null, konst: e.konst, eval: func(f *frame) sqltype.Value {
		v := e.eval(f)
		if v.IsNull() {
			return v
		}
		ticks := beginOf(part, localTicks(v), locale.First())
		if e.typ.Kind == sqltype.DateTimeOffset {
			return sqltype.FromTicksOffset(ticks-int64(v.Offset())*sqltype.TicksPerMinute, v.Offset())
		}
		w, err := sqltype.Convert(sqltype.FromTicks(ticks), sqltype.Scaled(sqltype.DateTime2, 7), e.typ, 0)
		if err != nil {
			b.fail(err)
		}
		return w
	}})
}

func beginOf(part string, ticks int64, first int) int64 {
	t := sqltype.TimeOf(ticks)
	day := func(y int, m time.Month, d int) int64 {
		return sqltype.TicksOf(time.Date(y, m, d, 0, 0, 0, 0, time.UTC))
	}
	switch part {
	case "year":
		return day(t.Year(), 1, 1)
	case "quarter":
		return day(t.Year(), (t.Month()-1)/3*3+1, 1)
	case "month":
		return day(t.Year(), t.Month(), 1)
	case "week":
		return day(t.Year(), t.Month(), t.Day()-dayOfWeek(t, first)+1)
	case "iso_week":
		return day(t.Year(), t.Month(), t.Day()-(int(t.Weekday())+6)%7)
	}
	unit := unitTicks[part]
	return ticks - ticks%unit
}

// bucket is DATE_BUCKET: the begin of the bucket of so many parts since 1900-01-01 (Microsoft: DATE_BUCKET (Transact-SQL)).
func (b *binder) bucket(part string, args []expr) expr {
	n, e := b.given(args[0], sqltype.Of(sqltype.BigInt)), b.asTime(args[1])
	if len(args) > 2 {
		unsupported("the origin of DATE_BUCKET")
	}
	unit, months := unitTicks[part], map[string]int64{"year": 12, "quarter": 3, "month": 1}[part]
	if unit == 0 && months == 0 || unit > 0 && unit < sqltype.TicksPerDay && e.typ.Kind == sqltype.Date || e.typ.Kind == sqltype.Time || e.typ.Kind == sqltype.DateTimeOffset || part == "microsecond" {
		unsupported("DATE_BUCKET of %s of %s", part, e.typ)
	}
	origin := sqltype.TicksOf(time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC))
	return folded(expr{typ: e.typ, null: e.null || n.null, konst: e.konst && n.konst, eval: func(f *frame) sqltype.Value {
		k, v := n.eval(f), e.eval(f)
		if v.IsNull() || k.IsNull() || b.err != nil {
			return sqltype.Value{}
		}
		if k.Int() < 1 || k.Int() > 1<<31-1 {
			b.fail(sqltype.Errorf(9834, "Invalid bucket width value passed to date_bucket function. Only positive values are allowed."))
			return sqltype.Value{}
		}
		floor := func(a, step int64) int64 {
			q := a / step
			if a%step < 0 {
				q--
			}
			return q * step
		}
		if months > 0 {
			t := sqltype.TimeOf(v.Ticks())
			since := floor(int64(t.Year()-1900)*12+int64(t.Month()-1), months*k.Int())
			return sqltype.FromTicks(sqltype.TicksOf(time.Date(1900, time.Month(1+since), 1, 0, 0, 0, 0, time.UTC)))
		}
		if k.Int() > endOfDays/unit {
			b.fail(sqltype.Unsupported("a bucket of %d %ss", k.Int(), part))
			return sqltype.Value{}
		}
		return sqltype.FromTicks(origin + floor(v.Ticks()-origin, unit*k.Int()))
	}})
}
