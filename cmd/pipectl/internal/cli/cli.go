// Package cli turns command lines into structs, one per command. It checks what
// can be checked without a configuration, and does nothing else.
package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/nearest"
	"github.com/pipectl/pipectl/core/schema"
)

// Common are the arguments of every command that reads a configuration.
type Common struct {
	// Path is the folder or file of the configuration; "." when left out.
	Path string
	// Vars and VarFiles give values to variables.
	Vars, VarFiles []string
	JSON           bool
	// Verbose shows the log lines of plugins.
	Verbose bool
	// Memory bounds the buffers of each plugin session in bytes; 0 = the
	// plugins' own bounds.
	Memory int64
}

// Selection chooses steps.
type Selection struct {
	// Targets and Exclude are addresses or names of declared tables.
	Targets, Exclude []string
}

// Given reports whether the line chooses among the steps at all.
func (s Selection) Given() bool { return len(s.Targets)+len(s.Exclude) > 0 }

// HelpRequest is returned when help was asked for with -h.
type HelpRequest struct {
	Text  string
	flags []Flag
}

// Error is the text of the help.
func (h *HelpRequest) Error() string { return h.Text }

// UsageError is a command line that cannot be understood.
type UsageError struct {
	Command string
	Problem string
}

// Error says what is wrong and where to look.
func (e *UsageError) Error() string {
	if e.Command == "" {
		return e.Problem + "\nRun pipectl help for the commands."
	}
	return fmt.Sprintf("%s\nRun pipectl help %s for its arguments.", e.Problem, e.Command)
}

// set is a flag set that reports instead of printing.
type set struct {
	*flag.FlagSet
	command Command
}

func newSet(command string) *set {
	s := &set{FlagSet: flag.NewFlagSet(command, flag.ContinueOnError), command: about(command)}
	s.SetOutput(io.Discard)
	s.Usage = func() {}
	return s
}

// parse reads flags and positional arguments in any order.
func (s *set) parse(args []string) ([]string, error) {
	var rest []string
	for len(args) > 0 {
		if err := s.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return nil, s.help()
			}
			if name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); unknown {
				return nil, s.noFlag(name)
			}
			return nil, &UsageError{s.command.Name, err.Error()}
		}
		args = s.Args()
		if len(args) > 0 {
			rest = append(rest, args[0])
			args = args[1:]
		}
	}
	return rest, nil
}

// noFlag is the error for a flag that the command does not have.
func (s *set) noFlag(name string) error {
	if slices.Contains(laterFlags[s.command.Name], name) {
		return s.usage("%s", notBuilt(fmt.Sprintf("The flag -%s of %s", name, s.command.Name)))
	}
	var names []string
	s.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	return s.usage("%s", strings.TrimSpace("There is no flag -"+name+". "+nearest.DidYouMean(name, "-", names)))
}

func (s *set) usage(format string, args ...any) error {
	return &UsageError{s.command.Name, fmt.Sprintf(format, args...)}
}

// AsksForJSON reports whether arguments that cannot be understood ask for JSON.
func AsksForJSON(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		name, value, given := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
		if name != "json" || !strings.HasPrefix(arg, "-") {
			return false
		}
		wanted, err := strconv.ParseBool(value)
		return !given || err == nil && wanted
	})
}

// list is a flag that may be given several times, or with commas.
type list struct {
	values *[]string
	commas bool
}

func (l list) String() string { return "" }

func (l list) Set(text string) error {
	if !l.commas {
		*l.values = append(*l.values, text)
		return nil
	}
	for _, part := range strings.Split(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			*l.values = append(*l.values, part)
		}
	}
	return nil
}

func (s *set) common(c *Common) {
	s.Var(list{values: &c.Vars}, "var", "`NAME=VALUE` of a variable; may be given several times")
	s.Var(list{values: &c.VarFiles}, "var-file", "`FILE` with values of variables; may be given several times")
	s.BoolVar(&c.JSON, "json", false, "write JSON")
	s.BoolVar(&c.Verbose, "v", false, "show what plugins log")
}

// memory adds the budget of plugins.
func (s *set) memory(c *Common) {
	s.Func("memory", "budget of each plugin for buffers, a `SIZE` such as 64MiB, at least 16MiB (default: the plugins' own)", func(text string) error {
		n, err := schema.ParseSize(text)
		if err == nil && n < 16<<20 {
			err = errors.New("the least is 16MiB")
		}
		c.Memory = n
		return err
	})
}

