package mssql

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/microsoft/go-mssqldb/msdsn"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/schema"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

// Names of the arguments of a source block.
const (
	argURL            = "url"
	argHost           = "host"
	argPort           = "port"
	argInstance       = "instance"
	argDatabase       = "database"
	argUser           = "user"
	argPassword       = "password"
	argAccessToken    = "access_token"
	argEncrypt        = "encrypt"
	argCertificate    = "certificate"
	argTrust          = "trust_server_certificate"
	argCertHost       = "host_in_certificate"
	argConnectTimeout = "connect_timeout"
	argLockTimeout    = "lock_timeout"
	argAnswerTimeout  = "answer_timeout"
	argIsolation      = "isolation"
	argZone           = "source_time_zone"
)

const (
	defaultConnectTimeout = 30 * time.Second
	// A server that waits for a lock, or sorts, sends nothing for as long as that
	// takes, so only what is longer than any of them tells that it hangs.
	defaultAnswerTimeout = time.Hour
)

func connectionSchema() schema.Body {
	text := func(name, description string) schema.Attribute {
		return schema.Attribute{Name: name, Type: cty.String, Description: description}
	}
	secret := func(name, description string) schema.Attribute {
		a := text(name, description)
		a.Sensitive = true
		return a
	}
	encrypt := text(argEncrypt, "How the connection is encrypted: \"true\" (the default with host), \"strict\" (TDS 8), \"false\" (the login only) or \"disable\".")
	encrypt.Values = []string{"true", "strict", "false", "disable"}
	connect := text(argConnectTimeout, "How long opening a connection may take, the log-in included.")
	connect.Default = cty.StringVal("30s")
	answer := text(argAnswerTimeout, "How long the server may send nothing of an answer, waiting for locks and sorting included, before the connection is given up and what it read is read again.")
	answer.Default = cty.StringVal("1h")
	zone := text(argZone, "The server clock's zone, in which commit times are stored: auto, UTC, or the name of a Windows time zone.")
	zone.Default = cty.StringVal("auto")
	isolation := text(argIsolation, "How snapshots read the source table: \"read_committed\" or \"snapshot\". Uncommitted rows are never read.")
	isolation.Default = cty.StringVal("read_committed")
	return schema.Body{
		Description: "A SQL Server database with change data capture. Name it by url or by host and database.",
		Attributes: []schema.Attribute{
			secret(argURL, urlForm+", or an ADO or ODBC connection string."),
			text(argHost, "The server's host name or address."),
			{Name: argPort, Type: cty.Number, Description: "The server's port; 1433 without one."},
			text(argInstance, "The named instance, found through SQL Server Browser; not together with port."),
			text(argDatabase, "The database."),
			text(argUser, "The login's name."),
			secret(argPassword, "The login's password."),
			secret(argAccessToken, "A Microsoft Entra access token, instead of user and password."),
			encrypt,
			text(argCertificate, "A PEM file with the certificate of the authority that signed the server's."),
			{Name: argTrust, Type: cty.Bool, Description: "Accept any certificate of the server; it is checked without one."},
			text(argCertHost, "The host name that the server's certificate carries, when it differs from host."),
			connect,
			text(argLockTimeout, "How long a read of the source table waits for a lock; without it for ever, \"0s\" fails at the first."),
			answer,
			isolation,
			zone,
		},
	}
}

// connection is a validated source block.
type connection struct {
	driver         msdsn.Config
	token          string
	connectTimeout time.Duration
	// answerTimeout is how long the server may send nothing of an answer.
	answerTimeout time.Duration
	locking       tsql.Locking
	// zone is auto, UTC or a checked zone name.
	zone string
	mask masker
	// place is the argument that names the server, for messages.
	place string
}

