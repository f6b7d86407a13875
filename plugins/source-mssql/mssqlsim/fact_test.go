package mssqlsim

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shown says where something that the simulator must do is shown. Tests of other packages have the package's directory
// before their name, as seen from this one.
type shown struct {
	what  string
	tests []string
	// not says what cannot be shown without a real server.
	not string
}

// facts are observations of real servers, most of SQL Server 2022, that readers of changes rely on.
var facts = []shown{
	{what: "the newest entry moves on an idle database, about every five minutes; writes to tables that are not captured add none", tests: []string{"TestIdleEntriesEveryFiveMinutes"}},
	{what: "a table updated every 10 s keeps the position within 30 s of now", tests: []string{"TestHeartbeatKeepsAQuietDatabaseMoving"}},
	{what: "commit times follow the server's local clock and go back only where it does", tests: []string{"TestCommitTimesFollowTheLocalClock", "TestMappingEntries"}},
	{what: "no row appears at or below a position that was seen; LSN order is commit order", tests: []string{"TestNoRowAppearsBelowTheNewestEntry"}},
	{what: "the change table has __$command_id, the query function has not", tests: []string{"TestAllChanges", "TestErrorNumbers"}},
	{what: "a transaction of insert, two updates, delete is 2, 3, 4, 3, 4, 1", tests: []string{"TestOperationsOfATransaction"}},
	{what: "an update of the primary key is a delete and an insert", tests: []string{"TestKeyUpdateIsDeleteAndInsert", "TestDeferredUpdates"}},
	{what: "a range upside down is empty in the change table", tests: []string{"TestCleanup"}},
	{what: "cleanup moves the minimum, and the range before it is empty", tests: []string{"TestCleanup", "TestCleanupJob"}},
	{what: "cleanup may land below its mark: at the first entry of that commit time", tests: []string{"TestCleanup"}},
	{what: "an LSN that is no commit's has no time", tests: []string{"TestPositionFunctions"}},
	{what: "a login with SELECT on the table and its change table reads all it needs; columns suffice to plan; capture's own tables are not readable", tests: []string{"TestLeastPrivilegedLogins", "TestPermissions"}},
	{what: "with SELECT on the table alone planning works and reading changes does not", tests: []string{"TestLeastPrivilegedLogins"}},
	{what: "just after it was made an instance has no minimum, and the newest entry is below its start", tests: []string{"TestAJustMadeInstanceIsNotReachedYet", "TestFrozenCaptureAndLag"}},
	{what: "where capture never wrote there is no newest entry", tests: []string{"TestMappingEntries", "../mssql/TestASnapshotOfADatabaseThatCaptureNeverWrote"}},
	{what: "names of instances ignore case", tests: []string{"TestNamesOfInstancesIgnoreCase"}},
	{what: "every type reads back from table and change table", tests: []string{"TestTypesRoundTrip", "../mssql/TestEveryTypeReadsBackExactly"}},
	{what: "geography is refused by who reads, with the way out", tests: []string{"../mssql/TestATypeThatCannotBeRead"}},
	{what: "eight commits of one row and one of eight are cut into 8 and 8", tests: []string{"TestTilesOfChangeRows"}},
	{what: "ranges of a key of two columns read their own rows", tests: []string{"TestRangesOfKeysReadTheirOwnRows", "../mssql/TestAPartOfOneLeadingValueReadsOnlyItsRows"}},
	{what: "a text parameter converts a varchar column, one that is cast with the column's collation does not", not: "conversions in plans are not simulated; that the statements cast is held by the next", tests: []string{"../mssql/TestEveryStatementRuns"}},
	{what: "tiles of a key are spooled, its ends are two seeks", not: "spools are not simulated", tests: []string{"TestRangesOfKeysReadTheirOwnRows"}},
	{what: "a seek for the n-th key reads at most n + 1 rows", tests: []string{"TestRangesOfKeysReadTheirOwnRows"}},
	{what: "a unique index over nullable columns is refused", tests: []string{"TestEnableTableRefuses"}},
	{what: "chunks of a skewed bigint key that ends at 2^63-1", tests: []string{"../mssql/TestIntegerKeysAreCutByArithmetic", "../mssql/TestChunksOfSoManyRows"}},
	{what: "a datetime2(7) key: all keys in the greatest one's microsecond are read", tests: []string{"../mssql/TestAPrimaryKeyWithManyKeysInAMicrosecond"}},
	{what: "READ COMMITTED waits for a writer in its range and reads what it committed", tests: []string{"TestReadCommittedWaitsForLocks", "TestCommitBeforeReadHappensOnce", "../mssql/TestACommitBetweenStampAndRead"}},
	{what: "SNAPSHOT is refused until allowed, then reads without waiting; a batch without parameters leaves the session in it", tests: []string{"TestReadCommittedWaitsForLocks", "TestIsolationOfABatchStays", "../mssql/TestIsolationOfSnapshots"}},
	{what: "LOCK_TIMEOUT ends a wait with 1222", tests: []string{"TestReadCommittedWaitsForLocks"}},
	{what: "a killed session is a lost connection", tests: []string{"TestFaults", "../mssql/TestAKilledConnectionIsReplaced"}},
	{what: "times of a fall-back hour are mapped to no later commit", tests: []string{"TestTimeToLSNInAFallBackHour"}},
	{what: "a fixed offset equals the zone where there is no daylight saving", tests: []string{"TestOffsetOfAZoneWithoutDaylightSaving"}},
	{what: "AT TIME ZONE reads a repeated time with the offset before the change", tests: []string{"TestAtTimeZoneAroundChanges"}},
	{what: "the search for drops reads no older entries", tests: []string{"TestTheMappingIsReadFromWhereARangeBegins"}},
	{what: "a second instance under writes: nothing lost, same LSNs and sequence values, command ids of its own", tests: []string{"TestASecondInstanceUnderWrites", "TestSecondInstance"}},
	{what: "enabling waits for who has written the table", tests: []string{"TestEnablingWaitsForWriters"}},
	{what: "disabling is immediate", tests: []string{"TestDisablingIsImmediate"}},
	{what: "a third instance is refused", tests: []string{"TestEnableTableRefuses", "TestSecondInstance"}},
	{what: "what DDL does to a captured table; its history has minutes and is seen with its position", tests: []string{"TestDDLIsSeenWithItsPosition", "TestDDLOfCapturedTable", "TestShapeOfCapturedTables", "TestCaptureThatLagsSeesTheTableAsItWas"}},
	{what: "a reader goes from one instance to the next", tests: []string{"../mssql/TestAStreamGoesOnInTheNewerInstance"}},
	{what: "a snapshot in chunks under writes ends equal to the table", tests: []string{"../mssql/TestRowsInsertedAfterTheOpen", "../mssql/TestTheChunksOfAnyKeyAreTheTable"}},
	{what: "chunks of 34 and 100 million rows of SQL Server 2016 in production matched", not: "its size", tests: []string{"../mssql/TestTheChunksOfAnyKeyAreTheTable"}},
	{what: "enabling fails with 14258 while SQL Server Agent starts", tests: []string{"TestSQLServerAgentStates"}},
}

