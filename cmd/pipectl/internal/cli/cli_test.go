package cli_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pipectl/pipectl/cmd/pipectl/internal/cli"
)

func TestFlagsAndPathInAnyOrder(t *testing.T) {
	t.Parallel()
	p, err := cli.ParsePlan([]string{"shop", "-json", "-target", "stream.orders,silver.orders", "-target=check.orders", "-var", "a=b,c"})
	if err != nil || p.Path != "shop" || !p.JSON || strings.Join(p.Targets, " ") != "stream.orders silver.orders check.orders" || p.Vars[0] != "a=b,c" {
		t.Fatalf("%+v %v", p, err)
	}
	if p, err := cli.ParsePlan(nil); err != nil || p.Path != "." {
		t.Fatalf("%+v %v", p, err)
	}
}

func TestFinalTellsNamesFromThePath(t *testing.T) {
	t.Parallel()
	f, err := cli.ParseFinal([]string{"silver.orders", `silver.erp["eu"]`, "bronze.orders", "shop.hcl", "-until", "2026-10-01T14:00:00+02:00", "-pin"})
	want := time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)
	if err != nil || len(f.Names) != 3 || f.Path != "shop.hcl" || !f.Until.Equal(want) || !f.Pin {
		t.Fatalf("%+v %v", f, err)
	}
}

func TestBoundsOfTheWork(t *testing.T) {
	t.Parallel()
	r, err := cli.ParseRun(nil)
	if err != nil || r.Jobs != 0 || r.Grace != cli.DefaultGrace || r.Poll != time.Second {
		t.Errorf("left out: %+v %v", r, err)
	}
	r, err = cli.ParseRun([]string{"-jobs", "2", "-grace", "0s", "-poll", "1m30s"})
	if err != nil || r.Jobs != 2 || r.Grace != 0 || r.Poll != 90*time.Second {
		t.Errorf("given: %+v %v", r, err)
	}
}

func TestUsageErrorsSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		parse func() error
		says  string
	}{
		"unknown flag":        {func() error { _, err := cli.ParsePlan([]string{"-nope"}); return err }, "There is no flag -nope"},
		"misspelt flag":       {func() error { _, err := cli.ParseRun([]string{"-wach"}); return err }, "There is no flag -wach. Did you mean -watch?"},
		"misspelt command":    {func() error { return cli.NoCommand("aply") }, "There is no command aply. Did you mean apply?"},
		"two paths":           {func() error { _, err := cli.ParsePlan([]string{"a", "b"}); return err }, "there are 2: a, b"},
		"no address":          {func() error { _, err := cli.ParseShow(nil); return err }, "An address is wanted"},
		"no lock":             {func() error { _, err := cli.ParseUnlock(nil); return err }, "The name of a lock is wanted: the app id of a stream"},
		"final without until": {func() error { _, err := cli.ParseFinal([]string{"silver.orders"}); return err }, "-until is wanted"},
		"time without a zone": {func() error {
			_, err := cli.ParseFinal([]string{"silver.orders", "-until", "2026-10-01T14:00:00"})
			return err
		}, "is no time with a zone"},
		"final of a path alone": {func() error {
			_, err := cli.ParseFinal([]string{"orders", "-until", "2026-10-01T14:00:00Z"})
			return err
		}, "orders names a configuration, and no table"},
		"final of nothing": {func() error { _, err := cli.ParseFinal([]string{"-until", "2026-10-01T14:00:00Z"}); return err }, "Name the tables"},
		"poll too short":   {func() error { _, err := cli.ParseRun([]string{"-poll", "1ms"}); return err }, "the least is 10ms"},
		"no jobs":          {func() error { _, err := cli.ParseRun([]string{"-jobs", "0"}); return err }, `invalid value "0" for flag -jobs: the least is 1`},
		"negative jobs":    {func() error { _, err := cli.ParseApply([]string{"-jobs=-2"}); return err }, "the least is 1"},
		"jobs in words":    {func() error { _, err := cli.ParseCheck([]string{"-jobs", "many"}); return err }, "it is no whole number"},
		"negative grace":   {func() error { _, err := cli.ParseRun([]string{"-grace", "-1s"}); return err }, "is no duration"},
		"grace, no unit":   {func() error { _, err := cli.ParseRun([]string{"-grace", "25"}); return err }, "is no duration; write it like"},
		"table verb":       {func() error { _, err := cli.ParseTable([]string{"show", "x"}); return err }, "rows|describe|history"},
		"plugins verb":     {func() error { _, err := cli.ParsePlugins([]string{"shop"}); return err }, "list|lock"},
		"demo rate":        {func() error { _, err := cli.ParseDemo([]string{"-rate", "-1"}); return err }, "between 0 and 50000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var usage *cli.UsageError
			if err := tc.parse(); !errors.As(err, &usage) || !strings.Contains(err.Error(), tc.says) {
				t.Fatalf("%v", err)
			}
		})
	}
}

// Words that a later release gives a meaning are refused by name, so that a
// script finds out what is missing.
func TestWordsOfALaterReleaseAreRefusedByName(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err  error
		says string
	}{
		"a command":            {cli.NoCommand("audit"), "The command audit is not built yet"},
		"a command of several": {cli.NoCommand("sql"), "The command sql is not built yet"},
		"no command":           {cli.NoCommand("frobnicate"), "There is no command frobnicate."},
		"a flag of apply":      {second(cli.ParseApply([]string{"-retype", "bronze.orders=rewrite"})), "The flag -retype of apply is not built yet"},
		"a flag of plan":       {second(cli.ParsePlan([]string{"-source-file=x"})), "The flag -source-file of plan is not built yet"},
		"a flag of run":        {second(cli.ParseRun([]string{"-schedule", "hourly"})), "The flag -schedule of run is not built yet"},
		"of another command":   {second(cli.ParsePlan([]string{"-retype", "x"})), "There is no flag -retype"},
		"a verb of plugins":    {second(cli.ParsePlugins([]string{"test", "own"})), "plugins test is not built yet"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var usage *cli.UsageError
			if !errors.As(tc.err, &usage) || !strings.Contains(tc.err.Error(), tc.says) {
				t.Fatalf("%v", tc.err)
			}
			if later := strings.Contains(tc.says, "not built"); later != strings.Contains(tc.err.Error(), "later release") {
				t.Errorf("%v", tc.err)
			}
		})
	}
	for _, c := range cli.Commands() {
		if err := cli.NoCommand(c.Name); !strings.Contains(err.Error(), "There is no command") {
			t.Errorf("%s is a command and said to be one of a later release", c.Name)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// Help lists what the parsers define, so it cannot go stale; it must be there
// for every command.
func TestHelpOfEveryCommand(t *testing.T) {
	t.Parallel()
	for _, c := range cli.Commands() {
		text, ok := cli.Help(c.Name)
		if !ok || !strings.HasPrefix(text, strings.TrimSpace("pipectl "+c.Name+" "+c.Arguments)+"\n") || !strings.Contains(text, c.Short) {
			t.Errorf("help of %s:\n%s", c.Name, text)
		}
	}
	if text, _ := cli.Help("plan"); !strings.Contains(text, "  -out FILE              save the plan to a FILE, for apply\n") {
		t.Errorf("help of plan:\n%s", text)
	}
	if _, ok := cli.Help("nope"); ok {
		t.Error("help of a command that is none")
	}
}
