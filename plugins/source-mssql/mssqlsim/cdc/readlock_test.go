package cdc

import (
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// A transaction keeps a range once, however often it reads it: what it keeps grows with what it has read, not with how often.
func TestARangeThatIsReadAgainIsKeptOnce(t *testing.T) {
	t.Parallel()
	srv, err := NewServer(Config{Clock: SystemClock{}})
	if err != nil {
		t.Fatal(err)
	}
	srv.AddLogin("sa", "pw", true)
	db := srv.Database("d")
	if err := db.CreateTable(tsql.TableDef{Name: tsql.Name{Schema: "dbo", Object: "t"}, Key: []string{"id"}, Columns: []tsql.ColumnDef{{Column: tsql.Column{Name: "id", Type: sqltype.Of(sqltype.Int)}}}}); err != nil {
		t.Fatal(err)
	}
	s, err := srv.NewSession("sa", "d")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Connected(Connection{SPID: 51, Kill: func() {}})
	for _, level := range []tsql.Isolation{tsql.RepeatableRead, tsql.Serializable} {
		_ = s.SetIsolation(level)
		if err := s.Begin(); err != nil {
			t.Fatal(err)
		}
		rel, err := s.Relation(tsql.Name{Object: "t"})
		if err != nil {
			t.Fatal(err)
		}
		read := func(req tsql.ScanRequest) {
			done, err := s.Statement(t.Context(), false)
			if err != nil {
				t.Fatal(err)
			}
			_, err = rel.Scan(t.Context(), req)
			if err = done(err); err != nil {
				t.Fatal(err)
			}
		}
		table := db.tables[0]
		for range 100 {
			for id := range int64(3) {
				v := sqltype.FromInt(id)
				read(tsql.ScanRequest{Prefix: []sqltype.Value{v}})
				read(tsql.ScanRequest{Low: &tsql.Bound{Value: v}})
				read(tsql.ScanRequest{Low: &tsql.Bound{Value: v, Inclusive: true}})
				read(tsql.ScanRequest{High: &tsql.Bound{Value: v}})
			}
		}
		for id := int64(1000); level == tsql.RepeatableRead && id < 1010; id++ { // nor with what others commit meanwhile
			if _, err := db.Write(t.Context(), func(w *Writer) error { return w.Insert("dbo.t", sqltype.Row{sqltype.FromInt(id)}) }); err != nil {
				t.Fatal(err)
			}
			read(tsql.ScanRequest{Low: &tsql.Bound{Value: sqltype.FromInt(1)}})
		}
		if len(table.kept) != 1 || len(s.tx.kept) != 1 || len(table.kept[0].ranges) != 12 {
			t.Fatalf("level %d: %d transactions, %d tables, %d ranges, want 1, 1 and 12", level, len(table.kept), len(s.tx.kept), len(table.kept[0].ranges))
		}
		if err := s.Rollback(""); err != nil {
			t.Fatal(err)
		}
		if len(table.kept) != 0 {
			t.Errorf("level %d: %d transactions behind the end", level, len(table.kept))
		}
	}
}