// duties are what any stand-in for change data capture must do for those who read it.
var duties = []shown{
	// positions
	{what: "one mapping for the database; LSNs grow with gaps; commits and idle entries append; the newest entry or NULL", tests: []string{"TestMappingEntries", "TestIdleEntriesEveryFiveMinutes"}},
	{what: "a minimum per instance, zero for one that is not there; the next and the previous LSN, not below zero", tests: []string{"TestPositionFunctions", "TestCleanup", "TestStatementsOfReader"}},
	{what: "times only for entries; the last entry at or before a time; the time of DDL is that of the last entry at or before it", tests: []string{"TestPositionFunctions", "TestStatementsOfReader"}},
	{what: "the n-th entry after a position; tiles with bound, next LSN and rows, the first ones one row longer, no more than rows", tests: []string{"TestTilesOfChangeRows", "TestStatementsOfReader"}},
	// changes
	{what: "a commit has one LSN, one entry, and rows for every instance of its tables with their columns; an update that changes none of them has none", tests: []string{"TestSecondInstance", "TestChangesOfTransaction"}},
	{what: "sequence values are one for all instances, command ids each's own; 3 and 4 share both", tests: []string{"TestUpdatePairSharesSeqvalAndCommand", "TestSecondInstance"}},
	{what: "a key that moves and values of unique indexes that do are deletes and inserts, of one row with one sequence value", tests: []string{"TestDeferredUpdates", "TestKeysThatMoveAmongRowsAreCollapsed", "TestValuesOfUniqueIndexesThatMoveAmongRows"}},
	{what: "change rows do not hold all: large values, computed columns", tests: []string{"TestLargeValuesInChangeRows", "../mssql/TestImagesThatCDCDoesNotStore"}},
	{what: "all and net changes with each row filter, and what they refuse", tests: []string{"TestAllChanges", "TestNetChanges", "TestRangesThatChangeFunctionsRefuse"}},
	{what: "update masks and the functions that read them", tests: []string{"TestUpdateMaskFunctions"}},
	// instances
	{what: "names exactly or ignoring case; an instance that is gone is not there, and its table's default name is", tests: []string{"TestNamesOfInstancesIgnoreCase", "TestDisablingIsImmediate", "../mssql/TestTheDefaultNameStaysATablesName"}},
	{what: "instances come, at most two, from the next commit on, and go with their rows and history", tests: []string{"TestEnableTableRefuses", "TestASecondInstanceUnderWrites", "TestDisablingIsImmediate"}},
	{what: "DDL of each instance at its LSN; types change, a dropped column stays captured and cannot be selected, one that is added again is another", tests: []string{"TestDDLIsSeenWithItsPosition", "TestDDLOfCapturedTable", "TestCaptureThatLagsSeesTheTableAsItWas"}},
	{what: "a change of the shape of a captured table rolls back with its transaction", tests: []string{"TestShapeOfCapturedTablesInTransactions"}},
	{what: "a table that is made again is not captured", tests: []string{"scenarios/instances/dropping-the-table-takes-its-instances.sql"}},
	{what: "cleanup moves the minimum before rows go, a few at a time, and entries below every instance's", tests: []string{"TestCleanup", "TestCleanupJob"}},
	{what: "capture that lags, stops and goes on loses nothing", tests: []string{"TestFrozenCaptureAndLag", "TestStoppedCaptureJobLosesNothing", "TestCaptureStopsAtAColumnItCannotAlter"}},
	{what: "logins with few rights, and gating roles", tests: []string{"TestLeastPrivilegedLogins", "TestPermissions", "scenarios/access/a-gating-role-is-asked-for-besides.sql"}},
	// tables
	{what: "rows of the table by key, of one column or several, NULL first; ends, n-th keys, buckets and numbers of rows; cleanup leaves them alone", tests: []string{"TestRangesOfKeysReadTheirOwnRows", "TestStatementsOfReader"}},
	{what: "a commit between stamp and read, once among parallel reads", tests: []string{"TestCommitBeforeReadHappensOnce"}},
	{what: "isolation by default or SNAPSHOT, row versions for READ COMMITTED, and update conflicts", tests: []string{"TestReadCommittedWaitsForLocks", "TestIsolationOfABatchStays", "scenarios/isolation/read-committed-snapshot-does-not-wait.sql", "scenarios/isolation/a-snapshot-transaction-may-not-overwrite-what-it-does-not-see.sql"}},
	{what: "deadlocks have the victim that the documentation says", tests: []string{"TestDeadlockVictim", "scenarios/isolation/of-equal-priorities-the-cheaper-transaction-is-the-victim.sql", "scenarios/isolation/the-victim-is-who-has-the-lower-priority.sql"}},
	// histories and clocks
	{what: "one recorded history plays the same", tests: []string{"history/TestHistoriesPlay", "history/TestFullHistoryImages"}},
	{what: "a restore takes LSNs back, and rows, shape and instances along", tests: []string{"TestOtherDatabaseBehindTheSameName", "TestARestoreTakesAllBack", "TestARestoreUnderAnotherName", "TestABackupHoldsTheLogThatCaptureHasNotRead"}},
	{what: "time zones of the server, with daylight saving", tests: []string{"TestCommitTimesFollowTheLocalClock", "TestAtTimeZoneAroundChanges", "TestTimeToLSNInAFallBackHour"}},
	// what goes wrong
	{what: "errors by pattern and count before rows, among them and after them", tests: []string{"TestFaults", "tds/TestFaultSendsAnErrorAfterRows"}},
	{what: "connections that are cut before, in and after an answer; answers that are late; attentions that are ignored", tests: []string{"tds/TestFaultDropsTheConnection", "tds/TestFaultDelayEndsWithTheAttention", "tds/TestFaultIgnoresAttention"}},
	{what: "logins that fail, and a failover", tests: []string{"TestFaultsOfLogins", "tds/TestDropAllCutsConnectionsAndNewOnesWork", "TestADatabaseIsTakenFromItsUsers"}},
}

