package sqltype

import (
	"strings"
	"time"
	"unicode"
)

// dateText reads a date and time that was written down. What it means depends on the type that is wanted, on the style of
// CONVERT, and on the session (Microsoft: datetime (Transact-SQL), Supported string literal formats; date (Transact-SQL);
// CAST and CONVERT (Transact-SQL); SET DATEFORMAT (Transact-SQL)).
type dateText struct {
	text   string
	to     Type
	locale *Locale
	order  string
	// style tells what the style of CONVERT says of the text
	style dateStyle
}

// dateStyle is what a style of CONVERT says of a text; the zero one says nothing.
type dateStyle struct {
	order string // of a text of numbers
	sep   byte   // between them
	year  int    // digits of the year
	named bool   // the month has a name
	iso   bool   // a form that no session changes
}

// dateStyles are the styles of a text that is converted to a date (Microsoft: CAST and CONVERT (Transact-SQL), Date and time
// styles).
var dateStyles = map[int]dateStyle{0: {}, 100: {}, 9: {}, 109: {},
	1: {"mdy", '/', 2, false, false}, 101: {"mdy", '/', 4, false, false}, 2: {"ymd", '.', 2, false, false}, 102: {"ymd", '.', 4, false, false},
	3: {"dmy", '/', 2, false, false}, 103: {"dmy", '/', 4, false, false}, 4: {"dmy", '.', 2, false, false}, 104: {"dmy", '.', 4, false, false},
	5: {"dmy", '-', 2, false, false}, 105: {"dmy", '-', 4, false, false}, 10: {"mdy", '-', 2, false, false}, 110: {"mdy", '-', 4, false, false},
	11: {"ymd", '/', 2, false, false}, 111: {"ymd", '/', 4, false, false}, 6: {named: true}, 106: {named: true}, 7: {named: true}, 107: {named: true}, 13: {named: true}, 113: {named: true},
	12: {iso: true}, 112: {iso: true}, 20: {iso: true}, 120: {iso: true}, 21: {iso: true}, 25: {iso: true}, 121: {iso: true}, 23: {iso: true}, 126: {iso: true}, 127: {iso: true},
	8: {iso: true}, 24: {iso: true}, 108: {iso: true}, 14: {iso: true}, 114: {iso: true}}

// twoDigitYears: 49 is 2049, 50 is 1950 (Microsoft: Configure the two digit year cutoff Server Configuration Option).
const twoDigitYears = 2049

// readDate gives the ticks that the text's clock shows, and its offset in minutes.
func (l *Locale) readDate(s string, from, to Type, style int) (ticks int64, off int, err error) {
	st, ok := dateStyles[style]
	if !ok {
		return 0, 0, Unsupported("CONVERT style %d of a text to %s", style, to.Kind)
	}
	d := dateText{text: strings.TrimSpace(s), to: to, locale: l, order: l.Order(), style: st}
	if st.order != "" {
		d.order = st.order
	}
	day, rest, err := d.day()
	if err != nil {
		return 0, 0, err
	}
	bad := Errorf(241, "Conversion failed when converting date and/or time from character string.")
	if to.Kind == SmallDateTime {
		bad = Errorf(295, "Conversion failed when converting character string to smalldatetime data type.")
	}
	old := to.Kind == DateTime || to.Kind == SmallDateTime
	if day.bad {
		return 0, 0, bad
	}
	if day.y < 1 || day.y > 9999 || day.m < 1 || day.m > 12 || day.d < 1 || day.d > 31 {
		return 0, 0, outOfRange(from, to, bad)
	}
	date := time.Date(day.y, time.Month(day.m), day.d, 0, 0, 0, 0, time.UTC)
	if date.Day() != day.d {
		return 0, 0, outOfRange(from, to, bad)
	}
	p := timeText{s: rest, digits: 9}
	if old {
		p.digits = 3
	}
	var clock int64
	if rest != "" {
		if clock, ok = p.clock(); !ok {
			return 0, 0, bad
		}
	}
	if zone := strings.TrimSpace(p.s); old && zone != "" && zone != "Z" { // of no offset these types know
		return 0, 0, bad
	}
	if off, ok = p.offset(); !ok {
		return 0, 0, bad
	}
	return TicksOf(date) + clock, off, nil
}

