package tsql

// Release is the year of the SQL Server that a session talks to. Azure SQL Database counts as the newest one.
type Release int

// Newest is the last release there is. No server of it is simulated, but that of Azure SQL Database.
const Newest Release = 2025

// builtin is a function that depends on its arguments only.
type builtin struct {
	min, max int
	since    Release // the first release that has it; 0 is all of them
	bind     func(b *binder, name string, args []expr) expr
}

// lookup finds a function of a release.
func (b *binder) lookup(name string, args []expr) (expr, bool) {
	fn, ok := functionNamed(name)
	if !ok || fn.since > b.sess.Release() {
		return expr{}, false
	}
	if len(args) < fn.min || len(args) > fn.max {
		b.arity(name, fn)
	}
	return fn.bind(b, name, args), true
}

// arity is the error of a call with too few or too many arguments.
func (b *binder) arity(name string, fn builtin) {
	if fn.min == fn.max {
		failf(174, "The %s function requires %d argument(s).", lower(name), fn.min)
	}
	failf(189, "The %s function requires %d to %d arguments.", lower(name), fn.min, fn.max)
}
