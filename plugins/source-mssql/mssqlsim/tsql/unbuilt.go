package tsql

import (
	"slices"
	"strings"
)

// unbuilt tells whether SQL Server has a function that the simulator has not, and since which release: it is refused by
// name, where a name that SQL Server does not know is error 195, or 137 with two at signs. The pages are those of
// "Microsoft: What are the SQL database functions?".
func unbuilt(name string) (Release, bool) {
	for _, page := range unbuiltPages {
		if slices.Contains(strings.Fields(page.names), name) {
			return page.since, true
		}
	}
	return 0, false
}

var unbuiltPages = []struct {
	title string
	since Release
	names string
}{
	{"Aggregate functions", 0, "CHECKSUM_AGG GROUPING GROUPING_ID"},
	{"APPROX_COUNT_DISTINCT", 2019, "APPROX_COUNT_DISTINCT"},
	{"Analytic functions", 0, "PERCENTILE_CONT PERCENTILE_DISC"},
	{"APPROX_PERCENTILE_CONT, APPROX_PERCENTILE_DISC", 2022, "APPROX_PERCENTILE_CONT APPROX_PERCENTILE_DISC"},
	{"Bit manipulation functions", 2022, "LEFT_SHIFT RIGHT_SHIFT BIT_COUNT GET_BIT SET_BIT"},
	{"Collation functions", 0, "TERTIARY_WEIGHTS"},
	{"Configuration functions", 0, "@@DBTS @@NESTLEVEL @@REMSERVER"},
	{"Cryptographic functions", 0, `ASYMKEY_ID ASYMKEYPROPERTY CERTPROPERTY CERT_ID CRYPT_GEN_RANDOM DECRYPTBYASYMKEY DECRYPTBYCERT DECRYPTBYKEY
		DECRYPTBYKEYAUTOASYMKEY DECRYPTBYKEYAUTOCERT DECRYPTBYPASSPHRASE ENCRYPTBYASYMKEY ENCRYPTBYCERT ENCRYPTBYKEY ENCRYPTBYPASSPHRASE
		IS_OBJECTSIGNED KEY_GUID KEY_ID KEY_NAME SIGNBYASYMKEY SIGNBYCERT SYMKEYPROPERTY VERIFYSIGNEDBYASYMKEY VERIFYSIGNEDBYCERT`},
	{"Date and time functions: CURRENT_TIMEZONE", 2019, "CURRENT_TIMEZONE"},
	{"Graph functions", 2017, `EDGE_ID_FROM_PARTS GRAPH_ID_FROM_EDGE_ID GRAPH_ID_FROM_NODE_ID NODE_ID_FROM_PARTS OBJECT_ID_FROM_EDGE_ID
		OBJECT_ID_FROM_NODE_ID`},
	{"JSON functions", 0, "ISJSON JSON_MODIFY JSON_QUERY JSON_VALUE"},
	{"JSON functions", 2022, "JSON_ARRAY JSON_OBJECT JSON_PATH_EXISTS"},
	{"Metadata functions", 0, `@@PROCID APPLOCK_MODE APPLOCK_TEST ASSEMBLYPROPERTY DATABASEPROPERTY FILEGROUPPROPERTY
		FILEPROPERTY FILEPROPERTYEX FULLTEXTCATALOGPROPERTY FULLTEXTSERVICEPROPERTY
		STATS_DATE TYPEPROPERTY`},
	{"Replication functions", 0, "PUBLISHINGSERVERNAME"},
	{"Security functions", 0, "CERTENCODED CERTPRIVATEKEY LOGINPROPERTY PERMISSIONS PWDCOMPARE PWDENCRYPT"},
	{"String functions", 0, "DIFFERENCE FORMAT SOUNDEX"},
	{"System functions", 0, `$PARTITION @@PACK_RECEIVED BINARY_CHECKSUM CHECKSUM COMPRESS DECOMPRESS ERROR_LINE FORMATMESSAGE
		GET_FILESTREAM_TRANSACTION_CONTEXT MIN_ACTIVE_ROWVERSION NEWSEQUENTIALID`},
	{"System statistical functions", 0, `@@CONNECTIONS @@CPU_BUSY @@IDLE @@IO_BUSY @@PACKET_ERRORS @@PACK_SENT @@TIMETICKS @@TOTAL_ERRORS
		@@TOTAL_READ @@TOTAL_WRITE`},
	{"Text and image functions", 0, "TEXTPTR TEXTVALID"},
	{"Trigger functions", 0, "COLUMNS_UPDATED EVENTDATA TRIGGER_NESTLEVEL"},
	{"Change tracking functions", 0, "CHANGE_TRACKING_CURRENT_VERSION CHANGE_TRACKING_IS_COLUMN_IN_MASK CHANGE_TRACKING_MIN_VALID_VERSION"},
	{"FILESTREAM and FileTable functions", 0, "FILETABLEROOTPATH GETFILENAMESPACEPATH GETPATHLOCATOR"},
}

// windowOnly are the functions that OVER makes (Microsoft: Ranking functions, Analytic functions).
var windowOnly = map[string]bool{"ROW_NUMBER": true, "RANK": true, "DENSE_RANK": true, "NTILE": true, "LAG": true, "LEAD": true,
	"FIRST_VALUE": true, "LAST_VALUE": true, "PERCENT_RANK": true, "CUME_DIST": true}
