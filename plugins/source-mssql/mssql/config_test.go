package mssql

import (
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

// object builds a body value from its empty value and what is written.
func object(empty cty.Value, written map[string]cty.Value) cty.Value {
	attrs := empty.AsValueMap()
	for k, v := range written {
		attrs[k] = v
	}
	return cty.ObjectVal(attrs)
}

func str(s string) cty.Value { return cty.StringVal(s) }

func TestRulesBetweenConnectionArguments(t *testing.T) {
	t.Parallel()
	const url = "sqlserver://reader:s3cret@db:1433?database=shop&encrypt=disable"
	type m = map[string]cty.Value
	for name, tc := range map[string]struct {
		body m
		want string // part of the first error, "" for none
		path string
	}{
		"url":                         {m{"url": str(url)}, "", ""},
		"ado string":                  {m{"url": str("server=db;user id=reader;password=p{;database=shop")}, "", ""},
		"odbc string":                 {m{"url": str("odbc:server=db;uid=reader;pwd={s3;}}cret};database=shop")}, "", ""},
		"parts":                       {m{"host": str("db"), "database": str("shop"), "user": str("u"), "password": str("p")}, "", ""},
		"parts with port":             {m{"host": str("db"), "port": cty.NumberIntVal(1444), "database": str("shop"), "user": str("u"), "password": str("p")}, "", ""},
		"url without login, user":     {m{"url": str("sqlserver://db?database=shop"), "user": str("u"), "password": str("p")}, "", ""},
		"token":                       {m{"host": str("db"), "database": str("shop"), "access_token": str("eyJ")}, "", ""},
		"nothing":                     {m{}, "names no server", ""},
		"url and host":                {m{"url": str(url), "host": str("db")}, "host is given next to url", "host"},
		"url and encrypt":             {m{"url": str(url), "encrypt": str("true")}, "encrypt is given next to url", "encrypt"},
		"host without database":       {m{"host": str("db"), "user": str("u"), "password": str("p")}, "names no database", "database"},
		"url without database":        {m{"url": str("sqlserver://u:p@db")}, "names no database", "url"},
		"another scheme":              {m{"url": str("mssql://u:p@db:1433?database=shop")}, `begins with "mssql://"`, "url"},
		"a scheme of SQLAlchemy":      {m{"url": str("mssql+pyodbc://u:p@db:1433/shop")}, `begins with "mssql+pyodbc://"`, "url"},
		"a scheme of JDBC":            {m{"url": str("jdbc:sqlserver://db:1433;databaseName=shop")}, `begins with "jdbc:sqlserver://"`, "url"},
		"the scheme of another":       {m{"url": str("postgres://u:p@db/shop"), "database": str("shop")}, `begins with "postgres://"`, "url"},
		"the scheme in capitals":      {m{"url": str("SQLServer://u:p@db?database=shop")}, `begins with "SQLServer://"`, "url"},
		"a blank before the scheme":   {m{"url": str(" " + url)}, `begins with " sqlserver://"`, "url"},
		"a password like a scheme":    {m{"url": str("password=a://b;server=db;user id=reader;database=shop")}, "", ""},
		"a misspelt parameter":        {m{"url": str(url + "&encrpyt=disable")}, `has a parameter "encrpyt", which the driver does not know`, "url"},
		"an unknown parameter":        {m{"url": str(url + "&pooling=true")}, `has a parameter "pooling"`, "url"},
		"a misspelt word of ADO":      {m{"url": str("server=db;user id=reader;password=p;database=shop;trustservercertifcate=true")}, `has a parameter "trustservercertifcate"`, "url"},
		"words of other drivers":      {m{"url": str("server=db;user id=reader;password=p;database=shop;Pooling=true;MultipleActiveResultSets=False")}, "", ""},
		"names of parameters":         {m{"url": str(url + "&App+Name=x&Connection+Timeout=5&ApplicationIntent=ReadOnly&TrustServerCertificate=true")}, "", ""},
		"two databases":               {m{"url": str(url), "database": str("other")}, `database is "other" and url names "shop"`, "database"},
		"port and instance":           {m{"host": str("db"), "port": cty.NumberIntVal(1), "instance": str("x"), "database": str("shop"), "user": str("u")}, "Both port and instance", "instance"},
		"user and user in url":        {m{"url": str(url), "user": str("u")}, "user is given next to credentials in url", "user"},
		"password and one in url":     {m{"url": str(url), "password": str("p")}, "password is given next to credentials in url", "password"},
		"token and user":              {m{"host": str("db"), "database": str("shop"), "access_token": str("eyJ"), "user": str("u")}, "user is given next to access_token", "user"},
		"token and password":          {m{"host": str("db"), "database": str("shop"), "access_token": str("eyJ"), "password": str("u")}, "password is given next to access_token", "password"},
		"token and login in url":      {m{"url": str(url), "access_token": str("eyJ")}, "access_token is given next to credentials in url", "access_token"},
		"password without user":       {m{"host": str("db"), "database": str("shop"), "password": str("p")}, "password is given without user", "password"},
		"no credentials":              {m{"host": str("db"), "database": str("shop")}, "no credentials", ""},
		"no credentials in url":       {m{"url": str("sqlserver://db?database=shop")}, "no credentials", "url"},
		"fedauth":                     {m{"url": str("sqlserver://db?database=shop&fedauth=ActiveDirectoryDefault")}, "fedauth", "url"},
		"connect_timeout":             {m{"url": str(url), "connect_timeout": str("soon")}, `"soon" is no time to connect within`, "connect_timeout"},
		"connect_timeout of zero":     {m{"url": str(url), "connect_timeout": str("0s")}, `"0s" is no time to connect within`, "connect_timeout"},
		"answer_timeout":              {m{"url": str(url), "answer_timeout": str("soon")}, `"soon" is no time to wait for an answer`, "answer_timeout"},
		"answer_timeout of zero":      {m{"url": str(url), "answer_timeout": str("0s")}, `"0s" is no time to wait for an answer`, "answer_timeout"},
		"negative lock_timeout":       {m{"url": str(url), "lock_timeout": str("-1s")}, `"-1s" is no time to wait for a lock`, "lock_timeout"},
		"isolation uncommitted":       {m{"url": str(url), "isolation": str("uncommitted")}, `"uncommitted" is no isolation level`, "isolation"},
		"isolation in any case":       {m{"url": str(url), "isolation": str("SNAPSHOT")}, "", ""},
		"isolation readCommitted":     {m{"url": str(url), "isolation": str("readCommitted")}, "", ""},
		"zone":                        {m{"url": str(url), "source_time_zone": str("UTC'; DROP TABLE t; --")}, "invalid source_time_zone", "source_time_zone"},
		"zone of the IANA database":   {m{"url": str(url), "source_time_zone": str("Europe/Berlin")}, "is no name of a Windows time zone", "source_time_zone"},
		"zone of one word":            {m{"url": str(url), "source_time_zone": str("CET")}, "is no name of a Windows time zone", "source_time_zone"},
		"zone of Windows":             {m{"url": str(url), "source_time_zone": str("Central Standard Time (Mexico)")}, "", ""},
		"zone of Windows by offset":   {m{"url": str(url), "source_time_zone": str("UTC-02")}, "", ""},
		"unknown while validating":    {m{"url": cty.UnknownVal(cty.String)}, "", ""},
		"unknown next to a known one": {m{"url": cty.UnknownVal(cty.String), "host": str("db")}, "host is given next to url", "host"},
		"unreadable url":              {m{"url": str("sqlserver://u:s3cret@db:port?database=shop")}, "cannot be read", "url"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, list := parseConnection(object(connectionSchema().EmptyValue(), tc.body))
			errs := list.Errors()
			if tc.want == "" {
				if len(errs) > 0 {
					t.Fatal(list.Err())
				}
				return
			}
			if len(errs) == 0 || !strings.Contains(errs[0].Summary, tc.want) || errs[0].Path.String() != tc.path || errs[0].Kind != diag.KindConfiguration {
				t.Fatalf("got %+v, want %q at %q", errs, tc.want, tc.path)
			}
			if strings.Contains(list.Err().Error(), "s3cret") {
				t.Fatalf("the password shows: %v", list.Err())
			}
		})
	}
}

