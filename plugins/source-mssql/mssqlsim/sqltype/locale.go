package sqltype

// Locale is what SET LANGUAGE, SET DATEFORMAT and SET DATEFIRST have made of a session: how it reads and writes dates. The
// zero Locale, and a nil one, are those of us_english.
type Locale struct {
	language *Language
	order    string
	first    int
}

// SetLanguage sets the language, and the order and first day that go with it (Microsoft: SET LANGUAGE (Transact-SQL)).
func (l *Locale) SetLanguage(lang *Language) { *l = Locale{language: lang} }

// SetOrder sets the order of day, month and year: SET DATEFORMAT. ok is false for what is none.
func (l *Locale) SetOrder(order string) (ok bool) {
	switch order {
	case "mdy", "dmy", "ymd", "ydm", "myd", "dym":
		l.order = order
		return true
	}
	return false
}

// SetFirst sets the first day of the week, 1 for Monday: SET DATEFIRST. ok is false for what is none.
func (l *Locale) SetFirst(day int64) (ok bool) {
	if day < 1 || day > 7 {
		return false
	}
	l.first = int(day)
	return true
}

// Language gives the language.
func (l *Locale) Language() *Language {
	if l == nil || l.language == nil {
		return English
	}
	return l.language
}

// Order gives the order of day, month and year, as in "mdy".
func (l *Locale) Order() string {
	if l == nil || l.order == "" {
		return l.Language().Order
	}
	return l.order
}

// First gives the first day of the week, 1 for Monday.
func (l *Locale) First() int {
	if l == nil || l.first == 0 {
		return l.Language().First
	}
	return l.first
}

// Convert brings a value of one type to another as CONVERT(to, v, style) does in a us_english session. Style 0 is CAST.
func Convert(v Value, from, to Type, style int) (Value, error) {
	return (*Locale)(nil).Convert(v, from, to, style)
}

// Convert brings a value of one type to another as CONVERT(to, v, style) does in a session. Style 0 is CAST.
func (l *Locale) Convert(v Value, from, to Type, style int) (Value, error) {
	if v.IsNull() {
		return v, nil
	}
	if from.Kind == Variant && to.Kind != Variant {
		from, v = v.Base(), v.unvaried()
	}
	if err := Explicit(from, to); err != nil {
		return Value{}, err
	}
	switch to.Class() {
	case ClassNull:
		return v, nil
	case ClassString:
		return l.toString(v, from, to, style)
	case ClassBinary:
		return toBinary(v, from, to, style)
	case ClassInt:
		return toInteger(v, from, to)
	case ClassBit:
		return toBit(v, from)
	case ClassDecimal:
		return toDecimal(v, from, to)
	case ClassFloat:
		return toReal(v, from, to)
	case ClassTime:
		return l.toTime(v, from, to, style)
	case ClassGUID:
		return toGUID(v, from)
	case ClassOther:
		switch {
		case from.Kind == to.Kind:
			return v, nil
		case to.Kind == Variant && !from.LOB() && from.Kind != RowVersion && from.Class() != ClassOther:
			return v.varied(from), nil
		case to.Kind != Variant && from.Class() == ClassBinary: // the bytes of a CLR type
			return v, nil
		case to.Kind == HierarchyID && from.Class() == ClassString:
			return toHierarchy(v)
		case (to.Kind == Geometry || to.Kind == Geography) && from.Class() == ClassString && from.Kind != XML:
			return toSpatial(v, to.Kind)
		}
	}
	return Value{}, noConversion(from, to)
}