// outOfRange is the error of a day that no calendar has: of datetime and smalldatetime another than of the types of today.
func outOfRange(from, to Type, other error) error {
	if to.Kind == DateTime || to.Kind == SmallDateTime {
		return Errorf(242, "The conversion of a %s data type to a %s data type resulted in an out-of-range value.", from.Kind, to.Kind)
	}
	return other
}

// written is a day as it was written; bad tells that it is none.
type written struct {
	y, m, d int
	bad     bool
}

var noDay = written{bad: true}

// day reads the day a text begins with, and gives the rest of it, which must be a time.
func (d *dateText) day() (w written, rest string, err error) {
	s := d.text
	if s == "" {
		return written{y: 1900, m: 1, d: 1}, "", nil
	}
	n := digitsOf(s)
	switch {
	case n > 0 && n < len(s) && strings.IndexByte("-/.", s[n]) >= 0 && digitsOf(s[n+1:]) > 0:
		return d.numbers()
	case n > 0 && n < len(s) && (s[n] == ':' || clockWord(strings.TrimSpace(s[n:]))): // a time alone
		return written{y: 1900, m: 1, d: 1}, s, nil
	case n > 0 && (n == len(s) || s[n] == ' ' && d.noMonth(s[n:]) || s[n] == 'T' && n == 8):
		return d.unseparated(s[:n], s[n:])
	case d.noMonth(s):
		return noDay, "", nil
	}
	w, rest, err = d.named()
	if !w.bad && err == nil && (d.style.iso || d.style.order != "") {
		return noDay, "", Unsupported("the date %q, which is not written as this style of CONVERT says", s)
	}
	return w, rest, err
}

// unseparated reads yyyymmdd, yymmdd and yyyy.
func (d *dateText) unseparated(digits, rest string) (written, string, error) {
	var w written
	switch len(digits) {
	case 8:
		w = written{y: atoi(digits[:4]), m: atoi(digits[4:6]), d: atoi(digits[6:])}
	case 6:
		w = written{y: century(atoi(digits[:2])), m: atoi(digits[2:4]), d: atoi(digits[4:])}
	case 4:
		w = written{y: atoi(digits), m: 1, d: 1}
	default:
		return noDay, "", nil
	}
	if rest == "" {
		return w, "", nil
	}
	return w, rest[1:], nil // behind a blank or the T
}

// century gives a year of two digits its first two.
func century(y int) int {
	y += twoDigitYears / 100 * 100
	if y > twoDigitYears {
		y -= 100
	}
	return y
}

// numbers reads three numbers with the same sign between them.
func (d *dateText) numbers() (written, string, error) {
	var parts [3]string
	s := d.text
	var sep byte
	for i := range parts {
		n := digitsOf(s)
		if n == 0 || n > 4 || n == 3 {
			return noDay, "", nil
		}
		parts[i], s = s[:n], s[n:]
		if i == 2 {
			break
		}
		if s == "" || i > 0 && s[0] != sep || strings.IndexByte("-/.", s[0]) < 0 {
			return noDay, "", nil
		}
		sep, s = s[0], s[1:]
	}
	if s != "" {
		if s[0] != ' ' && s[0] != 'T' {
			return noDay, "", nil
		}
		if s[0] == 'T' && (len(parts[0]) != 4 || sep != '-') {
			return noDay, "", nil
		}
		if s[0] == 'T' { // ISO 8601
			return written{y: atoi(parts[0]), m: atoi(parts[1]), d: atoi(parts[2])}, s[1:], nil
		}
		s = strings.TrimLeft(s, " ")
	}
	order, err := d.orderOf(parts, sep)
	if err != nil || order == "" {
		return noDay, "", err
	}
	var w written
	for i, p := range parts {
		n := atoi(p)
		switch order[i] {
		case 'y':
			switch w.y = n; len(p) {
			case 1:
				return noDay, "", Unsupported("the date %q with a year of one digit", d.text)
			case 2:
				w.y = century(n)
			}
		case 'm':
			w.m = n
		default:
			w.d = n
		}
	}
	return w, s, nil
}

