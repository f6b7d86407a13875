package sqltype

import (
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// Microsoft: datetime (Transact-SQL), Supported string literal formats for datetime; date (Transact-SQL); SET DATEFORMAT
// (Transact-SQL); CAST and CONVERT (Transact-SQL), Date and time styles.
func TestDatesAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		session, text, to string
		style             int
		want              string
		number            int32
	}{
		{"", "Apr 15 1996", "datetime", 0, "1996-04-15 00:00:00.000", 0},
		{"", "Apr 15, 1996 4:30 PM", "datetime", 0, "1996-04-15 16:30:00.000", 0},
		{"", "april 15 96", "datetime", 0, "1996-04-15 00:00:00.000", 0},
		{"", "Apr 1996 15", "date", 0, "1996-04-15", 0},
		{"", "Apr 1996", "date", 0, "1996-04-01", 0},
		{"", "15 April,1996", "date", 0, "1996-04-15", 0},
		{"", "15 1996 apr", "date", 0, "1996-04-15", 0},
		{"", "1996 APR 15", "date", 0, "1996-04-15", 0},
		{"", "1996 15 APR", "date", 0, "1996-04-15", 0},
		{"", "15-Apr-1996", "datetime", 0, "1996-04-15 00:00:00.000", 0},
		{"", "Apr 31 1996", "datetime", 0, "", 242},
		{"", "Apr 31 1996", "date", 0, "", 241},
		{"", "Foo 15 1996", "datetime", 0, "", 241},
		{"", "Apr 15", "datetime", 0, "", NumberUnsupported},
		{"", "4/15/1996", "datetime", 0, "1996-04-15 00:00:00.000", 0},
		{"", "4-15-96", "date", 0, "1996-04-15", 0},
		{"", "04.15.49", "date", 0, "2049-04-15", 0},
		{"", "04.15.50", "date", 0, "1950-04-15", 0},
		{"", "15/4/1996", "datetime", 0, "", 242},
		{"", "15/4/1996", "date", 0, "", 241},
		{"dmy", "15/4/1996", "datetime", 0, "1996-04-15 00:00:00.000", 0},
		{"dmy", "4/5/1996", "datetime2", 0, "1996-05-04 00:00:00.0000000", 0},
		{"myd", "4/1996/15", "datetime", 0, "1996-04-15 00:00:00.000", 0},
		{"ymd", "96/04/15", "datetime", 0, "1996-04-15 00:00:00.000", 0},
		{"ydm", "96/15/04", "datetime", 0, "1996-04-15 00:00:00.000", 0},
		{"ydm", "96/15/04", "date", 0, "", NumberUnsupported},
		{"", "4/1996/15", "datetime", 0, "", NumberUnsupported},
		// ISO 8601 is the same in all sessions, but not for datetime without the T
		{"dmy", "1996-05-04", "date", 0, "1996-05-04", 0},
		{"dmy", "1996-05-04", "datetime", 0, "1996-04-05 00:00:00.000", 0},
		{"dmy", "1996-05-04T10:00:00", "datetime", 0, "1996-05-04 10:00:00.000", 0},
		{"dmy", "19960504", "datetime", 0, "1996-05-04 00:00:00.000", 0},
		{"dmy", "960504", "datetime", 0, "1996-05-04 00:00:00.000", 0},
		{"dmy", "1996", "datetime", 0, "1996-01-01 00:00:00.000", 0},
		{"dmy", "1996/05/04", "date", 0, "", NumberUnsupported},
		{"dmy", "1996-05-04", "datetime", 120, "1996-05-04 00:00:00.000", 0},
		// a style of CONVERT goes before the session
		{"", "15/04/1996", "datetime", 103, "1996-04-15 00:00:00.000", 0},
		{"", "04/05/1996", "date", 103, "1996-05-04", 0},
		{"dmy", "04/05/1996", "date", 101, "1996-04-05", 0},
		{"", "15.04.96", "date", 4, "1996-04-15", 0},
		{"", "15-04-1996", "date", 103, "", NumberUnsupported},
		{"", "15/04/96", "date", 103, "", NumberUnsupported},
		{"", "15 Apr 1996", "date", 106, "1996-04-15", 0},
		{"", "15 Apr 1996", "date", 103, "", NumberUnsupported},
		{"", "abc", "date", 103, "", 241},
		{"", "abc", "datetime", 120, "", 241},
		{"", "1420-01-01", "datetime", 131, "", NumberUnsupported},
		// times
		{"", "", "datetime", 0, "1900-01-01 00:00:00.000", 0},
		{"", "4 PM", "datetime", 0, "1900-01-01 16:00:00.000", 0},
		{"", "04:30:20:500AM", "datetime", 0, "1900-01-01 04:30:20.500", 0},
		{"", "12:10am", "time(0)", 0, "00:10:00", 0},
		{"", "13:10 PM", "time(0)", 0, "13:10:00", 0},
		{"", "0:10 PM", "time(0)", 0, "", 241},
		{"", "2026-01-02 3:04", "datetime2(0)", 0, "2026-01-02 03:04:00", 0},
		{"", "2026-01-02 03:04:05.1234", "datetime", 0, "", 241},
		// languages
		{"Russian", "июл 19 2021  8:12PM", "datetime", 0, "2021-07-19 20:12:00.000", 0},
		{"русский", "19 ИЮЛЬ 2021", "date", 0, "2021-07-19", 0},
		{"Russian", "1/7/2021", "date", 0, "2021-07-01", 0},
		{"French", "14 févr 2021", "date", 0, "2021-02-14", 0},
		{"Czech", "3 XII 2021", "date", 0, "2021-12-03", 0},
		{"Thai", "3 ธ.ค. 2021", "date", 0, "2021-12-03", 0},
		{"French", "14 Feb 2021", "date", 0, "", NumberUnsupported},
		{"Swedish", "21-02-14", "date", 0, "2021-02-14", 0},
		{"Swedish", "14 feb 21", "date", 0, "", NumberUnsupported},
	} {
		var l Locale
		if lang := LanguageNamed(tc.session); lang != nil {
			l.SetLanguage(lang)
		} else if tc.session != "" && !l.SetOrder(tc.session) {
			t.Fatalf("no language and no order: %s", tc.session)
		}
		to := mustType(t, tc.to)
		v, err := l.Convert(FromString(tc.text), Str(NVarChar, 60), to, tc.style)
		var e *Error
		if errors.As(err, &e) {
			if e.Number != tc.number {
				t.Errorf("%s: %q to %s, style %d: error %d %s, want %d", tc.session, tc.text, tc.to, tc.style, e.Number, e.Message, tc.number)
			}
			continue
		}
		got, err := Convert(v, to, Str(NVarChar, 60), 121)
		if err != nil || got.Str() != tc.want || tc.number != 0 {
			t.Errorf("%s: %q to %s, style %d: %q %v, want %q (error %d)", tc.session, tc.text, tc.to, tc.style, got.Str(), err, tc.want, tc.number)
		}
	}
}

