package mssql

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	mssqldb "github.com/microsoft/go-mssqldb"

	"github.com/pipectl/pipectl/core/diag"
)

func TestWhatIsTriedAgain(t *testing.T) {
	t.Parallel()
	query := func(lost bool, err error) error { return &queryError{doing: "changes", lost: lost, err: err} }
	number := func(n int32) error { return mssqldb.Error{Number: n, Message: "said"} }
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"deadlock":                         {query(false, number(1205)), true},
		"deadlock with another last error": {query(false, mssqldb.Error{Number: 1205, All: []mssqldb.Error{{Number: 1205}, {Number: 22859}}}), true},
		"a broken link":                    {query(true, errors.New("failed to send RPC: write: broken pipe")), true},
		"a stream that ended":              {query(true, mssqldb.StreamError{InnerError: io.ErrUnexpectedEOF}), true},
		"an end of file":                   {query(true, io.EOF), true},
		"a session that was killed":        {query(true, number(596)), true},
		"Azure throttles":                  {query(false, number(40501)), true},
		"a fail-over":                      {query(false, number(983)), true},
		"connecting refused":               {&connectError{err: &net.OpError{Op: "dial", Err: errors.New("connection refused")}}, true},
		"connecting took too long":         {&connectError{err: errors.New("no connection within 30s")}, true},
		"no such host":                     {&connectError{err: &net.DNSError{Err: "no such host", IsNotFound: true}}, false},
		"a host that DNS knew":             {&connectError{err: &net.DNSError{Err: "no such host", IsNotFound: true}, again: true}, true},
		// Microsoft: Database Engine events and errors.
		"922, being recovered":             {&connectError{err: number(922)}, true},
		"954, acting as a mirror":          {&connectError{err: number(954)}, true},
		"18401, in script upgrade mode":    {&connectError{err: number(18401)}, true},
		"983, then that the login failed":  {&connectError{err: mssqldb.Error{Number: 18456, All: []mssqldb.Error{{Number: 983}, {Number: 18456}}}}, true},
		"a server that says not who it is": {&silenceError{"which database it is", time.Second, argConnectTimeout}, true},
		"a database that recovers":         {&connectError{err: number(4060), again: true}, true},
		"a database, at first":             {&connectError{err: number(4060)}, false},
		"a login refused":                  {&connectError{err: number(18456)}, false},
		"a certificate":                    {&connectError{err: errors.New("TLS Handshake failed: tls: failed to verify certificate: x509: certificate signed by unknown authority")}, false},
		"a lock time-out":                  {query(false, number(1222)), false},
		"denied":                           {query(false, number(229)), false},
		"not allowed":                      {query(false, number(3952)), false},
		"gone":                             {query(false, number(208)), false},
		"an answer":                        {diag.Errorf(diag.KindDataLoss, codeDataLoss, "", "gone").Err(), false},
		"cancelled":                        {fmt.Errorf("reading: %w", context.Canceled), false},
		"out of time":                      {query(true, context.DeadlineExceeded), false},
		"a bug":                            {errors.New("a bug"), false},
		"nothing":                          {nil, false},
	} {
		if got := transient(tc.err); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestWhatErrorsMean(t *testing.T) {
	t.Parallel()
	c := connection{mask: newMasker("reader", "hunter22", "", ""), place: argURL}
	c.driver.Host, c.driver.Port, c.driver.Database = "db", 1433, "shop"
	query := func(n int32, text string) error {
		return &queryError{doing: "changes", err: mssqldb.Error{Number: n, Message: text}}
	}
	for name, tc := range map[string]struct {
		err  error
		kind diag.Kind
		code string
		says string
	}{
		"login":                         {&connectError{err: mssqldb.Error{Number: 18456, Message: "Login failed for user 'reader'."}}, diag.KindPermission, codeLogin, "'***'"},
		"database, as a server says it": {&connectError{err: mssqldb.Error{Number: 18456, Message: "Login failed for user 'sa'.", All: []mssqldb.Error{{Number: 4060, Message: "Cannot open database"}, {Number: 18456}}}}, diag.KindPermission, codeDatabase, `"shop"`},
		"database":                      {&connectError{err: mssqldb.Error{Number: 4060, Message: "Cannot open database"}}, diag.KindPermission, codeDatabase, `"shop"`},
		"no such host":                  {&connectError{err: &net.DNSError{Err: "no such host", Name: "db", IsNotFound: true}}, diag.KindUnavailable, codeUnreachable, "db:1433"},
		"no such host any more":         {&connectError{err: &net.DNSError{Err: "no such host", Name: "db", IsNotFound: true}, again: true}, diag.KindTransient, codeUnreachable, "db:1433"},
		"upgraded":                      {&connectError{err: mssqldb.Error{Number: 18401, Message: "Login failed for user 'reader'. Reason: Server is in script upgrade mode."}}, diag.KindTransient, codeTransient, "script upgrade"},
		"silent":                        {&silenceError{"which database it is", time.Second, argConnectTimeout}, diag.KindTransient, codeNoAnswer, "let the login in"},
		"silent in an answer":           {&silenceError{"changes", time.Hour, argAnswerTimeout}, diag.KindTransient, codeNoAnswer, "bounded by lock_timeout"},
		"unreachable":                   {&connectError{err: errors.New("dial tcp: refused, password hunter22")}, diag.KindTransient, codeUnreachable, "db:1433"},
		"certificate":                   {&connectError{err: errors.New("x509: certificate signed by unknown authority")}, diag.KindUnavailable, codeTLS, "certificate"},
		"denied":                        {query(229, "The SELECT permission was denied"), diag.KindPermission, codeSourceGrant, "Grant SELECT"},
		"gone":                          {query(208, "Invalid object name"), diag.KindTransient, codeInstanceGone, "disabled"},
		"column":                        {query(207, "Invalid column name '__$command_id'."), diag.KindSchemaChanged, codeMissingColumn, "include_command_id = false"},
		"no CDC":                        {query(22901, "The database is not enabled"), diag.KindConfiguration, codeNotEnabled, "sp_cdc_enable_db"},
		"CDC object":                    {query(22981, "Object does not exist or access is denied."), diag.KindPermission, codeUnknownInstance, "gating role"},
		"any other":                     {query(8134, "Divide by zero"), diag.KindUnavailable, codeServer, "Divide by zero"},
		"no error of SQL":               {errors.New("hunter22 is a bug"), diag.KindInternal, codeServer, "*** is a bug"},
		"a broken link":                 {&queryError{doing: "changes", lost: true, err: io.EOF}, diag.KindTransient, codeTransient, "broke"},
		"a throttled server":            {query(10928, "Resource ID: 1. The request limit is reached"), diag.KindTransient, codeTransient, "pass by itself"},
	} {
		err := c.diagnose(tc.err)
		wantDiag(t, err, tc.kind, tc.code, tc.says)
		if strings.Contains(err.Error(), "hunter22") || strings.Contains(err.Error(), "'reader'") {
			t.Errorf("%s: a secret shows: %v", name, err)
		}
	}
	for _, same := range []error{nil, context.Canceled, diag.Errorf(diag.KindDataLoss, codeDataLoss, "", "x").Err()} {
		if got := c.diagnose(same); got != same {
			t.Errorf("%v becomes %v", same, got)
		}
	}
}

// A message without a way out is left to bugs.
func TestEveryMessageSaysWhatToDo(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	must(t, err)
	// Where the detail stands among the arguments.
	details := map[string]int{"diag.Errorf": 2, "diag.Warningf": 1, "configError": 1, "refuse": 1, "fail": 2}
	messages := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, 0)
		must(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			at, ok := details[types.ExprString(call.Fun)]
			if !ok || len(call.Args) <= at {
				return true
			}
			messages++
			if types.ExprString(call.Args[at]) == `""` && types.ExprString(call.Args[0]) != "diag.KindInternal" {
				t.Errorf("%s: no detail", set.Position(call.Pos()))
			}
			return true
		})
	}
	if messages < 50 {
		t.Errorf("only %d messages", messages)
	}
}

func TestEveryCodeIsDocumented(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("errors.go")
	must(t, err)
	guide, err := os.ReadFile("../../../docs/guides/sql-server.md")
	must(t, err)
	codes := regexp.MustCompile(`"(mssql\.[a-z_]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(codes) < 20 {
		t.Fatalf("only %d codes", len(codes))
	}
	for _, c := range codes {
		if !strings.Contains(string(guide), "`"+c[1]+"`") {
			t.Errorf("%s is not in the guide", c[1])
		}
	}
}