func TestConnectionDefaultsAndValues(t *testing.T) {
	t.Parallel()
	c, list := parseConnection(object(connectionSchema().EmptyValue(), map[string]cty.Value{
		"host": str("db"), "database": str("shop"), "user": str("u"), "password": str("p@ss;}word"),
		"connect_timeout": str("5s"), "lock_timeout": str("0s"), "answer_timeout": str("90m"), "isolation": str("snapshot"), "source_time_zone": str("utc"),
	}))
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	if c.driver.User != "u" || c.driver.Password != "p@ss;}word" || c.driver.Database != "shop" || c.driver.Host != "db" {
		t.Errorf("the driver gets %q %q %q %q", c.driver.User, c.driver.Password, c.driver.Database, c.driver.Host)
	}
	if c.connectTimeout != 5*time.Second || c.answerTimeout != 90*time.Minute || c.zone != "UTC" || c.locking != (tsql.Locking{Isolation: tsql.Snapshot}) {
		t.Errorf("%v %v %+v", c.connectTimeout, c.zone, c.locking)
	}
	if c.driver.ConnTimeout != 0 {
		t.Error("a bound on every read would cut healthy long fetches")
	}
	c, list = parseConnection(object(connectionSchema().EmptyValue(), map[string]cty.Value{"url": str("sqlserver://u:p@db?database=shop&connection+timeout=5")}))
	if list.HasErrors() || c.connectTimeout != defaultConnectTimeout || c.answerTimeout != time.Hour || c.locking.TimeoutMillis != -1 || c.zone != "auto" || c.driver.ConnTimeout != 0 {
		t.Errorf("%v, %+v", list, c)
	}
}