// What a session writes it reads again: the default style of datetime in every language whose months have names.
func TestDatesOfALanguageComeBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lang := &languages[rapid.IntRange(0, len(languages)-1).Draw(t, "language")]
		if allDigits(lang.ShortMonth(1)) {
			t.Skip("its months are numbers")
		}
		var l Locale
		l.SetLanguage(lang)
		minute := rapid.Int64Range(0, 200*366*24*60).Draw(t, "minute")
		v, typ := FromTicks(epoch1900+minute*TicksPerMinute), Of(DateTime)
		text, err := l.Convert(v, typ, Str(NVarChar, 40), 0)
		if err != nil {
			t.Fatal(err)
		}
		back, err := l.Convert(text, Str(NVarChar, 40), typ, 0)
		if err != nil || back != v {
			t.Fatalf("%s: %q came back as %v %v", lang.Name, text.Str(), back, err)
		}
	})
}

// Microsoft: sys.syslanguages (Transact-SQL).
func TestLanguages(t *testing.T) {
	t.Parallel()
	for i, l := range Languages() {
		if l.ID != i || l.Month(12) == "" || l.ShortMonth(12) == "" || l.Day(7) == "" || l.First < 1 || l.First > 7 {
			t.Errorf("%+v", l)
		}
		if got := LanguageNamed(l.Alias); got == nil || got.ID != i {
			t.Errorf("%s is not found by its alias", l.Name)
		}
	}
	if LanguageNamed("Klingon") != nil {
		t.Error("a language that there is not")
	}
}
