package command

import (
	"slices"
	"testing"
	"time"

	"github.com/pipectl/pipectl/cmd/pipectl/internal/view"
	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/state"
)

func TestTheNewestOutcomeOfACheckIsTold(t *testing.T) {
	t.Parallel()
	check, err := addr.Parse("check.orders")
	if err != nil {
		t.Fatal(err)
	}
	silver, err := addr.Parse("silver.orders")
	if err != nil {
		t.Fatal(err)
	}
	w := &workspace{config: &model.Config{Checks: []model.Check{{Addr: check, Silver: silver}}}}
	step := func(status, severity, code string) state.RunStep {
		s := state.RunStep{Address: "check.orders", Status: status}
		if code != "" {
			s.Diagnostics = []state.RunDiagnostic{{Severity: severity, Code: code, Summary: code}}
		}
		return s
	}
	equal, different := step("done", "", ""), step("failed", "Error", "check.different")
	undecided, failed := step("failed", "Error", "check.undecided"), step("failed", "Error", "mssql.unreachable")
	skipped, locked := step("skipped", "", ""), step("failed", "Error", "state.locked")
	warned, noticed := step("done", "Warning", "check.different"), step("done", "Warning", "check.not_recorded")
	unsettled := step("failed", "Error", "mssql.unreachable")
	unsettled.Diagnostics = append(unsettled.Diagnostics, state.RunDiagnostic{Severity: "Warning", Code: "check.not_settled"})
	other := state.RunStep{Address: "silver.orders", Status: "done"}
	for name, tt := range map[string]struct {
		newestFirst []state.RunStep
		want        []string
	}{
		"never checked":                        {[]state.RunStep{other}, nil},
		"equal":                                {[]state.RunStep{equal, different}, nil},
		"equal, with a warning":                {[]state.RunStep{noticed, different}, nil},
		"different":                            {[]state.RunStep{other, different, equal}, []string{view.CheckDifferent}},
		"different, only warned of":            {[]state.RunStep{warned, equal}, []string{view.CheckDifferent}},
		"undecided":                            {[]state.RunStep{undecided, different}, []string{view.CheckUndecided}},
		"runs without it say nothing":          {[]state.RunStep{skipped, locked, different}, []string{view.CheckDifferent}},
		"failed":                               {[]state.RunStep{failed, equal}, []string{view.CheckFailed}},
		"a failure does not hide a difference": {[]state.RunStep{failed, failed, different}, []string{view.CheckFailed, view.CheckDifferent}},
		"different, and then failed":           {[]state.RunStep{unsettled, equal}, []string{view.CheckDifferent}},
		"failed, never more":                   {[]state.RunStep{failed, failed}, []string{view.CheckFailed}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var runs []state.Run
			for i, s := range tt.newestFirst {
				runs = append(runs, state.Run{Finished: time.Unix(int64(1000-i), 0), Steps: []state.RunStep{s}})
			}
			var got []string
			for _, o := range w.unequal(runs, silver) {
				got = append(got, o.Outcome)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
