package mssql

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"

	mssqldb "github.com/microsoft/go-mssqldb"

	"github.com/pipectl/pipectl/core/diag"
)

// Codes of the diagnostics of this plugin; docs/guides/sql-server.md says
// what each means.
const (
	codeUnreachable     = "mssql.unreachable"
	codeTLS             = "mssql.tls"
	codeLogin           = "mssql.login"
	codeDatabase        = "mssql.database"
	codeAnotherDatabase = "mssql.another_database"
	codeNotEnabled      = "mssql.cdc_not_enabled"
	codeTableNotEnabled = "mssql.table_not_enabled"
	codeUnknownTable    = "mssql.unknown_table"
	codeUnknownInstance = "mssql.unknown_capture_instance"
	codeAmbiguous       = "mssql.ambiguous_capture_instance"
	codeSourceGrant     = "mssql.source_permission"
	codeChangeGrant     = "mssql.permission"
	codeNotReady        = "mssql.not_ready"
	codeDataLoss        = "mssql.data_loss"
	codeRewound         = "mssql.rewound"
	codeSchemaChanged   = "mssql.schema_changed"
	codeColumnType      = "mssql.column_type"
	codeReservedName    = "mssql.reserved_name"
	codeColumnName      = "mssql.column_name"
	codeTableName       = "mssql.table_name"
	codeColumnRule      = "mssql.column_rule"
	codeKey             = "mssql.key"
	codePosition        = "mssql.position"
	codeLockTimeout     = "mssql.lock_timeout"
	codeIsolation       = "mssql.snapshot_isolation"
	codeInstanceGone    = "mssql.change_table_gone"
	codeMissingColumn   = "mssql.missing_column"
	codeTransient       = "mssql.transient"
	codeBehind          = "mssql.behind"
	codeNoAnswer        = "mssql.no_answer"
	codeServer          = "mssql.server"
	codeValue           = "mssql.value"
	codeRowSize         = "mssql.row_size"
	codeUnsupported     = "mssql.unsupported"
	codeComputed        = "mssql.computed_columns"
	codeClockOffset     = "mssql.clock_offset"
	codeRange           = "mssql.range"

	codeSilent            = "mssql.capture_silent"
	codeInstanceSwitched  = "mssql.capture_instance_switched"
	codeInstanceDisabled  = "mssql.capture_instance_gone"
	codeColumnDropped     = "mssql.column_dropped"
	codeColumnNotCaptured = "mssql.column_not_captured"
	codeKeyNotUnique      = "mssql.key_not_known_unique"
	codeKeyPrecision      = "mssql.key_precision"
)

// Numbers of SQL Server errors (Microsoft: Database Engine events and errors).
const (
	errInvalidColumn   = 207
	errInvalidObject   = 208
	errSelectDenied    = 229
	errColumnDenied    = 230
	errDatabaseDenied  = 916
	errDeadlock        = 1205
	errLockTimeout     = 1222
	errNoSnapshot      = 3952
	errUnknownZone     = 9820
	errCannotOpenDB    = 4060
	errNoDefaultDB     = 4064
	errCDCNotEnabled   = 22901
	errCDCObjectDenied = 22981
)

// loginErrors refuse a login for good.
var loginErrors = []int32{18450, 18452, 18456, 18461, 18463, 18470, 18486, 18487, 18488}

// transientErrors may pass by themselves: deadlock victims, broken links,
// fail-overs of availability groups and mirrors, databases that recover, a server
// that is upgraded, and throttling of Azure SQL Database (Microsoft: Database Engine
// events and errors; Troubleshoot common connection issues to Azure SQL Database).
var transientErrors = []int32{errDeadlock, 233, 615, 922, 926, 954, 976, 978, 983, 4221, 6005, 10053, 10054, 10060, 10928, 10929, 18401,
	40197, 40501, 40613, 49918, 49919, 49920}

