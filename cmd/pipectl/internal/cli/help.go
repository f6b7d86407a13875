package cli

import (
	"fmt"
	"strings"
)

// Command is one command as help shows it.
type Command struct {
	Name string
	// Arguments in short: [PATH], ADDRESS [PATH].
	Arguments string
	Short     string
	// Flags name what its parser knows, with their meaning.
	Flags [][2]string
}

var commonFlags = [][2]string{
	{"-var NAME=VALUE", "value of a variable; may be given several times"},
	{"-var-file FILE", "file with values of variables; may be given several times"},
	{"-json", "write JSON"},
	{"-v", "show what plugins log"},
}

var selectionFlags = [][2]string{
	{"-target A,B", "only these addresses or tables"},
	{"-exclude A,B", "not these addresses or tables"},
}

func with(lists ...[][2]string) [][2]string {
	var out [][2]string
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// Commands lists all commands in the order in which one meets them.
func Commands() []Command {
	return []Command{
		{"demo", "", "the quickstart against the built-in SQL Server simulator with a live workload", [][2]string{
			{"-dir DIR", "where everything goes (default: a new temporary folder)"},
			{"-watch", "go on until interrupted"},
			{"-rate N", "changes per second of the workload, 0 = none (default 50)"},
			{"-rows N", "orders to begin with (default 200000)"},
		}},
		{"validate", "[PATH]", "check a configuration; needs no environment and no server", commonFlags},
		{"fmt", "[PATH...]", "write files in the one form", [][2]string{{"-check", "change nothing; exit 1 when a file would change"}, {"-diff", "show what changes"}}},
		{"plan", "[PATH]", "show what would happen; changes nothing", with(commonFlags, selectionFlags, [][2]string{
			{"-out FILE", "save the plan, for apply"},
			{"-detailed-exitcode", "exit 2 when a table would be created, changed or rebuilt, or a decision is pending"},
		})},
		{"apply", "[PATH|PLANFILE]", "create and change tables, accept what is declared, then do the work", with(commonFlags, selectionFlags, [][2]string{
			{"-yes", "do not ask"},
			{"-tables-only", "do no work"},
			{"-take-over A,B", "take these addresses' tables over from another configuration"},
			{"-jobs N", "steps that run at once (default 4)"},
			{"-memory SIZE", "budget of each plugin for buffers, 64MiB (default: the plugins' own)"},
			{"-grace D", "how long a first signal waits for running silvers and checks (default 25s)"},
		})},
		{"run", "[PATH]", "do the work of what apply accepted", with(commonFlags, selectionFlags, [][2]string{
			{"-watch", "keep streams and silvers at the head until interrupted; checks do not run"},
			{"-poll D", "pause between two looks of an idle watch (default 1s)"},
			{"-jobs N", "steps that run at once (default 4)"},
			{"-memory SIZE", "budget of each plugin for buffers, 64MiB (default: the plugins' own)"},
			{"-grace D", "how long a first signal waits for running silvers and checks (default 25s)"},
		})},
		{"check", "[PATH]", "compare silver tables with their sources", with(commonFlags, selectionFlags, [][2]string{
			{"-jobs N", "checks that run at once (default 4)"},
			{"-memory SIZE", "budget of each plugin for buffers, 64MiB (default: the plugins' own)"},
			{"-grace D", "how long a first signal waits for running checks (default 25s)"},
		})},
		{"status", "[PATH]", "per table: position, lag, headroom, verdict and its age", with(commonFlags, selectionFlags)},
		{"final", "NAME... [PATH]", "whether a period is complete: exit 0 yes, 5 not yet, 9 it will not come by itself", with(commonFlags, [][2]string{
			{"-until T", "end of the period, with a zone: 2026-10-01T14:00:00Z"},
			{"-tag A,B", "all streams and silvers with one of these tags"},
			{"-pin", "print the versions of the tables to read"},
		})},
		{"show", "ADDRESS [PATH]", "what something is, with every default", commonFlags},
		{"graph", "[PATH]", "the run graph, in the language of Graphviz", commonFlags},
		{"tail", "STREAM [PATH]", "change rows straight from the source", with(commonFlags, [][2]string{
			{"-from P", "earliest, latest or a position, exclusive (default earliest)"},
			{"-max N", "rows at most, 0 = all (default 100)"},
		})},
		{"table", "rows|describe|history PATH", "look into any Delta table", [][2]string{
			{"-version N", "version to read (default: the newest)"},
			{"-max N", "rows or commits at most, 0 = all (default 0)"},
			{"-json", "write JSON, one object a line"},
		}},
		{"plugins", "list|lock [PATH]", "the plugins in use; lock pins third-party files by their sha256", commonFlags},
		{"unlock", "NAME [PATH]", "release the lock of a stream, target or apply", commonFlags},
		{"version", "", "the version of pipectl", nil},
		{"help", "[COMMAND]", "this text, or a command's arguments", nil},
	}
}

func commandNamed(name string) Command {
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
	var b strings.Builder
	if name == "" {
		b.WriteString("pipectl moves the changes of a database into lakehouse tables and proves that they arrived.\n\nCommands:\n")
		for _, c := range Commands() {
			fmt.Fprintf(&b, "  %-10s %s\n", c.Name, c.Short)
		}
		b.WriteString("\nPATH is a folder of *.hcl files or one file; the folder at hand when left out.\nRun pipectl help COMMAND for its arguments.\n")
		return b.String(), true
	}
	for _, c := range Commands() {
		if c.Name != name {
			continue
		}
		fmt.Fprintf(&b, "%s\n\n", strings.TrimSpace(fmt.Sprintf("pipectl %s %s", c.Name, c.Arguments)))
		fmt.Fprintf(&b, "  %s\n", c.Short)
		if len(c.Flags) > 0 {
			b.WriteString("\nFlags:\n")
			for _, f := range c.Flags {
				fmt.Fprintf(&b, "  %-22s %s\n", f[0], f[1])
			}
		}
		return b.String(), true
	}
	return "", false
}