// TestEveryFactHasATest holds the lists against the tests: each test that they name is there, says something about its
// result and is not skipped, and each scenario is there.
func TestEveryFactHasATest(t *testing.T) {
	t.Parallel()
	if len(facts) != 43 {
		t.Errorf("%d facts", len(facts))
	}
	known := map[string]map[string]*ast.FuncDecl{}
	for _, list := range [][]shown{facts, duties} {
		for i, f := range list {
			if f.not != "" {
				t.Logf("%d, %s: not shown: %s", i+1, f.what, f.not)
			}
			if len(f.tests) == 0 {
				t.Errorf("%d, %s: no test", i+1, f.what)
			}
			for _, name := range f.tests {
				if strings.HasSuffix(name, ".sql") {
					if _, err := os.Stat(name); err != nil {
						t.Errorf("%d, %s: there is no scenario %s", i+1, f.what, name)
					}
					continue
				}
				dir, test := filepath.Split(name)
				if dir == "" {
					dir = "."
				}
				if known[dir] == nil {
					known[dir] = testsOf(t, dir)
				}
				switch fn := known[dir][test]; {
				case fn == nil:
					t.Errorf("%d, %s: there is no test %s", i+1, f.what, name)
				case calls(fn, func(method string, _ bool) bool { return strings.HasPrefix(method, "Skip") }):
					t.Errorf("%d, %s: %s may be skipped", i+1, f.what, name)
				case !calls(fn, func(method string, passed bool) bool {
					return passed && method != "Helper" || strings.HasPrefix(method, "Error") || strings.HasPrefix(method, "Fatal")
				}):
					t.Errorf("%d, %s: %s cannot fail", i+1, f.what, name)
				}
			}
		}
	}
}

// calls tells whether a test has a call that is one: of a method, or of a function that the test itself is passed to,
// which may fail it.
func calls(fn *ast.FuncDecl, is func(method string, passed bool) bool) (found bool) {
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		method := ""
		if s, ok := c.Fun.(*ast.SelectorExpr); ok {
			if on, ok := s.X.(*ast.Ident); ok && on.Name == "t" {
				method = s.Sel.Name
			}
		}
		passed := false
		for _, a := range c.Args {
			id, ok := a.(*ast.Ident)
			passed = passed || ok && id.Name == "t"
		}
		found = found || (method != "" || passed) && is(method, passed)
		return true
	})
	return found
}

// testsOf gives the tests of a package.
func testsOf(t *testing.T, dir string) map[string]*ast.FuncDecl {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	must(t, err)
	tests := map[string]*ast.FuncDecl{}
	for _, path := range files {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		must(t, err)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(fn.Name.Name, "Test") {
				tests[fn.Name.Name] = fn
			}
		}
	}
	return tests
}
