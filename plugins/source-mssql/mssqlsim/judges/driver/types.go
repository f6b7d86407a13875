package main

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/judges/values"
)

// types logs in and reads every value of the list, and its NULL, through the driver's own interface.
func (p *program) types(ctx context.Context, file string) (failed int, err error) {
	all, err := values.Read(file)
	if err != nil {
		return 0, err
	}
	db, err := sql.Open("sqlserver", p.server)
	if err != nil {
		return 0, fmt.Errorf("opening the server: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	report := func(test string, problem error) error {
		detail := ""
		if problem != nil {
			failed++
			detail = problem.Error()
		}
		return p.print(test, problem == nil, detail, detail)
	}
	if err := report("login", db.PingContext(ctx)); err != nil {
		return failed, err
	}
	if unknown, ok := withoutCertificate(p.server); ok {
		if err := report("login strict, certificate unknown", refused(ctx, unknown)); err != nil {
			return failed, err
		}
	}
	for _, v := range all {
		got, problem := readValue(ctx, db, v.Expression)
		if problem == nil {
			problem = same(v, got)
		}
		if err := report("type "+v.Name, problem); err != nil {
			return failed, err
		}
		got, problem = readValue(ctx, db, "CAST(NULL AS "+v.Type+")")
		if problem == nil && got != nil {
			problem = fmt.Errorf("%v in place of NULL", got)
		}
		if err := report("type "+v.Name+" NULL", problem); err != nil {
			return failed, err
		}
	}
	return failed, nil
}

// withoutCertificate is the address of a server that is asked for strict encryption, without the certificate that it is to have.
func withoutCertificate(server string) (address string, ok bool) {
	u, err := url.Parse(server)
	if err != nil {
		return "", false // opening it tells
	}
	q := u.Query()
	if q.Get("encrypt") != "strict" || q.Get("certificate") == "" {
		return "", false
	}
	q.Del("certificate")
	q.Set("TrustServerCertificate", "true") // which strict encryption does not heed
	u.RawQuery = q.Encode()
	return u.String(), true
}

// refused holds that the driver does not log in to a server whose certificate it does not know.
func refused(ctx context.Context, server string) (err error) {
	db, err := sql.Open("sqlserver", server)
	if err != nil {
		return fmt.Errorf("opening the server: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	ping := db.PingContext(ctx)
	if ping == nil {
		return errors.New("the login succeeded")
	}
	if !strings.Contains(ping.Error(), "certificate") {
		return fmt.Errorf("refused, but not for the certificate: %w", ping)
	}
	return nil
}

// readValue gives the value of an expression. The column behind it tells whether the driver read it to its end.
func readValue(ctx context.Context, db *sql.DB, expression string) (value any, err error) {
	var after string
	if err := db.QueryRowContext(ctx, "SELECT "+expression+" AS v, 'after' AS w").Scan(&value, &after); err != nil {
		return nil, err
	}
	if after != "after" {
		return nil, fmt.Errorf("the column behind it is %q", after)
	}
	return value, nil
}

// same holds that the driver's value has the text of the list.
func same(v values.Value, got any) error {
	text, err := textOf(v, got)
	if err != nil {
		return err
	}
	if kind := v.Kind(); kind == "real" || kind == "float" {
		a, errA := strconv.ParseFloat(v.Text, 64)
		b, errB := strconv.ParseFloat(text, 64)
		if err := errors.Join(errA, errB); err != nil || a == b {
			return err
		}
	}
	if text != v.Text {
		return fmt.Errorf("%.60q (%d), want %.60q (%d)", text, len(text), v.Text, len(v.Text))
	}
	return nil
}

// textOf gives a value the form of the list (go-mssqldb: "Return Values" and the types of its README).
func textOf(v values.Value, got any) (string, error) {
	switch got := got.(type) {
	case int64:
		return strconv.FormatInt(got, 10), nil
	case float64:
		return strconv.FormatFloat(got, 'g', -1, 64), nil
	case bool:
		if got {
			return "1", nil
		}
		return "0", nil
	case string:
		return got, nil
	case time.Time:
		layout, ok := layouts[v.Kind()]
		if !ok {
			return "", fmt.Errorf("a time, %s", got)
		}
		return got.Format(layout), nil
	case []byte:
		switch v.Kind() {
		case "uniqueidentifier":
			var id mssql.UniqueIdentifier
			if err := id.Scan(got); err != nil {
				return "", err
			}
			return id.String(), nil
		case "binary", "varbinary", "image", "hierarchyid":
			return "0x" + strings.ToUpper(hex.EncodeToString(got)), nil
		}
		return string(got), nil // decimals are text
	}
	return "", fmt.Errorf("%v, a %T", got, got)
}

// layouts leave out zeros at the end of a fraction.
var layouts = map[string]string{
	"date":           time.DateOnly,
	"time":           "15:04:05.9999999",
	"datetime":       "2006-01-02 15:04:05.9999999",
	"smalldatetime":  "2006-01-02 15:04:05",
	"datetime2":      "2006-01-02 15:04:05.9999999",
	"datetimeoffset": "2006-01-02 15:04:05.9999999 -07:00",
}
