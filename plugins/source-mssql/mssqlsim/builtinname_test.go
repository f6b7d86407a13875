package mssqlsim

import (
	"strings"
	"testing"
)

// builtinNames are the functions of Microsoft's pages with the release that they came with, where that is not 2016 or before
// (Microsoft: What are the SQL database functions?, and the pages that it leads to).
var builtinNames = []struct {
	page  string
	since Version
	names string
}{
	{"Aggregate functions", V2016, "AVG CHECKSUM_AGG COUNT COUNT_BIG GROUPING GROUPING_ID MAX MIN STDEV STDEVP SUM VAR VARP"},
	{"STRING_AGG", V2017, "STRING_AGG"},
	{"APPROX_COUNT_DISTINCT", V2019, "APPROX_COUNT_DISTINCT"},
	{"Analytic functions", V2016, "CUME_DIST FIRST_VALUE LAG LAST_VALUE LEAD PERCENT_RANK PERCENTILE_CONT PERCENTILE_DISC"},
	{"APPROX_PERCENTILE", V2022, "APPROX_PERCENTILE_CONT APPROX_PERCENTILE_DISC"},
	{"Ranking functions", V2016, "DENSE_RANK NTILE RANK ROW_NUMBER"},
	{"Bit manipulation functions", V2022, "LEFT_SHIFT RIGHT_SHIFT BIT_COUNT GET_BIT SET_BIT"},
	{"Collation functions", V2016, "COLLATIONPROPERTY TERTIARY_WEIGHTS"},
	{"Configuration functions", V2016, `@@DBTS @@LANGID @@LANGUAGE @@LOCK_TIMEOUT @@MAX_CONNECTIONS @@MAX_PRECISION @@NESTLEVEL @@OPTIONS @@REMSERVER
		@@SERVERNAME @@SERVICENAME @@SPID @@TEXTSIZE @@VERSION @@DATEFIRST`},
	{"Cryptographic functions", V2016, `ASYMKEY_ID ASYMKEYPROPERTY CERTPROPERTY CERT_ID CRYPT_GEN_RANDOM DECRYPTBYASYMKEY DECRYPTBYCERT DECRYPTBYKEY
		DECRYPTBYKEYAUTOASYMKEY DECRYPTBYKEYAUTOCERT DECRYPTBYPASSPHRASE ENCRYPTBYASYMKEY ENCRYPTBYCERT ENCRYPTBYKEY ENCRYPTBYPASSPHRASE HASHBYTES
		IS_OBJECTSIGNED KEY_GUID KEY_ID KEY_NAME SIGNBYASYMKEY SIGNBYCERT SYMKEYPROPERTY VERIFYSIGNEDBYCERT VERIFYSIGNEDBYASYMKEY`},
	{"Cursor functions", V2016, "@@CURSOR_ROWS @@FETCH_STATUS CURSOR_STATUS"},
	{"Data type functions", V2016, "DATALENGTH IDENT_CURRENT IDENT_INCR IDENT_SEED SQL_VARIANT_PROPERTY"},
	{"Date and time functions", V2016, `DATEADD DATEDIFF DATEDIFF_BIG DATEFROMPARTS DATENAME DATEPART DATETIME2FROMPARTS DATETIMEFROMPARTS
		DATETIMEOFFSETFROMPARTS DAY EOMONTH GETDATE GETUTCDATE ISDATE MONTH SMALLDATETIMEFROMPARTS SWITCHOFFSET SYSDATETIME SYSDATETIMEOFFSET
		SYSUTCDATETIME TIMEFROMPARTS TODATETIMEOFFSET YEAR`},
	{"CURRENT_TIMEZONE", V2019, "CURRENT_TIMEZONE"},
	{"Date and time functions of 2022", V2022, "CURRENT_TIMEZONE_ID DATE_BUCKET DATETRUNC"},
	{"Graph functions", V2017, `EDGE_ID_FROM_PARTS GRAPH_ID_FROM_EDGE_ID GRAPH_ID_FROM_NODE_ID NODE_ID_FROM_PARTS OBJECT_ID_FROM_EDGE_ID
		OBJECT_ID_FROM_NODE_ID`},
	{"JSON functions", V2016, "ISJSON JSON_MODIFY JSON_QUERY JSON_VALUE"},
	{"JSON functions of 2022", V2022, "JSON_ARRAY JSON_PATH_EXISTS"},
	{"Logical functions", V2016, "CHOOSE"},
	{"Logical functions of 2022", V2022, "GREATEST LEAST"},
	{"Mathematical functions", V2016, "ABS ACOS ASIN ATAN ATN2 CEILING COS COT DEGREES EXP FLOOR LOG LOG10 PI POWER RADIANS RAND ROUND SIGN SIN SQRT SQUARE TAN"},
	{"Metadata functions", V2016, `@@PROCID APP_NAME APPLOCK_MODE APPLOCK_TEST ASSEMBLYPROPERTY COL_LENGTH COL_NAME COLUMNPROPERTY DATABASE_PRINCIPAL_ID
		DATABASEPROPERTYEX DB_ID DB_NAME FILE_ID FILE_IDEX FILE_NAME FILEGROUP_ID FILEGROUP_NAME FILEGROUPPROPERTY FILEPROPERTY
		FULLTEXTCATALOGPROPERTY FULLTEXTSERVICEPROPERTY INDEX_COL INDEXKEY_PROPERTY INDEXPROPERTY OBJECT_DEFINITION OBJECT_ID OBJECT_NAME
		OBJECT_SCHEMA_NAME OBJECTPROPERTY OBJECTPROPERTYEX ORIGINAL_DB_NAME PARSENAME SCHEMA_ID SCHEMA_NAME SCOPE_IDENTITY SERVERPROPERTY
		STATS_DATE TYPE_ID TYPE_NAME TYPEPROPERTY`},
	{"Security functions", V2016, `CERTENCODED CERTPRIVATEKEY HAS_DBACCESS HAS_PERMS_BY_NAME IS_MEMBER IS_ROLEMEMBER IS_SRVROLEMEMBER LOGINPROPERTY
		ORIGINAL_LOGIN PERMISSIONS PWDCOMPARE PWDENCRYPT SESSIONPROPERTY SUSER_ID SUSER_NAME SUSER_SID SUSER_SNAME USER_ID USER_NAME`},
	{"String functions", V2016, `ASCII CHAR CHARINDEX CONCAT DIFFERENCE FORMAT LEFT LEN LOWER LTRIM NCHAR PATINDEX QUOTENAME REPLACE REPLICATE REVERSE
		RIGHT RTRIM SOUNDEX SPACE STR STRING_ESCAPE STUFF SUBSTRING UNICODE UPPER`},
	{"String functions of 2017", V2017, "CONCAT_WS TRANSLATE TRIM"},
	{"System functions", V2016, `@@ERROR @@IDENTITY @@PACK_RECEIVED @@ROWCOUNT @@TRANCOUNT BINARY_CHECKSUM CHECKSUM COMPRESS CONNECTIONPROPERTY
		CONTEXT_INFO CURRENT_REQUEST_ID CURRENT_TRANSACTION_ID DECOMPRESS ERROR_LINE ERROR_MESSAGE ERROR_NUMBER ERROR_PROCEDURE ERROR_SEVERITY
		ERROR_STATE FORMATMESSAGE GET_FILESTREAM_TRANSACTION_CONTEXT GETANSINULL HOST_ID HOST_NAME ISNULL ISNUMERIC MIN_ACTIVE_ROWVERSION
		NEWID NEWSEQUENTIALID ROWCOUNT_BIG SESSION_CONTEXT XACT_STATE`},
	{"System statistical functions", V2016, `@@CONNECTIONS @@CPU_BUSY @@IDLE @@IO_BUSY @@PACK_SENT @@PACKET_ERRORS @@TIMETICKS @@TOTAL_ERRORS @@TOTAL_READ
		@@TOTAL_WRITE`},
	{"Text and image functions", V2016, "TEXTPTR TEXTVALID"},
	{"Service Broker statements", V2016, "GET_TRANSMISSION_STATUS"},
	{"AI functions", Azure, "AI_GENERATE_EMBEDDINGS"},
	{"String functions of 2025", Azure, `BASE64_DECODE BASE64_ENCODE EDIT_DISTANCE EDIT_DISTANCE_SIMILARITY JARO_WINKLER_DISTANCE JARO_WINKLER_SIMILARITY REGEXP_COUNT
		REGEXP_INSTR REGEXP_LIKE REGEXP_REPLACE REGEXP_SUBSTR UNISTR`},
	{"PRODUCT", Azure, "PRODUCT"},
	{"JSON functions of 2025", Azure, "JSON_ARRAYAGG JSON_CONTAINS JSON_OBJECTAGG"},
	{"Vector functions", Azure, "VECTOR_DISTANCE VECTOR_NORM VECTOR_NORMALIZE VECTORPROPERTY"},
	{"Trigger functions", V2016, "COLUMNS_UPDATED EVENTDATA TRIGGER_NESTLEVEL"},
}

