package reconcile_test

import (
	"testing"

	"github.com/pipectl/pipectl/core/plugin"
)

func TestEqualTablesAreEqual(t *testing.T) {
	t.Parallel()
	w := orders()
	w.insert(many(1, 100)...)
	w.stream(t, "")
	w.apply(t)
	got := w.check(t, settings{"bucket_rows": 30, "sample": 1, "report": reportName})
	expect(t, got, plugin.CheckResult{Outcome: plugin.Equal, Buckets: 4, Match: 4, Hashed: 4})
	if got.SourceRows != 100 || got.SilverRows != 100 || len(got.findings) != 0 {
		t.Errorf("%+v", got)
	}
	if n := len(w.lake.Rows(reportName)); n != 4 {
		t.Errorf("%d report rows", n)
	}
}
