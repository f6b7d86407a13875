package mssqlsim

import (
	"go/ast"
	"go/parser"
	"go/token"
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
	{what: "one mapping for the database; LSNs grow with gaps; commits and idle entries append; the newest entry or NULL", tests: []string{"TestMappingEntries", "TestIdleEntriesEveryFiveMinutes"}},
	{what: "a commit has one LSN, one entry, and rows for every instance of its tables with their columns; an update that changes none of them has none", tests: []string{"TestSecondInstance", "TestChangesOfTransaction"}},
	{what: "sequence values are one for all instances, command ids each's own; 3 and 4 share both", tests: []string{"TestUpdatePairSharesSeqvalAndCommand", "TestSecondInstance"}},
	{what: "a minimum per instance; the next and the previous LSN", tests: []string{"TestPositionFunctions", "TestCleanup"}},
	{what: "times only for entries; the last entry at or before a time", tests: []string{"TestPositionFunctions"}},
	{what: "the n-th entry after a position; tiles with bound, next LSN and rows", tests: []string{"TestTilesOfChangeRows"}},
	{what: "cleanup moves the minimum before rows go, and entries below every instance's", tests: []string{"TestCleanup", "TestCleanupJob"}},
	{what: "names exactly or ignoring case; an instance that is gone is not there", tests: []string{"TestNamesOfInstancesIgnoreCase", "TestDisablingIsImmediate", "../mssql/TestTheDefaultNameStaysATablesName"}},
	{what: "instances come, at most two, and go; DDL of each at its LSN, types change, dropped columns stay captured", tests: []string{"TestEnableTableRefuses", "TestDDLIsSeenWithItsPosition", "TestDDLOfCapturedTable"}},
	{what: "rows of the table by key, of one column or several; cleanup leaves them alone", tests: []string{"TestRangesOfKeysReadTheirOwnRows", "TestStatementsOfReader"}},
	{what: "a commit between stamp and read, once among parallel reads", tests: []string{"TestCommitBeforeReadHappensOnce"}},
	{what: "isolation by default or SNAPSHOT", tests: []string{"TestReadCommittedWaitsForLocks", "TestIsolationOfABatchStays"}},
	{what: "one recorded history plays the same", tests: []string{"history/TestHistoriesPlay", "history/TestFullHistoryImages"}},
	{what: "a restore takes LSNs back", tests: []string{"TestOtherDatabaseBehindTheSameName"}},
	{what: "change rows do not hold all: large values, computed columns", tests: []string{"TestLargeValuesInChangeRows", "../mssql/TestImagesThatCDCDoesNotStore"}},
}

func TestEveryFactHasATest(t *testing.T) {
	t.Parallel()
	if len(facts) != 43 {
		t.Errorf("%d facts", len(facts))
	}
	known := map[string]map[string]bool{}
	for _, list := range [][]shown{facts, duties} {
		for i, f := range list {
			if f.not != "" {
				t.Logf("%d, %s: not shown: %s", i+1, f.what, f.not)
			}
			if len(f.tests) == 0 {
				t.Errorf("%d, %s: no test", i+1, f.what)
			}
			for _, name := range f.tests {
				dir, test := filepath.Split(name)
				if dir == "" {
					dir = "."
				}
				if known[dir] == nil {
					known[dir] = testsOf(t, dir)
				}
				if !known[dir][test] {
					t.Errorf("%d, %s: there is no test %s", i+1, f.what, name)
				}
			}
		}
	}
}

// testsOf gives the names of the tests of a package.
func testsOf(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	must(t, err)
	names := map[string]bool{}
	for _, path := range files {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		must(t, err)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(fn.Name.Name, "Test") {
				names[fn.Name.Name] = true
			}
		}
	}
	return names
}
