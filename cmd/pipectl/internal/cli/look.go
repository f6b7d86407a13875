package cli

import (
	"slices"
	"strings"
)

// ParseVersion reads the arguments of version, which has none.
func ParseVersion(args []string) error {
	s := newSet("version")
	rest, err := s.parse(args)
	if err == nil && len(rest) > 0 {
		err = s.usage("version takes no arguments, and there is %s.", rest[0])
	}
	return err
}

// ParseHelp reads the arguments of help: the name of a command, "" when there
// is none.
func ParseHelp(args []string) (string, error) {
	s := newSet("help")
	rest, err := s.parse(args)
	switch {
	case err != nil:
		return "", err
	case len(rest) > 1:
		return "", s.usage("One command is wanted, and there are %d: %s.", len(rest), strings.Join(rest, ", "))
	case len(rest) == 1:
		return rest[0], nil
	}
	return "", nil
}

// Show is `pipectl show`.
type Show struct {
	Common
	Name string
}

// ParseShow reads the arguments of show.
func ParseShow(args []string) (Show, error) {
	var sh Show
	s := newSet("show")
	s.common(&sh.Common)
	rest, err := s.parse(args)
	if err != nil {
		return sh, err
	}
	sh.Name, err = s.named(&sh.Common, rest, "An address is wanted, for example stream.orders")
	return sh, err
}

// Unlock is `pipectl unlock`.
type Unlock struct {
	Common
	Name string
	// Force takes the lock of a process that is alive, too.
	Force bool
}

// ParseUnlock reads the arguments of unlock.
func ParseUnlock(args []string) (Unlock, error) {
	var u Unlock
	s := newSet("unlock")
	s.common(&u.Common)
	s.BoolVar(&u.Force, "force", false, "also when the process that holds it is alive on this machine")
	rest, err := s.parse(args)
	if err != nil {
		return u, err
	}
	u.Name, err = s.named(&u.Common, rest, "The name of a lock is wanted: the app id of a stream, which is its target where it has none, the target of a silver, as bronze.orders, or '#apply'")
	return u, err
}

// Tail is `pipectl tail`.
type Tail struct {
	Common
	Name string
	From string
	Max  int64
}

// ParseTail reads the arguments of tail.
func ParseTail(args []string) (Tail, error) {
	var t Tail
	s := newSet("tail")
	s.common(&t.Common)
	s.StringVar(&t.From, "from", "earliest", "behind which `POSITION` to begin: earliest, latest or one of the source (default earliest)")
	s.Int64Var(&t.Max, "max", 100, "at most `N` rows; 0 = all (default 100)")
	rest, err := s.parse(args)
	if err != nil {
		return t, err
	}
	if t.Max < 0 {
		return t, s.usage("-max %d is negative.", t.Max)
	}
	t.Name, err = s.named(&t.Common, rest, "An address is wanted, for example stream.orders")
	return t, err
}

// Table is `pipectl table`.
type Table struct {
	// Verb is rows, describe or history.
	Verb    string
	Path    string
	Version int64
	JSON    bool
	Max     int64
}

// ParseTable reads the arguments of table.
func ParseTable(args []string) (Table, error) {
	var t Table
	s := newSet("table")
	s.Int64Var(&t.Version, "version", -1, "version `N` of the table (default: the newest)")
	s.BoolVar(&t.JSON, "json", false, "write JSON, one object a line")
	s.Int64Var(&t.Max, "max", 0, "at most `N` rows or commits; 0 = all (default 0)")
	rest, err := s.parse(args)
	if err != nil {
		return t, err
	}
	verbs := []string{"rows", "describe", "history"}
	if len(rest) != 2 || !slices.Contains(verbs, rest[0]) {
		return t, s.usage("Wanted: pipectl table rows|describe|history PATH.")
	}
	if t.Max < 0 {
		return t, s.usage("-max %d is negative.", t.Max)
	}
	t.Verb, t.Path = rest[0], rest[1]
	return t, nil
}

// Plugins is `pipectl plugins`.
type Plugins struct {
	Common
	// Verb is list or lock.
	Verb string
}

// ParsePlugins reads the arguments of plugins.
func ParsePlugins(args []string) (Plugins, error) {
	var p Plugins
	s := newSet("plugins")
	s.common(&p.Common)
	rest, err := s.parse(args)
	if err != nil {
		return p, err
	}
	if len(rest) > 0 && slices.Contains(laterVerbs["plugins"], rest[0]) {
		return p, s.usage("%s", notBuilt("pipectl plugins "+rest[0]))
	}
	if len(rest) == 0 || rest[0] != "lock" && rest[0] != "list" {
		return p, s.usage("Wanted: pipectl plugins list|lock [PATH].")
	}
	p.Verb = rest[0]
	return p, s.path(&p.Common, rest[1:])
}

// Demo is `pipectl demo`.
type Demo struct {
	Dir   string
	Watch bool
	Rate  int
	Rows  int
}

// ParseDemo reads the arguments of demo.
func ParseDemo(args []string) (Demo, error) {
	var d Demo
	s := newSet("demo")
	s.StringVar(&d.Dir, "dir", "", "`DIR` where everything goes (default: a new folder below the system's temporary one)")
	s.BoolVar(&d.Watch, "watch", false, "go on until interrupted")
	s.IntVar(&d.Rate, "rate", 50, "`N` changes per second of the live workload; 0 = none (default 50)")
	s.IntVar(&d.Rows, "rows", 200_000, "`N` orders to begin with, at least 100 (default 200000)")
	rest, err := s.parse(args)
	if err != nil {
		return d, err
	}
	switch {
	case len(rest) > 0:
		return d, s.usage("demo takes no argument %q.", rest[0])
	case d.Rate < 0 || d.Rate > 50_000:
		return d, s.usage("-rate %d is not between 0 and 50000.", d.Rate)
	case d.Rows < 100 || d.Rows > 50_000_000:
		return d, s.usage("-rows %d is not between 100 and 50000000.", d.Rows)
	}
	return d, nil
}
