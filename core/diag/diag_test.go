package diag_test

import (
	"fmt"
	"testing"

	"github.com/pipectl/pipectl/core/diag"
)

// What a person could not tell apart is said once; what differs in any visible
// part stays, in its order.
func TestUnique(t *testing.T) {
	t.Parallel()
	at := func(line int) *diag.Range { return &diag.Range{Filename: "a.hcl", Start: diag.Pos{Line: line}} }
	unreachable := diag.Errorf(diag.KindUnavailable, "x.unreachable", "Check it.", "The server is out of reach")
	placed, elsewhere, warning, address := unreachable, unreachable, unreachable, unreachable
	placed.Subject, elsewhere.Subject, warning.Severity, address.Address = at(3), at(4), diag.Warning, "stream.orders"
	list := diag.List{unreachable, placed, elsewhere, warning, address, placed, unreachable}
	got := list.Unique()
	want := diag.List{unreachable, placed, elsewhere, warning}
	if len(got) != len(want) {
		t.Fatalf("%d diagnostics, not %d: %v", len(got), len(want), got)
	}
	for i := range want {
		if got[i].Subject != want[i].Subject || got[i].Severity != want[i].Severity {
			t.Errorf("number %d is %v, not %v", i, got[i], want[i])
		}
	}
	if len(list) != 7 {
		t.Error("the list itself was changed")
	}
	if diag.List(nil).Unique() != nil {
		t.Error("nothing became something")
	}
}

func TestHasCode(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("doing it: %w", diag.List{
		diag.Errorf(diag.KindStale, "a.first", "", "first"), diag.Errorf(diag.KindStale, "a.second", "", "second"),
	}.Err())
	for code, want := range map[string]bool{"a.first": true, "a.second": true, "a.third": false} {
		if got := diag.HasCode(err, code); got != want {
			t.Errorf("%s: %v", code, got)
		}
	}
	if diag.HasCode(nil, "") {
		t.Error("no error has a code")
	}
}
