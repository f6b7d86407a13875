package tsql

// Release is the year of the SQL Server that a session talks to. Azure SQL Database counts as the newest one.
type Release int

// newest is the last release there is.
const newest Release = 2022

// builtin is a function that depends on its arguments only.
type builtin struct {
	min, max int
	since    Release // the first release that has it; 0 is all of them
	bind     func(b *binder, name string, args []expr) expr
}

// lookup finds a function of a release.
func (b *binder) lookup(name string, args []expr) (expr, bool) {
	fn, ok := functionNamed(name)
	if !ok || fn.since > b.sess.Release() {
		return expr{}, false
	}
	if len(args) < fn.min || len(args) > fn.max {
		b.arity(name, fn)
	}
	return fn.bind(b, name, args), true
}

// arity is the error of a call with too few or too many arguments.
func (b *binder) arity(name string, fn builtin) {
	if fn.min == fn.max {
		failf(174, "The %s function requires %d argument(s).", lower(name), fn.min)
	}
	failf(189, "The %s function requires %d to %d arguments.", lower(name), fn.min, fn.max)
}

// unbuilt are functions that SQL Server has and the simulator has not: they are refused by name, where a name that SQL
// Server does not know is error 195. The year is that of the first release that has it.
var unbuilt = map[string]Release{"CHECKSUM": 0, "BINARY_CHECKSUM": 0, "FORMAT": 0, "SOUNDEX": 0, "DIFFERENCE": 0, "COMPRESS": 0, "DECOMPRESS": 0,
	"FORMATMESSAGE": 0, "TEXTPTR": 0, "TEXTVALID": 0, "ENCRYPTBYKEY": 0, "DECRYPTBYKEY": 0, "ENCRYPTBYPASSPHRASE": 0, "DECRYPTBYPASSPHRASE": 0,
	"CERT_ID": 0, "KEY_ID": 0, "KEY_NAME": 0, "ASYMKEY_ID": 0, "PWDCOMPARE": 0, "PWDENCRYPT": 0, "CRYPT_GEN_RANDOM": 0, "GETANSINULL": 0,
	"JSON_MODIFY": 0, "JSON_OBJECT": 2022, "JSON_ARRAY": 2022, "JSON_PATH_EXISTS": 2022, "COLUMNPROPERTY": 0,
	"OBJECTPROPERTY": 0, "OBJECTPROPERTYEX": 0, "TYPEPROPERTY": 0, "INDEXPROPERTY": 0, "INDEX_COL": 0, "INDEXKEY_PROPERTY": 0, "FILE_ID": 0, "FILE_NAME": 0, "FILEPROPERTY": 0, "FILEGROUP_NAME": 0,
	"FILEGROUP_ID": 0, "FULLTEXTSERVICEPROPERTY": 0, "FULLTEXTCATALOGPROPERTY": 0, "TYPE_ID": 0, "OBJECT_DEFINITION": 0, "STATS_DATE": 0, "ASSEMBLYPROPERTY": 0, "APPLOCK_MODE": 0, "APPLOCK_TEST": 0, "PERMISSIONS": 0,
	"CONNECTIONPROPERTY": 0, "CONTEXT_INFO": 0, "SESSION_CONTEXT": 0, "CURRENT_REQUEST_ID": 0, "CURRENT_TRANSACTION_ID": 0, "MIN_ACTIVE_ROWVERSION": 0, "ERROR_LINE": 0,
	"ISDESCENDANTOF": 0, "COLLATIONPROPERTY": 0, "TERTIARY_WEIGHTS": 0, "GET_FILESTREAM_TRANSACTION_CONTEXT": 0, "ORIGINAL_DB_NAME": 0, "PUBLISHINGSERVERNAME": 0, "VERIFYSIGNEDBYCERT": 0,
	"NEWSEQUENTIALID": 0, "GROUPING_ID": 0, "APPROX_PERCENTILE_CONT": 2022, "APPROX_PERCENTILE_DISC": 2022, "CHECKSUM_AGG": 0, "CURRENT_DATE": 9999, "EVENTDATA": 0,
	"LEFT_SHIFT": 2022, "RIGHT_SHIFT": 2022, "BIT_COUNT": 2022, "GET_BIT": 2022, "SET_BIT": 2022, "HOST_ID": 0, "TRIGGER_NESTLEVEL": 0, "COLUMNS_UPDATED": 0, "LOGINPROPERTY": 0, "ORIGINAL_LOGIN": 0}
