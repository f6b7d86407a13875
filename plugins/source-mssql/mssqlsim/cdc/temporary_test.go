package cdc

import (
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// A session that makes and drops temporary tables all day remembers those that are there.
func TestTemporaryTablesThatAreGoneAreForgotten(t *testing.T) {
	t.Parallel()
	srv, err := NewServer(Config{Clock: SystemClock{}})
	if err != nil {
		t.Fatal(err)
	}
	srv.AddLogin("sa", "pw", true)
	srv.Database("d")
	s, err := srv.NewSession("sa", "d")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	name := tsql.Name{Object: "#t"}
	for range 100 {
		if err := s.CreateTable(tsql.TableDef{Name: name, Columns: []tsql.ColumnDef{{Column: tsql.Column{Name: "id", Type: sqltype.Of(sqltype.Int)}}}}); err != nil {
			t.Fatal(err)
		}
		if err := s.DropTable(name, false); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.temporaries); n > 1 {
		t.Errorf("%d temporary tables, of which none is there", n)
	}
}
