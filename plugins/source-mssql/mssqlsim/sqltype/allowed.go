package sqltype

// What conversions there are ("Microsoft: CAST and CONVERT (Transact-SQL)", Implicit conversions, and "Microsoft: Data
// type conversion (Database Engine)").

// clash is the error where two types meet that have nothing to do with each other.
func clash(from, to Type) error {
	return Errorf(206, "Operand type clash: %s is incompatible with %s", from.Kind, to.Kind)
}

// Implicit tells whether a value is converted without CAST; the error is the server's.
func Implicit(from, to Type) error {
	if from.Kind == to.Kind || from.Kind == Null || to.Kind == Null {
		return nil
	}
	if Explicit(from, to) != nil {
		return clash(from, to)
	}
	named := false // by CAST or CONVERT only
	switch f, t := from.Class(), to.Class(); {
	case from.Kind == Variant:
		named = true
	case from.Kind == XML:
		named = true
	case f == ClassTime && number(to):
		named = true
	case f == ClassString && t == ClassBinary && !from.LOB():
		named = true
	case f == ClassTime && t == ClassBinary:
		named = true
	}
	if named {
		return Errorf(257, "Implicit conversion from data type %s to %s is not allowed. Use the CONVERT function to run this query.", from.Kind, to.Kind)
	}
	return nil
}

func number(t Type) bool {
	switch t.Class() {
	case ClassInt, ClassBit, ClassDecimal, ClassFloat:
		return true
	}
	return false
}

func (t Type) clr() bool { return t.Kind == HierarchyID || t.Kind == Geography || t.Kind == Geometry }

// Explicit tells whether CAST converts between two types; the error is the server's. It lets pass what is between CLR types
// and other ones, which Convert decides.
func Explicit(from, to Type) error {
	if from.Kind == to.Kind || from.Kind == Null || to.Kind == Null || from.Kind == Variant {
		return nil
	}
	if from.Class() == ClassOther || to.Class() == ClassOther {
		if from.clr() && (number(to) || to.Class() == ClassTime || to.Class() == ClassGUID) || to.clr() && (number(from) || from.Class() == ClassTime || from.Class() == ClassGUID) {
			return noConversion(from, to)
		}
		return nil
	}
	old := func(t Type) bool { return t.Kind == DateTime || t.Kind == SmallDateTime }
	bad := false
	switch f, t := from.Class(), to.Class(); {
	case from.Kind == Text || from.Kind == NText:
		bad = t != ClassString
	case from.Kind == Image:
		bad = t != ClassBinary
	case to.Kind == Text || to.Kind == NText:
		bad = f != ClassString
	case to.Kind == Image:
		bad = f != ClassBinary && f != ClassString
	case from.Kind == XML:
		bad = t != ClassString && t != ClassBinary
	case to.Kind == XML:
		bad = f != ClassString && f != ClassBinary
	case f == ClassTime && t == ClassTime:
		bad = from.Kind == Time && to.Kind == Date || from.Kind == Date && to.Kind == Time
	case f == ClassTime && number(to):
		bad = !old(from)
	case number(from) && t == ClassTime:
		bad = !old(to)
	case f == ClassGUID:
		bad = t != ClassString && t != ClassBinary
	case t == ClassGUID:
		bad = f != ClassString && f != ClassBinary
	case f == ClassBinary && t == ClassFloat:
		bad = true
	}
	if bad {
		return noConversion(from, to)
	}
	return nil
}