// Each function that SQL Server has is built or refused by its name; one that the release has not yet, like one that is
// none at all, is no function's name.
func TestEveryFunctionOfTheReleaseIsKnown(t *testing.T) {
	t.Parallel()
	for _, version := range []Version{V2016, V2017, V2019, V2022, Azure} {
		t.Run(string(version), func(t *testing.T) {
			t.Parallel()
			s, err := Start(t.Context(), Options{Version: version})
			must(t, err)
			defer s.Close()
			conn := open(t, s.DSN("master"))
			for _, page := range builtinNames {
				for _, name := range strings.Fields(page.names) {
					call := "SELECT " + name
					if !strings.HasPrefix(name, "@@") {
						call += "(1)"
					}
					got := ask(conn, call, false)
					if known := got != "error 195" && got != "error 137"; known != (page.since <= version) {
						t.Errorf("%s of %q: %s", call, page.page, got)
					}
				}
			}
			for call, want := range map[string]string{"SELECT NO_SUCH_FUNCTION(1)": "error 195", "SELECT @@NO_SUCH": "error 137", "SELECT RANK()": "error 10753"} {
				if got := ask(conn, call, false); got != want {
					t.Errorf("%s: %s, want %s", call, got, want)
				}
			}
		})
	}
}

// A function in FROM that the release has is refused by its name; before that release, in a schema of a user, and in another place
// than FROM it is none (Microsoft: Regular expressions functions (Transact-SQL), REGEXP_MATCHES, REGEXP_SPLIT_TO_TABLE: tables; SQL
// Server 2025 and Azure SQL Database).
func TestFunctionsInFromAreKnown(t *testing.T) {
	t.Parallel()
	for _, version := range []Version{V2022, Azure} {
		s, err := Start(t.Context(), Options{Version: version})
		must(t, err)
		t.Cleanup(s.Close)
		conn := open(t, s.DSN("master"))
		want := func(function string) string {
			if version == V2022 {
				return "error 208"
			}
			return "refused: mssqlsim does not understand the function " + function + " in FROM"
		}
		answers(t, conn, []documented{
			{"REGEXP_MATCHES", "SELECT * FROM REGEXP_MATCHES('learning', 'n')", want("REGEXP_MATCHES")},
			{"REGEXP_MATCHES of each row", "SELECT 1 FROM sys.databases AS d CROSS APPLY Regexp_Matches(d.name, 'a') AS m", want("REGEXP_MATCHES")},
			{"REGEXP_SPLIT_TO_TABLE", "SELECT * FROM REGEXP_SPLIT_TO_TABLE('a b', '\\s+') AS r", want("REGEXP_SPLIT_TO_TABLE")},
			{"in a schema", "SELECT * FROM dbo.REGEXP_MATCHES('a', 'b')", "error 208"},
			{"not in FROM", "SELECT REGEXP_MATCHES('a', 'b')", "error 195"},
		})
	}
}
