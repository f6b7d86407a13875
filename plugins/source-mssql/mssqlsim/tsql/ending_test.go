package tsql_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// endings has every number that the simulator gives an error, what it ends and where that is from.
var endings = []struct {
	source, ends string
	numbers      []int32
}{
	{"what is not understood ends the batch", "batch", []int32{sqltype.NumberUnsupported}},
	{"Microsoft: SET XACT_ABORT (Transact-SQL), SET LOCK_TIMEOUT (Transact-SQL), Deferred Name Resolution", "statement",
		[]int32{
			547, 1222, 2601, 2628, 2812,
		}},
	{"Babelfish for PostgreSQL, err_handler.c, is_ignorable_error", "statement",
		[]int32{
			201, 220, 232, 266, 512, 515, 517, 545, 1801, 2627, 2732, 3701, 3902, 3903, 6401, 8115, 8134, 8143, 8145, 8152,
			16915, 16950,
		}},
	{"sql-server-simulator, transactions.md, SET XACT_ABORT; Database-level DDL; errors.md", "statement",
		[]int32{
			226, 242, 248, 530, 544, 8178, 18054,
		}},
	{"Microsoft: TRY...CATCH (Transact-SQL), Database Engine error severities: errors of a statement that runs", "statement",
		[]int32{
			127, 192, 214, 229, 230, 259, 281, 291, 300, 313, 506, 535, 536, 537, 924, 927, 942, 1001, 1002, 1031, 1088, 2501,
			1834, 2528, 2754, 2786, 3013, 3021, 3101, 3102, 3119, 3147, 3154, 3156, 3159, 3201, 3234, 3952, 3954, 3956, 3964, 3998, 4038, 4606, 4611,
			4613, 4617, 4621, 4624, 5011, 5052, 5058, 5061, 5069, 5070, 5074, 5812, 6102, 6104, 6106, 6354, 6522, 6592, 7139, 7997,
			7998, 8110, 8111, 8139, 8162, 8730, 9810, 9812, 9819, 9820, 9828, 9829, 9834, 10601, 11415, 16905, 16911, 16916,
			16917, 16924, 16925, 35100, 40508, 40510, 40515,
		}},
	{"Microsoft: RAISERROR (Transact-SQL): what procedures of the server and statements about logins, users and options say", "statement",
		[]int32{
			14258, 15007, 15009, 15250, 15010, 15023, 15025, 15063, 15116, 15118, 15123, 15129, 15138, 15144, 15150, 15151, 15197,
			15198, 15225, 15247, 15248, 15249, 15251, 15252, 15325, 15335, 15336, 15405, 15406, 15409, 15413, 15434, 15472,
			15517, 15530, 15590, 15645, 15646, 15664, 15665, 22022, 22836, 22838, 22850, 22860, 22865, 22901, 22902, 22903,
			22904, 22905, 22906, 22907, 22920, 22926, 22927, 22928, 22929, 22930, 22931, 22932, 22939, 22942, 22943, 22960,
			22962, 22963, 22964, 22965, 22970, 22972, 22973, 22974, 22975, 22976, 22979, 22981, 22985, 22989, 22990, 22991,
			22992, 22993, 22994, 22995, 22996, 22997, 22998, 22999,
		}},
	{"by number alone; TestWhatAStatementOfShapeEnds has what their statements make of them", "statement",
		[]int32{
			1731, 1752, 1753, 1754, 1756, 1757, 1759, 1761, 1762, 1763, 1764, 1765, 1766, 1767, 1769, 1770, 1773, 1774, 1776,
			1778, 1779, 1781, 1782, 1785, 1786, 1788, 1902, 1909, 1911, 1913, 1919, 2705, 2706, 2715, 2716, 2717, 2727, 2738,
			2740, 2741, 2742, 2744, 2749, 2750, 2753, 2759, 2760, 3702, 3708, 3723, 3724, 3725, 3726, 3727, 3728, 4701, 4711,
			1701, 1921, 2761, 8141, 8147, 8196, 4712, 4901, 4902, 4916, 4917, 4922, 4923, 4924, 4927, 4928,
		}},
	{"Microsoft: TRY...CATCH (Transact-SQL), Errors unaffected by a TRY...CATCH construct; Database engine events and errors, severity 15", "scope",
		[]int32{
			129, 252, 1015, 4116, 102, 105, 107, 108, 109, 110, 111, 113, 116, 119, 120, 121, 128, 130, 131, 134, 135, 136, 137, 141, 144, 145, 147,
			148, 155, 156, 157, 159, 164, 168, 169, 173, 174, 178, 179, 189, 191, 193, 195, 205, 206, 207, 208, 209, 213, 239, 240,
			243, 257, 258, 263, 264, 271, 272, 273, 305, 306, 310, 319, 324, 343, 402, 408, 421, 446, 447, 448, 451, 456, 457, 459, 468, 529, 1007,
			1008, 1011, 1012, 1013, 1014, 1020, 1023, 1033, 1038, 1046, 1047, 1048, 1060, 1062, 1065, 1087, 4104, 4108, 4112,
			4113, 4121, 4127, 4145, 4151, 4191, 4193, 4194, 4403, 4406, 5308, 5309, 5324, 5335, 8101, 8102, 8116, 8117, 8120, 8121, 8127,
			8133, 8144, 8155, 8156, 8158, 8159, 10704, 10709, 10710, 10711, 10713, 10714, 10741, 10742, 10744, 10752, 10753,
			10756, 10759, 10760,
		}},
	{"sql-server-simulator, transactions.md, SET XACT_ABORT; dml.md, MERGE; permissions.md", "transaction",
		[]int32{
			217, 235, 241, 245, 262, 289, 295, 297, 911, 916, 1505, 2714, 3930, 8114, 8169, 8170, 8672,
		}},
	{"Babelfish for PostgreSQL, err_handler.c, is_batch_txn_aborting_error", "transaction",
		[]int32{
			293, 628, 3623, 3729, 8106, 8107,
		}},
	{"Microsoft: Database engine events and errors 1000 to 1999, 3000 to 3999: the transaction is gone", "transaction",
		[]int32{
			1205, 3951, 3960, 3961,
		}},
	{"with the error that it comes behind, which Babelfish's list has (1715, 1765, 1768, 1778)", "transaction",
		[]int32{
			1750,
		}},
	{"messages that are no errors", "statement",
		[]int32{
			3606, 3607, 3621, 8153, 15457, 15477, 22857, 22859,
		}},
	{"the login fails", "statement",
		[]int32{
			4060, 4064, 18456, 18470,
		}},
}

