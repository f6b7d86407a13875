package mssql

import (
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

func TestEveryStatementRuns(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	must(t, db.CreateTable(mssqlsim.Table{Name: "dbo.orders", Key: []string{"order_id"}, Columns: []mssqlsim.Column{
		{Name: "order_id", Type: "int"}, {Name: "region", Type: "varchar(8)", Nullable: true}, {Name: "note", Type: "varchar(20)", Nullable: true}}}))
	must(t, db.EnableTable("dbo.orders", mssqlsim.Capture{}))
	s := open(t, db, nil)
	c, err := s.pool.open(ctx)
	must(t, err)
	defer s.pool.drop(c)
	queries, err := tsql.All()
	must(t, err)
	seen := map[string]bool{}
	for _, q := range queries {
		if err := c.each(ctx, q, func(record) error { return nil }); err != nil && !seen[err.Error()] {
			seen[err.Error()] = true
			t.Errorf("%s: %v\n%s", q.Name, err, q.Text)
		}
	}
}