// server names the server for people, without credentials.
func (c connection) server() string {
	s := c.driver.Host
	if c.driver.Instance != "" {
		s += `\` + c.driver.Instance
	}
	if c.driver.Port != 0 {
		s += ":" + strconv.FormatUint(c.driver.Port, 10)
	}
	return s
}

func configError(path, detail, summary string, args ...any) diag.Diagnostic {
	d := diag.Errorf(diag.KindConfiguration, "mssql.configuration", detail, summary, args...)
	if path != "" {
		d = d.At(path)
	}
	return d
}

// parseConnection checks everything that can be checked without a server.
// Unknown values, as an environment variable is while validating, are taken
// for given and not looked at.
func parseConnection(value cty.Value) (connection, diag.List) {
	var list diag.List
	b := body{value}
	c := connection{connectTimeout: defaultConnectTimeout, answerTimeout: defaultAnswerTimeout, locking: tsql.Locking{TimeoutMillis: -1}, zone: "auto", place: argURL}
	if !b.given(argURL) {
		c.place = argHost
	}
	list = append(list, credentialRules(b)...)
	if b.given(argConnectTimeout) {
		d, err := parseDuration(b.text(argConnectTimeout))
		if err != nil || d == 0 {
			list = append(list, configError(argConnectTimeout, `Write a duration such as "30s".`, "%q is no time to connect within", b.text(argConnectTimeout)))
		} else {
			c.connectTimeout = d
		}
	}
	if b.given(argAnswerTimeout) {
		d, err := parseDuration(b.text(argAnswerTimeout))
		if err != nil || d == 0 {
			list = append(list, configError(argAnswerTimeout, `Write a duration such as "1h", longer than any wait for a lock and any sort.`, "%q is no time to wait for an answer", b.text(argAnswerTimeout)))
		} else {
			c.answerTimeout = d
		}
	}
	if b.given(argLockTimeout) {
		d, err := parseDuration(b.text(argLockTimeout))
		if err != nil {
			list = append(list, configError(argLockTimeout, `Write a duration such as "500ms"; "0s" fails at the first lock, and leaving it out waits for ever.`, "%q is no time to wait for a lock", b.text(argLockTimeout)))
		} else {
			c.locking.TimeoutMillis = d.Milliseconds()
		}
	}
	if b.given(argIsolation) {
		level, err := parseIsolation(b.text(argIsolation))
		if err != nil {
			list = append(list, configError(argIsolation, `Write "read_committed" or "snapshot".`, "%s", err))
		}
		c.locking.Isolation = level
	}
	if b.given(argZone) {
		zone, problem := parseZone(b.text(argZone))
		if problem != nil {
			list = append(list, *problem)
		}
		c.zone = zone
	}
	if list.HasErrors() || b.unknown() {
		return c, list
	}
	c.token = b.text(argAccessToken)
	c.mask = newMasker(b.text(argUser), b.text(argPassword), c.token, b.text(argURL))
	cfg, problem := driverConfig(b, &c)
	if problem != nil {
		return c, append(list, *problem)
	}
	c.driver = cfg
	return c, list
}

// credentialRules are the rules between arguments.
func credentialRules(b body) diag.List {
	var list diag.List
	if !b.given(argURL) && !b.given(argHost) {
		return diag.List{configError("", `Set url = env("..."), or host and database.`, "The source names no server")}
	}
	if b.given(argURL) {
		for _, part := range []string{argHost, argPort, argInstance, argEncrypt, argCertificate, argTrust, argCertHost} {
			if b.given(part) {
				list = append(list, configError(part, "Say it inside url, or give host, database and so on instead of url.", "%s is given next to url", part))
			}
		}
	} else if !b.given(argDatabase) {
		list = append(list, configError(argDatabase, `Set database = "NAME": change data capture is per database.`, "The source names no database"))
	}
	if b.given(argPort) && b.given(argInstance) {
		list = append(list, configError(argInstance, "Leave one out: a port already names the instance.", "Both port and instance are given"))
	}
	if b.given(argAccessToken) {
		for _, other := range []string{argUser, argPassword} {
			if b.given(other) {
				list = append(list, configError(other, "Give either access_token, or user and password.", "%s is given next to access_token", other))
			}
		}
	} else if b.given(argPassword) && !b.given(argUser) && !b.given(argURL) {
		list = append(list, configError(argPassword, "Add user.", "password is given without user"))
	} else if !b.given(argURL) && !b.given(argUser) {
		list = append(list, configError("", "Give user and password, or access_token.", "The source has no credentials"))
	}
	return list
}

const (
	urlScheme = "sqlserver://"
	urlForm   = urlScheme + "USER:PASSWORD@HOST:PORT?database=NAME"
)

// anyScheme is what a URL begins with, also one of JDBC. Strings of ADO and ODBC
// have a "=" before any of that.
var anyScheme = regexp.MustCompile(`^\s*(?:[A-Za-z][A-Za-z0-9+.-]*:)?[A-Za-z][A-Za-z0-9+.-]*://`)

// driverConfig builds the driver's configuration. A parser's error may quote
// the connection string, so it passes the mask.
func driverConfig(b body, c *connection) (msdsn.Config, *diag.Diagnostic) {
	refuse := func(path, detail, summary string, args ...any) (msdsn.Config, *diag.Diagnostic) {
		d := configError(path, detail, summary, args...)
		return msdsn.Config{}, &d
	}
	text := b.text(argURL)
	if b.given(argURL) && strings.TrimSpace(text) == "" {
		return refuse(argURL, "If it comes from env(), the variable is set to nothing.", "The connection string is empty")
	}
	if scheme := anyScheme.FindString(text); scheme != "" && scheme != urlScheme {
		// The driver would read it as pairs, and find nothing that it knows.
		return refuse(argURL, "Write "+urlForm+".", "The connection string begins with %q, not with %s", scheme, urlScheme)
	}
	if text == "" {
		text = partsURL(b)
	}
	cfg, err := msdsn.Parse(text)
	if err != nil {
		// A *url.Error quotes the whole text.
		var quoting *url.Error
		if errors.As(err, &quoting) {
			err = quoting.Err
		}
		if b.given(argURL) {
			return refuse(argURL, "Write "+urlForm+", with special characters of the password percent-encoded.", "The connection string cannot be read: %s", c.mask.text(err.Error()))
		}
		path, advice := argHost, "Check host, port, instance and encrypt; the driver refuses one of them."
		if b.given(argCertificate) {
			path, advice = argCertificate, "Give the path of a .pem or .der file that this process can read, with the authority's certificate."
		}
		return refuse(path, advice, "The connection cannot be set up: %s", c.mask.text(err.Error()))
	}
	// Names that ODBC uses and the driver does not read.
	if cfg.User == "" {
		cfg.User = cfg.Parameters["uid"]
	}
	if cfg.Password == "" {
		cfg.Password = cfg.Parameters["pwd"]
	}
	c.mask = c.mask.with(cfg.User, cfg.Password)
	for _, name := range slices.Sorted(maps.Keys(cfg.Parameters)) {
		if slices.Contains(parameters, name) {
			continue
		}
		like := nearest(name, parameters)
		if like == "" && !strings.HasPrefix(text, urlScheme) {
			continue // strings of ADO and ODBC have words for their own drivers, such as Pooling
		}
		detail := "Remove it: it would do nothing."
		if like != "" {
			detail = fmt.Sprintf("Did you mean %s?", like)
		}
		return refuse(argURL, detail, "The connection string has a parameter %q, which the driver does not know", name)
	}
	if f := cfg.Parameters["fedauth"]; f != "" {
		return refuse(argURL, "Get a token outside and give it as access_token.", "The connection string asks for fedauth, which this plugin does not do")
	}
	for _, pair := range []struct{ arg, inURL string }{{argUser, cfg.User}, {argPassword, cfg.Password}, {argAccessToken, cfg.User}, {argAccessToken, cfg.Password}} {
		if b.given(pair.arg) && pair.inURL != "" {
			return refuse(pair.arg, "Give each credential once.", "%s is given next to credentials in url", pair.arg)
		}
	}
	if b.given(argUser) {
		cfg.User, cfg.Password = b.text(argUser), b.text(argPassword)
	}
	if b.given(argDatabase) {
		if cfg.Database != "" && cfg.Database != b.text(argDatabase) {
			return refuse(argDatabase, "Name the database once.", "database is %q and url names %q", b.text(argDatabase), cfg.Database)
		}
		cfg.Database = b.text(argDatabase)
	}
	if cfg.Database == "" {
		return refuse(argURL, "Change data capture is per database: add ?database=NAME.", "The connection string names no database")
	}
	if c.token == "" && cfg.User == "" && cfg.Parameters["authenticator"] == "" {
		return refuse(argURL, "Put them into the connection string, or give user and password, or access_token.", "The source has no credentials")
	}
	// The time to connect is bounded by a context; a bound on every read
	// would cut healthy long fetches.
	cfg.DialTimeout, cfg.ConnTimeout = -1, 0
	cfg.DisableRetry = true
	if cfg.PacketSize == 0 || cfg.Parameters[msdsn.PacketSize] == "" {
		cfg.PacketSize = 32767
	}
	if cfg.AppName == "" || cfg.Parameters[msdsn.AppName] == "" {
		cfg.AppName = "pipectl"
	}
	return cfg, nil
}

// parameters are those that the driver or this plugin reads (github.com/microsoft/go-mssqldb, package msdsn, and
// integratedauth/krb5). It reads past others, and past one that is misspelt.
var parameters = []string{
	msdsn.Database, msdsn.Encrypt, msdsn.Password, msdsn.ChangePassword, msdsn.UserID, msdsn.Port, msdsn.TrustServerCertificate, msdsn.Certificate,
	msdsn.ServerCertificate, msdsn.TLSMin, msdsn.PacketSize, msdsn.LogParam, msdsn.ConnectionTimeout, msdsn.HostNameInCertificate, msdsn.KeepAlive,
	msdsn.ServerSpn, msdsn.WorkstationID, msdsn.AppName, msdsn.ApplicationIntent, msdsn.FailoverPartner, msdsn.FailOverPort, msdsn.FailoverPartnerSpn,
	msdsn.DisableRetry, msdsn.Server, msdsn.Protocol, msdsn.DialTimeout, msdsn.Pipe, msdsn.MultiSubnetFailover, msdsn.NoTraceID, msdsn.GuidConversion,
	msdsn.Timezone, msdsn.EpaEnabled, "columnencryption", "uid", "pwd", "fedauth", "authenticator",
	"krb5-configfile", "krb5-keytabfile", "krb5-credcachefile", "krb5-realm", "krb5-dnslookupkdc", "krb5-udppreferencelimit",
}

func partsURL(b body) string {
	u := url.URL{Scheme: "sqlserver", Host: b.text(argHost)}
	if strings.Contains(u.Host, ":") && !strings.HasPrefix(u.Host, "[") {
		u.Host = "[" + u.Host + "]"
	}
	if b.given(argPort) {
		u.Host += ":" + b.text(argPort)
	}
	if b.given(argInstance) {
		u.Path = "/" + b.text(argInstance)
	}
	q := url.Values{msdsn.Database: {b.text(argDatabase)}, msdsn.Encrypt: {"true"}}
	for arg, param := range map[string]string{argEncrypt: msdsn.Encrypt, argCertificate: msdsn.Certificate, argTrust: msdsn.TrustServerCertificate, argCertHost: msdsn.HostNameInCertificate} {
		if b.given(arg) {
			q.Set(param, b.text(arg))
		}
	}
	u.RawQuery = q.Encode()
	return u.String()
}

func parseIsolation(text string) (tsql.Isolation, error) {
	switch strings.ToLower(strings.ReplaceAll(strings.TrimSpace(text), "_", "")) {
	case "", "readcommitted":
		return tsql.ReadCommitted, nil
	case "snapshot":
		return tsql.Snapshot, nil
	}
	return tsql.ReadCommitted, fmt.Errorf("%q is no isolation level", text)
}

// parseDuration reads "500ms", "30s", "20m", "72h", "7d".
func parseDuration(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	days, isDays := strings.CutSuffix(text, "d")
	if isDays {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil {
			return 0, fmt.Errorf("%q is no duration", text)
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no duration", text)
	}
	return d, nil
}
