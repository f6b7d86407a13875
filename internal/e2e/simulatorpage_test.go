package e2e

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

// The page of the simulator has every flag of the program with its default, and
// none that it does not have.
func TestThePageOfTheSimulatorHasItsFlags(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/guides/simulator.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `-([^`]*)` \\| (.*) \\|$").FindAllStringSubmatch(string(page), -1) {
		rows[m[1]] = m[2]
	}
	var usage bytes.Buffer
	if code := mssqlsim.Main(t.Context(), []string{"-h"}, nil, nil, &usage); code != 0 {
		t.Fatalf("exit code %d: %s", code, &usage)
	}
	flags := regexp.MustCompile(`(?m)^  -(\S+(?: \S+)?)\n? +\t(.*)$`).FindAllStringSubmatch(usage.String(), -1)
	if len(flags) < 14 || len(flags) != strings.Count(usage.String(), "\n  -") {
		t.Fatalf("%d flags in\n%s", len(flags), &usage)
	}
	defaults := regexp.MustCompile(`\(default "?([^")]*)"?\)$`)
	for _, f := range flags {
		text, ok := rows[f[1]]
		if !ok {
			t.Errorf("the page lacks a row of `-%s`", f[1])
		}
		if d := defaults.FindStringSubmatch(f[2]); d != nil && !strings.HasSuffix(text, "(default `"+d[1]+"`)") {
			t.Errorf("the page does not say the default of -%s: %s", f[1], d[1])
		}
		delete(rows, f[1])
	}
	for name := range rows {
		t.Errorf("the page has a flag that there is not: -%s", name)
	}
}