func TestSecretsAreMaskedInEveryForm(t *testing.T) {
	t.Parallel()
	m := newMasker("reader", "p}w d", "eyJ0eXAi", "sqlserver://reader:p%7Dw%20d@db?database=shop")
	for said, want := range map[string]string{
		"Login failed for user 'reader'.":                     "Login failed for user '***'.",
		"bad string: p}w d":                                   "bad string: ***",
		"bad string: {p}}w d}":                                "bad string: {***}",
		"bad query: p%7Dw+d":                                  "bad query: ***",
		"bad path: p%7Dw%20d":                                 "bad path: ***",
		"token eyJ0eXAi refused":                              "token *** refused",
		"sqlserver://reader:p%7Dw%20d@db?database=shop is no": "*** is no",
		"the readers of a spreader":                           "the readers of a spreader",
	} {
		if got := m.text(said); got != want {
			t.Errorf("%q becomes %q, want %q", said, got, want)
		}
	}
	if got := newMasker("", "ab", "", "").text("a table, ab."); got != "a table, ***." {
		t.Errorf("a short password: %q", got)
	}
}

func TestObjectAndInstanceRules(t *testing.T) {
	t.Parallel()
	type m = map[string]cty.Value
	for name, tc := range map[string]struct {
		body m
		want string
	}{
		"object":             {m{"object": str("dbo.orders")}, ""},
		"brackets":           {m{"object": str("[my schema].[a.b]")}, ""},
		"escaped bracket":    {m{"object": str("dbo.[x]]y]")}, ""},
		"capture instance":   {m{"capture_instance": str("dbo_Café")}, ""},
		"neither":            {m{}, "names no object"},
		"both":               {m{"object": str("dbo.a"), "capture_instance": str("dbo_a")}, "Both object and capture_instance"},
		"no schema":          {m{"object": str("orders")}, "no schema and table"},
		"an empty name":      {m{"object": str("")}, `"" is no schema and table`},
		"three parts":        {m{"object": str("shop.dbo.orders")}, "3 parts"},
		"open bracket":       {m{"object": str("dbo.[orders")}, "closing bracket"},
		"text after bracket": {m{"object": str("[dbo]x.orders")}, "no name of a table"},
		"empty part":         {m{"object": str("dbo.")}, "empty"},
		"instance, bracket":  {m{"capture_instance": str("dbo_a]")}, "invalid capture instance"},
		"instance, newline":  {m{"capture_instance": str("dbo_a\n")}, "invalid capture instance"},
		"instance, long":     {m{"capture_instance": str(strings.Repeat("x", 101))}, "invalid capture instance"},
		"snapshot_keys":      {m{"object": str("dbo.a"), "snapshot_keys": cty.ListVal([]cty.Value{str("a"), str("b")})}, ""},
		"no snapshot_keys":   {m{"object": str("dbo.a"), "snapshot_keys": cty.ListValEmpty(cty.String)}, "snapshot_keys is empty"},
		"empty snapshot key": {m{"object": str("dbo.a"), "snapshot_keys": cty.ListVal([]cty.Value{str("")})}, "invalid name"},
	} {
		_, list := parseObject(object(objectSchema().EmptyValue(), tc.body))
		switch {
		case tc.want == "" && list.HasErrors():
			t.Errorf("%s: %v", name, list.Err())
		case tc.want != "" && (!list.HasErrors() || !strings.Contains(list.Err().Error(), tc.want)):
			t.Errorf("%s: got %v, want %q", name, list.Err(), tc.want)
		}
	}
	cfg, _ := parseObject(object(objectSchema().EmptyValue(), m{"object": str("[my schema].[x]]y]")}))
	if cfg.object != (tsql.Table{Schema: "my schema", Name: "x]y"}) {
		t.Errorf("read as %+v", cfg.object)
	}
}