// sqlNumber is the number of the server's error in err, 0 without one. A server that cannot open the database says so
// and then that the login failed, of which the driver gives the last: the reason counts, and most of all one that may
// pass.
func sqlNumber(err error) int32 {
	var e mssqldb.Error
	if !errors.As(err, &e) {
		return 0
	}
	for _, reason := range e.All {
		if slices.Contains(transientErrors, reason.Number) {
			return reason.Number
		}
	}
	for _, first := range e.All {
		if first.Number == errCannotOpenDB || first.Number == errNoDefaultDB {
			return errCannotOpenDB
		}
	}
	return e.Number
}

// cancelled reports whether err only says that the caller gave up, or ran out
// of its own time.
func cancelled(err error) bool {
	var connecting *connectError
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &connecting)
}

// transient reports whether trying again on a new connection may help.
func transient(err error) bool {
	var d *diag.Err
	if err == nil || errors.As(err, &d) || cancelled(err) {
		return false
	}
	number := sqlNumber(err)
	if slices.Contains(transientErrors, number) {
		return true
	}
	var connecting *connectError
	if errors.As(err, &connecting) {
		if connecting.again {
			return true
		}
		return number == 0 && !tlsProblem(err) && !unknownHost(err)
	}
	var silent *silenceError
	if errors.As(err, &silent) {
		return true
	}
	// A killed session says why, with a number, and is gone.
	var q *queryError
	return errors.As(err, &q) && q.lost
}

// unknownHost reports whether DNS does not know the server. A listener's name can
// be gone for as long as a fail-over lasts.
func unknownHost(err error) bool {
	var dns *net.DNSError
	return errors.As(err, &dns) && dns.IsNotFound
}

// answered reports whether the server worked until err: neither was it out of reach
// nor did it keep silent.
func answered(err error) bool {
	var connecting *connectError
	var silent *silenceError
	return !errors.As(err, &connecting) && !errors.As(err, &silent)
}