// orderOf gives the order in which three numbers are to be read; it is "" when they are no day.
func (d *dateText) orderOf(parts [3]string, sep byte) (string, error) {
	place := -1 // of the number that can only be a year
	for i, p := range parts {
		if len(p) == 4 {
			if place >= 0 {
				return "", nil
			}
			place = i
		}
	}
	monthFirst := strings.IndexByte(d.order, 'm') < strings.IndexByte(d.order, 'd')
	today := d.to.Kind != DateTime && d.to.Kind != SmallDateTime
	unclear := Unsupported("the date %q for %s: its year is where %q does not expect it", d.text, d.to.Kind, d.order)
	if d.style.order != "" {
		if sep != d.style.sep || d.style.year == 4 != (place >= 0) || place >= 0 && d.order[place] != 'y' {
			return "", Unsupported("the date %q, which is not written as this style of CONVERT says", d.text)
		}
		return d.order, nil
	}
	switch {
	case place == 0 && (sep == '-' && today || monthFirst || d.style.iso):
		return "ymd", nil
	case place == 0 && !today:
		return "ydm", nil
	case today && d.order == "ydm":
		return "", Unsupported("SET DATEFORMAT ydm with %s", d.to.Kind)
	case place < 0 && !d.style.iso, place > 0 && d.order[place] == 'y':
		return d.order, nil
	}
	return "", unclear
}

// named reads a day whose month has a name: the name, a year of four digits or the last number, and perhaps a day.
func (d *dateText) named() (w written, rest string, err error) {
	s := d.text
	var nums []string
	for s != "" && (w.m == 0 || len(nums) < 2) {
		switch n := digitsOf(s); {
		case s[0] == ' ' || s[0] == ',' || (s[0] == '-' || s[0] == '/') && (w.m == 0 || len(nums) < 2):
			s = s[1:]
			continue
		case n > 0:
			if n < len(s) && s[n] == ':' || clockWord(strings.TrimSpace(s[n:])) { // the time
				return d.namedDay(w, nums, s)
			}
			nums, s = append(nums, s[:n]), s[n:]
		default:
			n := wordOf(s)
			if n == 0 || w.m != 0 {
				return noDay, "", nil
			}
			if w.m = d.locale.Language().month(s[:n]); w.m == 0 {
				if English.month(s[:n]) > 0 {
					return noDay, "", Unsupported("the English month in %q while the language is %s", d.text, d.locale.Language().Name)
				}
				return noDay, "", nil
			}
			s = s[n:]
		}
		if s != "" && strings.IndexByte(" ,-/", s[0]) < 0 {
			return noDay, "", Unsupported("the date %q, whose parts are not apart", d.text)
		}
	}
	return d.namedDay(w, nums, strings.TrimLeft(s, " ,"))
}

// namedDay gives the day of a month and one or two numbers.
func (d *dateText) namedDay(w written, nums []string, rest string) (written, string, error) {
	if w.m == 0 || len(nums) == 0 {
		return noDay, "", nil
	}
	w.d = 1
	year := -1
	for i, n := range nums {
		switch {
		case len(n) == 4 && year < 0:
			year = i
		case len(n) > 2:
			return noDay, "", nil
		}
	}
	if year < 0 {
		if len(nums) == 1 {
			return noDay, "", Unsupported("the date %q without a year", d.text)
		}
		if d.order[0] == 'y' {
			return noDay, "", Unsupported("the date %q with a year of two digits while dates are written as %s", d.text, d.order)
		}
		year = 1
	}
	for i, n := range nums {
		switch {
		case i != year:
			w.d = atoi(n)
		case len(n) == 4:
			w.y = atoi(n)
		default:
			w.y = century(atoi(n))
		}
	}
	return w, rest, nil
}

// noMonth tells that a text has no letters but those of a time and of an offset, so that no month is named in it.
func (d *dateText) noMonth(s string) bool {
	for s != "" {
		n := wordOf(s)
		if n == 0 {
			s = s[1:]
			continue
		}
		if w := s[:n]; !clockWord(w) && w != "T" && w != "Z" {
			return false
		}
		s = s[n:]
	}
	return true
}

// clockWord tells AM and PM, behind which a time ends.
func clockWord(s string) bool {
	w := s[:wordOf(s)]
	return strings.EqualFold(w, "am") || strings.EqualFold(w, "pm")
}

// wordOf gives the length of the letters a text begins with. Marks and points count where a name of a month has them.
func wordOf(s string) int {
	for i, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && (i == 0 || r != '.' && r != '_') {
			return i
		}
	}
	return len(s)
}

// digitsOf gives the length of the digits a text begins with.
func digitsOf(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
