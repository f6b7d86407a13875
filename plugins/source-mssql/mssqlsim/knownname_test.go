package mssqlsim

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// knownNames reads the list of system objects: place, release and names of each section.
func knownNames(t *testing.T) (out []struct {
	place, since string
	names        []string
}) {
	t.Helper()
	data, err := os.ReadFile("cdc/documented.txt")
	must(t, err)
	for line := range strings.Lines(string(data)) {
		if head, ok := strings.CutPrefix(line, "["); ok {
			place, since, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(head), "]"), " ")
			out = append(out, struct {
				place, since string
				names        []string
			}{place: place, since: since})
			continue
		}
		last := &out[len(out)-1]
		last.names = append(last.names, strings.Fields(line)...)
	}
	return out
}

// The list is in small letters, sorted, and has each name of a place once.
func TestKnownNamesAreSorted(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range knownNames(t) {
		if !slices.IsSorted(s.names) || len(s.names) == 0 {
			t.Errorf("the names of %s %s are not sorted", s.place, s.since)
		}
		for _, n := range s.names {
			if n != strings.ToLower(n) || seen[s.place+n] {
				t.Errorf("%s %s: %s", s.place, s.since, n)
			}
			seen[s.place+n] = true
		}
	}
}

// A system object of the release is built or refused by its name, never one that does not exist; one of a later release does
// not exist yet.
func TestSystemObjectsAreBuiltOrRefused(t *testing.T) {
	t.Parallel()
	for _, version := range []Version{V2016, V2019, V2022, Azure} {
		t.Run(string(version), func(t *testing.T) {
			t.Parallel()
			s, err := Start(t.Context(), Options{Version: version})
			must(t, err)
			defer s.Close()
			conn := open(t, s.DSN("master"))
			for _, k := range knownNames(t) {
				there := version == Azure || k.since != "azure" && k.since <= string(version)
				for _, name := range k.names {
					schema := k.place
					if k.place == "msdb" || k.place == "master" {
						schema += ".dbo"
					}
					var stmt, missing string
					switch {
					case k.place == "procedure":
						stmt, missing = "EXEC "+name, "error 2812"
					case strings.HasPrefix(name, "fn_") || strings.HasPrefix(name, "dm_fts_index_keywords") || name == "dm_exec_sql_text" || name == "dm_exec_input_buffer":
						stmt, missing = "SELECT * FROM "+schema+"."+name+"()", "error 208"
					default:
						stmt, missing = "SELECT TOP 0 * FROM "+schema+"."+name, "error 208"
					}
					got := ask(conn, stmt, false)
					if refused := strings.HasPrefix(got, "refused: "); refused && !strings.Contains(strings.ToLower(got), name) {
						t.Errorf("%s: the refusal does not name it: %s", stmt, got)
					}
					if absent := got == missing; absent == there && !(k.place == "msdb" && name == "cdc_jobs") && !strings.HasPrefix(name, "fn_cdc_") {
						t.Errorf("%s: %s", stmt, got)
					}
				}
			}
		})
	}
}