// diagnose turns an error into a diagnostic. Errors that carry one, and
// cancellations, pass.
func (c connection) diagnose(err error) error {
	var d *diag.Err
	if err == nil || errors.As(err, &d) || cancelled(err) {
		return err
	}
	said := c.mask.text(firstLine(err))
	fail := func(kind diag.Kind, code, detail, summary string, args ...any) error {
		out := diag.Errorf(kind, code, detail, summary, args...)
		out.Data = map[string]string{"said": said}
		return out.Err()
	}
	number := sqlNumber(err)
	var connecting *connectError
	isConnecting := errors.As(err, &connecting)
	var silent *silenceError
	switch {
	case errors.As(err, &silent) && silent.limit == argAnswerTimeout:
		return fail(diag.KindTransient, codeNoAnswer, "It was "+said+", which is answer_timeout. Look whether it hangs, and what its sessions wait for. Waits for locks are bounded by lock_timeout; where an answer may take longer, raise answer_timeout.", "The server %s does not answer", c.server())
	case errors.As(err, &silent):
		return fail(diag.KindTransient, codeNoAnswer, "It let the login in, so it can be reached. Look how busy it is, and what its sessions wait for. The driver says: "+said, "The server %s does not answer", c.server())
	case isConnecting && connecting.again && number == errCannotOpenDB:
		return fail(diag.KindTransient, codeDatabase, "It could be opened before: it may be recovering after a restart, or failing over. The server says: "+said, "The database %q cannot be opened for now", c.driver.Database)
	case slices.Contains(loginErrors, number):
		return withPath(fail(diag.KindPermission, codeLogin, "Check user, password and database. The server says: "+said, "The server %s refused the login", c.server()), c.place)
	case number == errCannotOpenDB || number == errDatabaseDenied:
		return withPath(fail(diag.KindPermission, codeDatabase, "Check the database's name, and that the login has a user in it. The server says: "+said, "The database %q cannot be opened", c.driver.Database), c.place)
	case slices.Contains(transientErrors, number):
		return fail(diag.KindTransient, codeTransient, "This may pass by itself. The server says: "+said, "The server broke off")
	case isConnecting && strings.Contains(err.Error(), noEncryption):
		return withPath(fail(diag.KindUnavailable, codeTLS, `A DBA gives the server a certificate; or set encrypt = "disable" where the network is trusted. The driver says: `+said, "The server %s offers no encryption", c.server()), c.place)
	case isConnecting && tlsProblem(err):
		return withPath(fail(diag.KindUnavailable, codeTLS, `Give the authority's certificate as certificate, the certificate's host name as host_in_certificate, or set encrypt = "false" where the network is trusted. The driver says: `+said, "The encrypted connection to %s cannot be set up", c.server()), c.place)
	case isConnecting:
		kind := diag.KindUnavailable
		if transient(err) {
			kind = diag.KindTransient
		}
		return withPath(fail(kind, codeUnreachable, "Check the host, the port and the firewall. The driver says: "+said, "The server %s is out of reach", c.server()), c.place)
	case number == errLockTimeout:
		return fail(diag.KindTransient, codeLockTimeout, "A writer holds locks for longer than lock_timeout; raise it, or read with isolation = \"snapshot\". The server says: "+said, "A read of the source table waited too long for a lock")
	case number == errNoSnapshot:
		return withPath(fail(diag.KindConfiguration, codeIsolation, isolationAdvice, "The database %s does not allow snapshot isolation", c.driver.Database), argIsolation)
	case number == errUnknownZone && c.zone != "auto":
		return c.unknownZone(said)
	case number == errSelectDenied || number == errColumnDenied:
		return fail(diag.KindPermission, codeSourceGrant, "Grant SELECT on it to the login. The server says: "+said, "The login may not read an object that is needed")
	case number == errInvalidObject:
		return fail(diag.KindTransient, codeInstanceGone, "Its capture instance may have been disabled since this was planned; planning again follows the table's newer instance, or says what is lost. The server says: "+said, "A table that was planned to be read does not exist")
	case number == errInvalidColumn:
		return fail(diag.KindSchemaChanged, codeMissingColumn, "A captured column was dropped since this was planned: start again. Or the change table is older than __$command_id: set read { include_command_id = false }. The server says: "+said, "A column that was planned to be read does not exist")
	case number == errCDCObjectDenied:
		return fail(diag.KindPermission, codeUnknownInstance, "It may have been disabled since this was planned, or the login lacks SELECT on its captured columns or membership of its gating role. The server says: "+said, "A capture instance is not found")
	case number == errCDCNotEnabled:
		return fail(diag.KindConfiguration, codeNotEnabled, "A DBA enables it with EXEC sys.sp_cdc_enable_db.", "Change data capture is not enabled on the database %s", c.driver.Database)
	}
	var q *queryError
	if errors.As(err, &q) && q.lost {
		return fail(diag.KindTransient, codeTransient, "This may pass by itself. The driver says: "+said, "The connection to %s broke", c.server())
	}
	if number != 0 {
		return fail(diag.KindUnavailable, codeServer, "Microsoft lists the number under Database Engine events and errors. The server says: "+said, "The server answered with error %d", number)
	}
	return fail(diag.KindInternal, codeServer, "The plugin has no other word for it. Run again; if it comes back, report it with this message.", "%s", said)
}

func withPath(err error, path string) error {
	var d *diag.Err
	if path == "" || !errors.As(err, &d) {
		return err
	}
	for i := range d.List {
		d.List[i] = d.List[i].At(path)
	}
	return err
}

// firstLine is what err says, without the lines that follow.
func firstLine(err error) string {
	line, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	return line
}

// asDiag finds the diagnostics in err.
func asDiag(err error, into **diag.Err) bool { return errors.As(err, into) && len((*into).List) > 0 }
