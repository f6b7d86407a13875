package client_test

import (
	"errors"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/client"
)

// A batch goes on after its error, and nobody takes the rest. With sql.Open the race detector sees connections that share a
// buffer, within some hundred of them.
func TestAnAnswerThatIsLeftInTheMiddle(t *testing.T) {
	t.Parallel()
	server, err := mssqlsim.Start(t.Context(), mssqlsim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	for range 2 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for range 100 {
				db, err := client.Open(server.DSN("master"))
				if err != nil {
					t.Fatal(err)
				}
				rows, err := db.Query("RAISERROR('left', 16, 1); SELECT 1 AS one")
				var e mssql.Error
				if !errors.As(err, &e) || e.Number != 50000 {
					t.Errorf("%v %v, want the error of RAISERROR", rows, err)
				}
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestAConnectionStringThatIsWrong(t *testing.T) {
	t.Parallel()
	if _, err := client.Open("sqlserver://127.0.0.1:port"); err == nil {
		t.Error("no error")
	}
}
