package cdc

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// documentedText lists the system objects of SQL Server, in sections of where they are and since which release: "azure" are
// those of Azure SQL Database alone, "procedure" are found in every schema. Within a section they are sorted.
//
// It was made from Microsoft's documentation as it was in March 2021 (the pages of docs/relational-databases/system-* in the
// repository of SQL Server's documentation): a page's heading is the name, the note below it of what it applies to the
// release; pages for Azure Synapse Analytics and Analytics Platform System alone are left out, and tables that are made by
// replication. Added by hand: what SQL Server 2022 brought, from the pages of query store, ledger and change feed, the
// procedures that drivers call with the number of a version in their names, and a few that no page documents but that
// pages of Microsoft use, such as sp_who2.
//
//go:embed documented.txt
var documentedText string

// anywhere is the place of procedures in the list.
const anywhere = "procedure"

// onAzure is the release of what only Azure SQL Database has.
const onAzure = tsql.Release(1 << 30)

// documentedNames maps a place and a name, in small letters, to the release that brought it.
var documentedNames = sync.OnceValue(func() map[[2]string]tsql.Release {
	out := map[[2]string]tsql.Release{}
	place, since := "", tsql.Release(0)
	for line := range strings.Lines(documentedText) {
		if head, ok := strings.CutPrefix(strings.TrimSpace(line), "["); ok {
			words := strings.Fields(strings.TrimSuffix(head, "]"))
			year, err := strconv.Atoi(words[1])
			if place, since = lower(words[0]), tsql.Release(year); err != nil {
				since = onAzure
			}
			continue
		}
		for _, name := range strings.Fields(line) {
			out[[2]string{place, name}] = since
		}
	}
	return out
})

// documented tells whether a server of the session's release has a system object of that name.
func (s *Session) documented(place, name string) bool {
	since, ok := documentedNames()[[2]string{lower(place), lower(name)}]
	return ok && (since <= s.Release() || since == onAzure && s.srv.Version == Azure)
}

// unbuilt refuses what a server has and the simulator has not; nil for what a server has not either. Compatibility views and
// functions of the schema sys are found without it, too (Microsoft: System compatibility views (Transact-SQL)).
func (s *Session) unbuilt(db *Database, n tsql.Name) error {
	place, known := lower(n.Schema), false
	switch place {
	case "sys", "information_schema":
		known = s.documented(place, n.Object)
	case "", "dbo":
		short := lower(n.Object)
		known = s.documented(lower(db.Name), short) || (strings.HasPrefix(short, "sys") || strings.HasPrefix(short, "fn_")) && s.documented("sys", short)
	}
	if !known {
		return nil
	}
	return sqltype.Unsupported("%s, which SQL Server has and the simulator has not", n)
}

// unbuiltProcedure is unbuilt for procedures, unless a user made one of that name.
func (s *Session) unbuiltProcedure(db *Database, n tsql.Name) error {
	if !s.documented(anywhere, n.Object) {
		return nil
	}
	h, err := s.routineHome(n)
	if err != nil {
		return err
	}
	db.mu.RLock()
	defer db.mu.RUnlock()
	if h.routines[h.key] != nil {
		return nil
	}
	return sqltype.Unsupported("the procedure %s, which SQL Server has and the simulator has not", lower(n.Object))
}