// work adds the bounds of commands that carry out steps. Left out, jobs is 0:
// the run's own default.
func (s *set) work(jobs *int, steps string, grace *time.Duration, waitedFor string) {
	s.Func("jobs", "at most `N` "+steps+" run at once (default 4)", func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil {
			return errors.New("it is no whole number")
		}
		if n < 1 {
			return errors.New("the least is 1")
		}
		*jobs = n
		return nil
	})
	*grace = DefaultGrace
	s.duration(grace, "grace", 0, "a first signal waits this `DURATION` for running "+waitedFor)
}

// duration adds a length of time that has a default and a least one; the usage
// holds a `DURATION`.
func (s *set) duration(d *time.Duration, name string, least time.Duration, usage string) {
	s.Func(name, fmt.Sprintf("%s (default %s)", usage, *d), func(text string) error {
		length, err := schema.ParseDuration(text)
		if err == nil && length < least {
			err = fmt.Errorf("the least is %s", least)
		}
		*d = length
		return err
	})
}

func (s *set) selection(c *Selection) {
	s.Var(list{values: &c.Targets, commas: true}, "target", "only `A,B`: addresses or tables")
	s.Var(list{values: &c.Exclude, commas: true}, "exclude", "not `A,B`: addresses or tables")
}

// path takes the one optional positional argument.
func (s *set) path(c *Common, rest []string) error {
	switch len(rest) {
	case 0:
		c.Path = "."
	case 1:
		c.Path = rest[0]
	default:
		return s.usage("One configuration is wanted, a folder or a file, and there are %d: %s.", len(rest), strings.Join(rest, ", "))
	}
	return nil
}

// named splits the first positional argument, which names a thing, from the path;
// wanted says which sort of name.
func (s *set) named(c *Common, rest []string, wanted string) (string, error) {
	if len(rest) == 0 {
		return "", s.usage("%s.", wanted)
	}
	return rest[0], s.path(c, rest[1:])
}

