package tds_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tds"
)

// greeter answers every statement with one row.
type greeter struct{}

func (greeter) Login(l *tds.Login) error {
	if l.Password != "Secret1!" {
		return &tds.Error{Number: 18456, Class: 14, State: 1, Msg: "Login failed for user '" + l.User + "'."}
	}
	return nil
}

func (greeter) Exec(_ context.Context, _ *tds.Session, req tds.Request, w *tds.Results) error {
	if !strings.HasPrefix(req.SQL, "SELECT") {
		return &tds.Error{Number: 102, Class: 15, State: 1, Line: 1, Msg: "Incorrect syntax."}
	}
	w.Columns([]tds.Column{{Name: "n", Type: tds.Int}, {Name: "greeting", Type: tds.NVarChar(40), Nullable: true}})
	row := w.RowWriter()
	row.Int64(1)
	row.Text("hello")
	return row.End()
}

func Example() {
	server := &tds.Server{Handler: greeter{}}
	addr, err := server.Listen("127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	db, err := sql.Open("sqlserver", "sqlserver://sa:Secret1!@"+addr.String()+"?encrypt=disable")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	var n int
	var greeting string
	if err := db.QueryRow("SELECT n, greeting FROM t").Scan(&n, &greeting); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(n, greeting)
	// Output: 1 hello
}
