package cli

import (
	"errors"
	"flag"
	"fmt"
	"strings"
)

// Command is one command as help shows it. Its flags are those that its parser
// defines.
type Command struct {
	Name string
	// Arguments in short: [PATH], ADDRESS [PATH].
	Arguments string
	Short     string
	parse     func([]string) error
}

// Commands lists all commands in the order in which one meets them.
func Commands() []Command {
	return []Command{
		{"demo", "", "the quickstart against the built-in SQL Server simulator with a live workload", only(ParseDemo)},
		{"validate", "[PATH]", "check the text of a configuration, without environment and server; plan shows the rest", plain("validate")},
		{"fmt", "[PATH...]", "write files in the one form", only(ParseFormat)},
		{"plan", "[PATH]", "show what would happen; changes nothing", only(ParsePlan)},
		{"apply", "[PATH|PLANFILE]", "create and change tables, accept what is declared, then do the work", only(ParseApply)},
		{"run", "[PATH]", "do the work of what apply accepted", only(ParseRun)},
		{"check", "[PATH]", "compare silver tables with their sources", only(ParseCheck)},
		{"status", "[PATH]", "per table: position, lag, headroom, verdict and its age", plain("status")},
		{"final", "NAME... -until TIME [PATH]", "whether a period is complete: exit 0 yes, 5 not yet, 9 it will not come by itself", only(ParseFinal)},
		{"show", "ADDRESS [PATH]", "what something is, with every default", only(ParseShow)},
		{"graph", "[PATH]", "the run graph, in the language of Graphviz", plain("graph")},
		{"tail", "STREAM [PATH]", "change rows straight from the source", only(ParseTail)},
		{"table", "rows|describe|history PATH", "look into any Delta table", only(ParseTable)},
		{"plugins", "list|lock [PATH]", "the plugins in use; lock pins third-party files by their sha256", only(ParsePlugins)},
		{"unlock", "NAME [PATH]", "release the lock of a stream, target or apply", only(ParseUnlock)},
		{Name: "version", Short: "the version of pipectl"},
		{Name: "help", Arguments: "[COMMAND]", Short: "this text, or a command's arguments"},
	}
}

func only[T any](parse func([]string) (T, error)) func([]string) error {
	return func(args []string) error {
		_, err := parse(args)
		return err
	}
}

func plain(name string) func([]string) error {
	return func(args []string) error {
		_, err := ParsePlain(name, args)
		return err
	}
}

// about describes a command without its parser, which asks for it.
func about(name string) Command {
	for _, c := range Commands() {
		if c.Name == name {
			return c
		}
	}
	return Command{Name: name}
}

// Help is the text of help; "" is the list of commands. The second value is
// false when there is no such command.
func Help(name string) (string, bool) {
	if name == "" {
		var b strings.Builder
		b.WriteString("pipectl moves the changes of a database into lakehouse tables and proves that they arrived.\n\nCommands:\n")
		for _, c := range Commands() {
			fmt.Fprintf(&b, "  %-10s %s\n", c.Name, c.Short)
		}
		b.WriteString("\nPATH is a folder of *.hcl files or one file; the folder at hand when left out.\nRun pipectl help COMMAND for its arguments.\n")
		return b.String(), true
	}
	if asked := ask(name); asked != nil {
		return asked.Text, true
	}
	return "", false
}

// Flags lists the flags of a command in the order of the alphabet.
func Flags(name string) []Flag {
	if asked := ask(name); asked != nil {
		return asked.flags
	}
	return nil
}

// Flag is one flag as help shows it.
type Flag struct {
	Name string
	// Value is the placeholder of what it takes, "" for a switch.
	Value string
	Usage string
}

// ask has a command's parser describe itself; nil when there is no such command.
func ask(name string) *HelpRequest {
	for _, c := range Commands() {
		if c.Name != name {
			continue
		}
		var asked *HelpRequest
		if c.parse != nil && errors.As(c.parse([]string{"-h"}), &asked) {
			return asked
		}
		return newSet(name).help()
	}
	return nil
}

// help lists the flags that were defined.
func (s *set) help() *HelpRequest {
	var flags []Flag
	s.VisitAll(func(f *flag.Flag) {
		value, text := flag.UnquoteUsage(f)
		flags = append(flags, Flag{f.Name, value, text})
	})
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n  %s\n", strings.TrimSpace("pipectl "+s.command.Name+" "+s.command.Arguments), s.command.Short)
	if len(flags) > 0 {
		b.WriteString("\nFlags:\n")
	}
	for _, f := range flags {
		fmt.Fprintf(&b, "  %-22s %s\n", strings.TrimSpace("-"+f.Name+" "+f.Value), f.Usage)
	}
	return &HelpRequest{Text: b.String(), flags: flags}
}