func TestWhatEachNumberEnds(t *testing.T) {
	t.Parallel()
	known := map[int32]bool{}
	for _, group := range endings {
		for _, n := range group.numbers {
			if known[n] {
				t.Errorf("%d is there twice", n)
			}
			known[n] = true
			if got := tsql.EndOf(n); got != group.ends {
				t.Errorf("%d ends a %s, want %s (%s)", n, got, group.ends, group.source)
			}
		}
	}
	raised := regexp.MustCompile(`^\(?\s*(\d{3,5})\b`) // behind one of
	raisers := []string{"Errorf", "failf", "owner(db,", "Number:"}
	for _, dir := range []string{".", "..", "../cdc", "../sqltype"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if ok, _ := filepath.Match("*_test.go", filepath.Base(file)); ok {
				continue
			}
			for _, raiser := range raisers {
				for _, rest, found := strings.Cut(string(text), raiser); found; _, rest, found = strings.Cut(rest, raiser) {
					m := raised.FindStringSubmatch(rest)
					if m == nil {
						continue
					}
					n, err := strconv.ParseInt(m[1], 10, 32)
					if err != nil {
						t.Fatal(err)
					}
					if n != 50000 && !known[int32(n)] {
						t.Errorf("%s: nothing says what %d ends: endings of this test is to have it, with its source", file, n)
					}
				}
			}
		}
	}
}
