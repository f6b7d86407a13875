package cdc

import (
	"slices"
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// Each column of a documented view is given by the view's function or is the same in every row, and a view gives no column
// that its page has not. (Microsoft: the pages of the views)
func TestViewsHaveTheColumnsOfTheirPages(t *testing.T) {
	t.Parallel()
	for _, version := range []Version{V2016, V2017, V2019, V2022, Azure} {
		srv, err := NewServer(Config{Version: version})
		if err != nil {
			t.Fatal(err)
		}
		srv.AddLogin("sa", "pw", true)
		s, err := srv.NewSession("sa", "master")
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range systemObjects() {
			cols, ok := viewShapes()[o.shape]
			if !ok {
				continue
			}
			var want []string
			for _, c := range cols {
				if c.since <= s.Release() && !c.unbuilt {
					want = append(want, c.Name)
				}
			}
			var got []string
			for _, c := range o.columnsOf(s, s.db) {
				if c.Type.Kind == sqltype.Null {
					t.Errorf("%s %s: nothing gives the column %s", version, o.shape, c.Name)
				}
				got = append(got, c.Name)
			}
			if !slices.EqualFunc(got, want, sqltype.EqualName) {
				t.Errorf("%s %s:\n got %v\nwant %v", version, o.shape, got, want)
			}
			if o.name == "system_columns" || o.name == "all_columns" {
				continue
			}
			for _, c := range o.view(s, s.db).Cols {
				if !slices.ContainsFunc(cols, func(d viewColumn) bool { return sqltype.EqualName(d.Name, c.Name) }) {
					t.Errorf("%s %s: the column %s is not on its page", version, o.shape, c.Name)
				}
			}
		}
		s.Close()
	}
}

// Every section of the list is a view that is built.
func TestEveryDocumentedShapeIsBuilt(t *testing.T) {
	t.Parallel()
	built := map[string]bool{}
	for _, o := range systemObjects() {
		built[o.shape] = true
	}
	for name := range msdbViews {
		built["msdb."+name] = true
	}
	for name := range viewShapes() {
		if !built[name] {
			t.Errorf("views.txt has %s, which is no view", name)
		}
	}
}
