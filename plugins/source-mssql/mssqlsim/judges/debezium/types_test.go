package main

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/judges/values"
)

func TestBothProgramsFormsOfAValueAreOne(t *testing.T) {
	t.Parallel()
	number := func(s string) any { return json.Number(s) }
	for _, tc := range []struct {
		typ, text    string
		theirs, ours any
	}{
		{"bit", "1", true, true},
		{"real", "1.5", number("1.5"), number("1.5")},
		{"float", "1.7976931348623157e308", number("1.7976931348623157E308"), number("1.7976931348623157e+308")},
		{"money", "-922337203685477.5808", "-922337203685477.5808", "-922337203685477.5808"},
		{"date", "0001-01-01", number("-719162"), "0001-01-01"},
		{"date", "9999-12-31", number("2932896"), "9999-12-31"},
		{"time(3)", "05:06:07.123", number("18367123"), "05:06:07.123000000"},
		{"time(7)", "23:59:59.9999999", number("86399999999900"), "23:59:59.999999900"},
		{"datetime", "2026-03-04 05:06:07.997", number("1772600767997"), "2026-03-04T05:06:07.997000"},
		{"datetime2(7)", "2026-03-04 05:06:07.1234567", number("1772600767123456700"), "2026-03-04T05:06:07.123456"},
		{"datetimeoffset(7)", "2026-03-04 05:06:07.1234567 +05:30", "2026-03-04T05:06:07.1234567+05:30", "2026-03-03T23:36:07.123456Z"},
		{"varbinary(50)", "0x00FF", "AP8=", "00ff"},
		{"varbinary(50)", "0x", "", ""},
		{"nchar(4)", "é漢  ", "é漢  ", "é漢  "},
	} {
		v := values.Value{Name: tc.typ, Type: tc.typ, Text: tc.text}
		want, err := canonical(v, v.Text)
		if err != nil {
			t.Fatalf("%s: %v", tc.typ, err)
		}
		all := types{values: []values.Value{v}}
		for program, form := range map[string]func(any) (string, error){"Debezium": all.theirs()["c0"], "pipectl": all.ours()["c0"]} {
			value := tc.theirs
			if program == "pipectl" {
				value = tc.ours
			}
			if got, err := form(value); err != nil || got != want {
				t.Errorf("%s of %s: %q, %v, want %q", tc.typ, program, got, err, want)
			}
		}
	}
}

func TestAValueThatDiffersIsNamed(t *testing.T) {
	t.Parallel()
	all, err := newTypes(filepath.Join("..", "values.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	if len(all.left) != 6 {
		t.Errorf("left out: %v", all.left)
	}
	whole := image{}
	for i, v := range all.values {
		if whole[column(i)], err = canonical(v, v.Text); err != nil {
			t.Fatal(err)
		}
	}
	rows := func(change func(image)) (events []event) {
		for _, id := range []string{"1", "2", "3", "4"} {
			row := image{}
			if id == "1" || id == "3" {
				row = maps.Clone(whole)
			}
			row["id"] = id
			if id == "3" || id == "4" {
				change(row)
			}
			events = append(events, event{table: typesTable, op: "c", after: row})
		}
		return events
	}
	if err := all.check(rows(func(image) {})); err != nil {
		t.Error(err)
	}
	for want, events := range map[string][]event{
		"type tinyint of row 3":            rows(func(r image) { r["c0"] = "254" }),
		"type smallint of row 3":           rows(func(r image) { delete(r, "c1") }),
		"row 4 has values in place":        rows(func(r image) { r["c2"] = "0" }),
		"3 rows of the table of all types": rows(func(image) {})[:3],
	} {
		if err := all.check(events); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
