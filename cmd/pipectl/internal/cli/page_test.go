package cli_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/cmd/pipectl/internal/cli"
)

// shared are the flags of every command that reads a configuration.
var shared = []string{"var", "var-file", "json", "v"}

// TestThePageOfCommandsIsWhole holds docs/commands.md against what the parsers
// define: no command, flag, text or exit code is missing there, and none stands
// there that is not.
func TestThePageOfCommandsIsWhole(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	for section := range strings.SplitSeq(string(raw), "\n## ") {
		name, text, _ := strings.Cut(section, "\n")
		sections[name] = text
	}
	flagRow := regexp.MustCompile("(?m)^\\| `-.*$")
	rowOf := func(f cli.Flag) string {
		return fmt.Sprintf("| `%s` | %s |", strings.TrimSpace("-"+f.Name+" "+f.Value), f.Usage)
	}
	const all = "Flags of all commands that read a configuration"
	var without []string
	for _, c := range cli.Commands() {
		text, ok := sections[c.Name]
		if !ok {
			t.Errorf("the page has no section %q", c.Name)
			continue
		}
		if usage := "    " + strings.TrimSpace("pipectl "+c.Name+" "+c.Arguments) + "\n"; !strings.Contains(text, usage) {
			t.Errorf("%s: the page lacks %q", c.Name, usage)
		}
		if want := strings.ToUpper(c.Short[:1]) + c.Short[1:] + "."; !strings.Contains(text, want) {
			t.Errorf("%s: the page lacks %q", c.Name, want)
		}
		flags := cli.Flags(c.Name)
		common := slices.ContainsFunc(flags, func(f cli.Flag) bool { return f.Name == shared[0] })
		if !common {
			without = append(without, "`"+c.Name+"`")
		}
		var want []string
		for _, f := range flags {
			if common && slices.Contains(shared, f.Name) {
				if !strings.Contains(sections[all], rowOf(f)) {
					t.Errorf("%s: the page lacks, for all, %s", c.Name, rowOf(f))
				}
				continue
			}
			want = append(want, rowOf(f))
		}
		if got := flagRow.FindAllString(text, -1); !slices.Equal(got, want) {
			t.Errorf("%s: the page has the flags\n%s\nand not\n%s", c.Name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if !regexp.MustCompile(`Exits\s+with`).MatchString(text) {
			t.Errorf("%s: the page does not say what it exits with", c.Name)
		}
	}
	last := len(without) - 1
	if text := "All but " + strings.Join(without[:last], ", ") + " and " + without[last] + " have these"; !strings.Contains(sections[all], text) {
		t.Errorf("the page does not say %q", text)
	}
	codes, err := os.ReadFile("../exit/exit.go")
	if err != nil {
		t.Fatal(err)
	}
	constants := regexp.MustCompile(`(?m)^\t\w+ += (\d+)$`).FindAllStringSubmatch(string(codes), -1)
	if len(constants) < 12 {
		t.Fatalf("%d exit codes; there were 12", len(constants))
	}
	operations, err := os.ReadFile("../../../../docs/guides/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range constants {
		if !strings.Contains(sections["Exit codes"], "\n| "+c[1]+" |") {
			t.Errorf("the page lacks the exit code %s", c[1])
		}
		if !regexp.MustCompile(`\n\| (\d+, )?` + c[1] + `(, \d+)? \|`).Match(operations) {
			t.Errorf("docs/guides/operations.md lacks the exit code %s", c[1])
		}
	}
}