func TestReadRules(t *testing.T) {
	t.Parallel()
	type m = map[string]cty.Value
	for name, tc := range map[string]struct {
		body m
		want string
	}{
		"defaults":           {m{}, ""},
		"zero partitions":    {m{"partitions": cty.NumberIntVal(0)}, "partitions is no number"},
		"negative rows":      {m{"batch_rows": cty.NumberIntVal(-5)}, "batch_rows is no number"},
		"half a partition":   {m{"partitions": cty.NumberFloatVal(1.5)}, "partitions is no number"},
		"misspelt policy":    {m{"schema_change_policy": str("clasify")}, `"clasify" is no policy`},
		"policy in any case": {m{"schema_change_policy": str("FAIL")}, ""},
	} {
		_, list := parseRead(object(readSchema().EmptyValue(), tc.body))
		switch {
		case tc.want == "" && list.HasErrors():
			t.Errorf("%s: %v", name, list.Err())
		case tc.want != "" && (!list.HasErrors() || !strings.Contains(list.Err().Error(), tc.want)):
			t.Errorf("%s: got %v, want %q", name, list.Err(), tc.want)
		}
	}
	cfg, _ := parseRead(cty.NilVal)
	if cfg != (readConfig{partitions: defaultPartitions, batchRows: defaultBatchRows, policy: policyClassify, commandID: true}) {
		t.Errorf("without a read block: %+v", cfg)
	}
}

func TestSchemasAreUsable(t *testing.T) {
	t.Parallel()
	for _, b := range []interface{ Check([]string) error }{connectionSchema(), objectSchema(), readSchema()} {
		if err := b.Check([]string{"source", "key", "columns", "exclude", "description", "for_each", "max_connections"}); err != nil {
			t.Error(err)
		}
	}
}
