package mssql

import "testing"

// The history of DDL holds whole statements; a column of it is a word of its
// own, in brackets or not.
func TestACommandMentionsWholeIdentifiers(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		command, identifier string
		want                bool
	}{
		{"alter table dbo.people add name nvarchar(40)", "name", true},
		{"alter table dbo.people add [name] nvarchar(40)", "name", true},
		{"alter table dbo.people add surname nvarchar(40)", "name", false},
		{"alter table dbo.people add name2 int, surname int, name int", "name", true},
		{"alter table dbo.people add name_2 int", "name", false},
		{"alter table dbo.people add größe int", "größe", true},
		{"alter table dbo.people add übergröße int", "größe", false},
		{"name", "name", true},
		{"", "name", false},
	} {
		if got := mentions(tc.command, tc.identifier); got != tc.want {
			t.Errorf("%q in %q: %v", tc.identifier, tc.command, got)
		}
	}
}