// LooksLikeAddress reports whether text has the form of an address or of a
// dotted table name, so that the commands which take several can tell them
// from the path of a configuration.
func LooksLikeAddress(text string) bool {
	if _, err := addr.Parse(text); err == nil {
		return true
	}
	if strings.ContainsAny(text, `/\`) || strings.HasSuffix(text, ".hcl") || strings.HasPrefix(text, ".") {
		return false
	}
	return strings.Contains(text, ".")
}

// Plan is `pipectl plan`.
type Plan struct {
	Common
	Selection
	Out              string
	DetailedExitCode bool
}

// ParsePlan reads the arguments of plan.
func ParsePlan(args []string) (Plan, error) {
	var p Plan
	s := newSet("plan")
	s.common(&p.Common)
	s.selection(&p.Selection)
	s.StringVar(&p.Out, "out", "", "save the plan to a `FILE`, for apply")
	s.BoolVar(&p.DetailedExitCode, "detailed-exitcode", false, "exit 2 when apply has more to do than a run: a table to create, change or read whole, something that is not accepted yet or is declared no more; or when a decision may be pending")
	rest, err := s.parse(args)
	if err != nil {
		return p, err
	}
	return p, s.path(&p.Common, rest)
}

// Apply is `pipectl apply`; Path may be a saved plan.
type Apply struct {
	Common
	Selection
	Yes        bool
	TablesOnly bool
	TakeOver   []string
	Jobs       int
	Grace      time.Duration
}

// ParseApply reads the arguments of apply.
func ParseApply(args []string) (Apply, error) {
	var a Apply
	s := newSet("apply")
	s.common(&a.Common)
	s.selection(&a.Selection)
	s.memory(&a.Common)
	s.BoolVar(&a.Yes, "yes", false, "do not ask")
	s.BoolVar(&a.TablesOnly, "tables-only", false, "create and change tables and accept the steps, do no work")
	s.Var(list{values: &a.TakeOver, commas: true}, "take-over", "`A,B`: addresses whose tables are taken over from another configuration or program")
	s.work(&a.Jobs, "steps", &a.Grace, "silvers and checks")
	rest, err := s.parse(args)
	if err != nil {
		return a, err
	}
	return a, s.path(&a.Common, rest)
}

// DefaultGrace is below the 30 s that orchestrators usually give.
const DefaultGrace = 25 * time.Second

// Run is `pipectl run` and `pipectl check`.
type Run struct {
	Common
	Selection
	Watch bool
	Poll  time.Duration
	Jobs  int
	Grace time.Duration
}

// ParseRun reads the arguments of run.
func ParseRun(args []string) (Run, error) {
	var r Run
	s := newSet("run")
	s.common(&r.Common)
	s.selection(&r.Selection)
	s.memory(&r.Common)
	s.BoolVar(&r.Watch, "watch", false, "keep streams and silvers at the head until interrupted; checks do not run")
	r.Poll = time.Second
	s.duration(&r.Poll, "poll", 10*time.Millisecond, "`DURATION` of the pause between two looks of an idle watch")
	s.work(&r.Jobs, "steps", &r.Grace, "silvers and checks")
	rest, err := s.parse(args)
	if err != nil {
		return r, err
	}
	return r, s.path(&r.Common, rest)
}

// ParseCheck reads the arguments of check.
func ParseCheck(args []string) (Run, error) {
	var r Run
	s := newSet("check")
	s.common(&r.Common)
	s.selection(&r.Selection)
	s.memory(&r.Common)
	s.work(&r.Jobs, "checks", &r.Grace, "checks")
	rest, err := s.parse(args)
	if err != nil {
		return r, err
	}
	return r, s.path(&r.Common, rest)
}

// Plain is a command with nothing but the common arguments: validate, status,
// graph.
type Plain struct {
	Common
	Selection
}

// ParsePlain reads the arguments of validate, status and graph.
func ParsePlain(name string, args []string) (Plain, error) {
	var p Plain
	s := newSet(name)
	s.common(&p.Common)
	if name == "status" {
		s.selection(&p.Selection)
	}
	rest, err := s.parse(args)
	if err != nil {
		return p, err
	}
	return p, s.path(&p.Common, rest)
}

// Format is `pipectl fmt`.
type Format struct {
	Paths       []string
	Check, Diff bool
}

// ParseFormat reads the arguments of fmt.
func ParseFormat(args []string) (Format, error) {
	var f Format
	s := newSet("fmt")
	s.BoolVar(&f.Check, "check", false, "change nothing; exit 1 when a file would change")
	s.BoolVar(&f.Diff, "diff", false, "show what changes")
	rest, err := s.parse(args)
	f.Paths = rest
	if len(f.Paths) == 0 {
		f.Paths = []string{"."}
	}
	return f, err
}

// Final is `pipectl final`.
type Final struct {
	Common
	Names []string
	Tags  []string
	Until time.Time
	Pin   bool
}

// ParseFinal reads the arguments of final.
func ParseFinal(args []string) (Final, error) {
	var f Final
	var until string
	s := newSet("final")
	s.common(&f.Common)
	s.StringVar(&until, "until", "", "end of the period, which is wanted: a `TIME` with a zone, such as 2026-10-01T14:00:00Z")
	s.Var(list{values: &f.Tags, commas: true}, "tag", "all streams and silvers with one of the tags `A,B`")
	s.BoolVar(&f.Pin, "pin", false, "print the versions of the tables to read")
	rest, err := s.parse(args)
	if err != nil {
		return f, err
	}
	var paths []string
	for _, arg := range rest {
		if LooksLikeAddress(arg) {
			f.Names = append(f.Names, arg)
		} else {
			paths = append(paths, arg)
		}
	}
	if len(f.Names) == 0 && len(f.Tags) == 0 {
		if len(paths) > 0 {
			return f, s.usage("%s names a configuration, and no table. Name the tables to ask for, too, for example silver.orders, or a -tag.", paths[0])
		}
		return f, s.usage("Name the tables to ask for, for example silver.orders, or a -tag.")
	}
	if until == "" {
		return f, s.usage("-until is wanted: the end of the period, for example -until 2026-10-01T14:00:00Z.")
	}
	if f.Until, err = time.Parse(time.RFC3339, until); err != nil {
		return f, s.usage("-until %q is no time with a zone. Write it as 2026-10-01T14:00:00Z or 2026-10-01T14:00:00+02:00.", until)
	}
	f.Until = f.Until.UTC()
	return f, s.path(&f.Common, paths)
}
