package tsql_test

import (
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/cdc"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// A change table has a clustered index on LSN, command id, seqval and operation (Microsoft: cdc.<capture_instance>_CT);
// who reads it in that order waits for no sort, however many rows it holds.
func TestChangeTablesAreReadInKeyOrderWithoutASort(t *testing.T) {
	t.Parallel()
	s, err := cdc.NewServer(cdc.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s.AddLogin("sa", "x", true)
	db := s.Database("shop")
	def := tsql.TableDef{Name: tsql.Name{Schema: "dbo", Object: "sales"}, Key: []string{"id"}}
	for name, typ := range map[string]string{"id": "int", "amount": "decimal(18,4)"} {
		of, err := sqltype.ParseType(typ)
		if err != nil {
			t.Fatal(err)
		}
		def.Columns = append(def.Columns, tsql.ColumnDef{Column: tsql.Column{Name: name, Type: of}})
	}
	for _, err := range []error{db.Enable(), db.CreateTable(def), db.EnableTable("dbo.sales", cdc.Capture{})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	sess, err := s.NewSession("sa", "shop")
	if err != nil {
		t.Fatal(err)
	}
	defer sess.Close()
	const (
		changes  = "SELECT c.[__$start_lsn], c.id FROM cdc.[dbo_sales_CT] AS c "
		commits  = "SELECT c.[__$start_lsn], m.tran_end_time, c.id FROM cdc.[dbo_sales_CT] AS c JOIN cdc.lsn_time_mapping AS m ON m.start_lsn = c.[__$start_lsn] "
		between  = "WHERE c.[__$start_lsn] BETWEEN CONVERT(binary(10), @from, 1) AND CONVERT(binary(10), @to, 1) "
		keyOrder = "ORDER BY c.[__$start_lsn], c.[__$command_id], c.[__$seqval], c.[__$operation]"
	)
	for _, tc := range []struct{ name, sql, want string }{
		{"the whole table", changes + keyOrder, "scan"},
		{"a range", changes + between + keyOrder, "scan"},
		{"a range with its commit times", commits + between + keyOrder, "loop (scan, scan)"},
		{"a condition on a column", changes + "WHERE c.id > 5 " + keyOrder, "filter scan"},
		{"the beginning of the key", changes + between + "ORDER BY c.[__$start_lsn]", "scan"},
		{"one commit", changes + "WHERE c.[__$start_lsn] = CONVERT(binary(10), @from, 1) ORDER BY c.[__$command_id], c.[__$seqval], c.[__$operation]", "scan"},
		{"backwards", changes + between + "ORDER BY c.[__$start_lsn] DESC, c.[__$command_id] DESC, c.[__$seqval] DESC, c.[__$operation] DESC", "scan backwards"},
		{"the first rows behind a position", "SELECT TOP (5) * FROM cdc.[dbo_sales_CT] AS c LEFT JOIN cdc.lsn_time_mapping AS m ON m.start_lsn = c.[__$start_lsn] WHERE c.[__$start_lsn] >= CONVERT(binary(10), @from, 1) " + keyOrder,
			"loop (scan, scan)"},
		{"in tiles", "SELECT s.t, MAX(s.l) FROM (SELECT c.[__$start_lsn] AS l, NTILE(3) OVER (ORDER BY c.[__$start_lsn]) AS t FROM cdc.[dbo_sales_CT] AS c " + between + ") AS s GROUP BY s.t", "group derived window scan"},
		{"by seqval within a commit", changes + between + "ORDER BY c.[__$start_lsn], c.[__$seqval], c.[__$operation]", "scan"}, // rows are logged in that order, too
		{"the mapping", "SELECT start_lsn FROM cdc.lsn_time_mapping ORDER BY start_lsn", "scan"},
		// Other orders do wait for one.
		{"without the commit", changes + between + "ORDER BY c.[__$seqval]", "sort scan"},
		{"the operation before the change", changes + between + "ORDER BY c.[__$start_lsn], c.[__$operation], c.[__$seqval]", "sort scan"},
		{"two directions", changes + between + "ORDER BY c.[__$start_lsn], c.[__$command_id] DESC", "sort scan"},
		{"a column", changes + between + "ORDER BY c.id", "sort scan"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var args []*tsql.Argument
			for _, name := range []string{"@from", "@to"} {
				args = append(args, &tsql.Argument{Name: name, Type: sqltype.Str(sqltype.NVarChar, 22), Value: sqltype.FromString("0x00000000000000000001")})
			}
			got, err := tsql.Steps(t.Context(), sess, tc.sql, args...)
			if err != nil {
				t.Fatal(err)
			}
			if got != tc.want {
				t.Errorf("the plan is %q, want %q", got, tc.want)
			}
		})
	}
}
