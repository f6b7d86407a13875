package mssqlsim

import (
	"context"
	"fmt"
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/cdc"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// counting is a session that counts the rows its statements read from tables, as the plan of a server tells them.
type counting struct {
	*cdc.Session
	read int
}

// Relation gives a relation whose rows are counted.
func (c *counting) Relation(n tsql.Name) (tsql.Relation, error) {
	r, err := c.Session.Relation(n)
	if r == nil || err != nil {
		return r, err
	}
	return &countedRelation{r, c}, nil
}

type countedRelation struct {
	tsql.Relation
	c *counting
}

func (r *countedRelation) Scan(ctx context.Context, req tsql.ScanRequest) (tsql.Cursor, error) {
	cur, err := r.Relation.Scan(ctx, req)
	if err != nil {
		return nil, err
	}
	return &countedCursor{cur, r.c}, nil
}

type countedCursor struct {
	tsql.Cursor
	c *counting
}

func (r *countedCursor) Next() (sqltype.Row, error) {
	row, err := r.Cursor.Next()
	if row != nil {
		r.c.read++
	}
	return row, err
}

// rows counts the rows of a result.
type rows struct {
	discard
	n int
}

func (r *rows) Row(sqltype.Row) error { r.n++; return nil }

// reads runs a statement and gives the numbers of rows that it read and that it answered.
func reads(t *testing.T, db *Database, stmt string) (read, answered int) {
	t.Helper()
	sess, err := db.server.cdc.NewSession("sa", db.Name())
	must(t, err)
	defer sess.Close()
	c, out := &counting{Session: sess}, &rows{}
	must(t, tsql.Exec(t.Context(), c, tsql.Request{SQL: stmt}, false, out))
	return c.read, out.n
}

// Seen on SQL Server 2022: ranges of a key of two columns, cut into pieces with equalities on the leading one, read
// exactly their own rows; the ends of a key are two seeks, and a seek for the n-th key reads n and one more.
func TestRangesOfKeysReadTheirOwnRows(t *testing.T) {
	t.Parallel()
	const n, parts = 4000, 8
	for _, leads := range []int{1, 3, 20} {
		t.Run(fmt.Sprint(leads), func(t *testing.T) {
			t.Parallel()
			db, _ := newDatabase(t)
			must(t, db.CreateTable(Table{Name: "dbo.t", Key: []string{"lead", "id"}, Columns: []Column{{Name: "lead", Type: "varchar(8)"}, {Name: "id", Type: "int"}, {Name: "note", Type: "int", Nullable: true}}}))
			type key struct {
				lead string
				id   int
			}
			var keys []key
			tx(t, db, func(x *Tx) error {
				for i := range n {
					k := key{fmt.Sprintf("L%02d", i*leads/n), i}
					keys = append(keys, k)
					if err := x.Insert("dbo.t", k.lead, k.id, nil); err != nil {
						return err
					}
				}
				return nil
			})
			total := 0
			for p := range parts {
				lo, hi := keys[p*n/parts], keys[(p+1)*n/parts-1] // up to and with hi
				sel := "SELECT id, note FROM dbo.t WHERE "
				stmt := fmt.Sprintf("%slead = '%s' AND id >= %d AND id <= %d", sel, lo.lead, lo.id, hi.id)
				if lo.lead != hi.lead {
					stmt = fmt.Sprintf("%slead = '%s' AND id >= %d UNION ALL %slead > '%s' AND lead < '%s' UNION ALL %slead = '%s' AND id <= %d", sel, lo.lead, lo.id, sel, lo.lead, hi.lead, sel, hi.lead, hi.id)
				}
				read, got := reads(t, db, stmt)
				if read > n/parts+3 || got != n/parts { // a piece may look at the row that ends it
					t.Errorf("part %d reads %d rows for %d, want %d", p, read, got, n/parts)
				}
				total += got
			}
			if total != n {
				t.Errorf("the parts have %d rows of %d", total, n)
			}
			if read, _ := reads(t, db, "SELECT (SELECT TOP (1) id FROM dbo.t ORDER BY lead, id), (SELECT TOP (1) id FROM dbo.t ORDER BY lead DESC, id DESC)"); read > 4 {
				t.Errorf("the extremes read %d rows", read)
			}
			stmt := fmt.Sprintf("SELECT MAX(id) FROM (SELECT TOP (100) id FROM dbo.t WHERE lead = '%s' AND id > %d ORDER BY id) AS x", keys[5].lead, keys[5].id)
			if read, _ := reads(t, db, stmt); read > 101 {
				t.Errorf("the 100th key after one reads %d rows", read)
			}
		})
	}
}

// Seen on SQL Server 2022: the search for the drops of a clock reads none of the older entries.
func TestTheMappingIsReadFromWhereARangeBegins(t *testing.T) {
	t.Parallel()
	db, _ := newDatabase(t)
	orders(t, db)
	var from LSN
	for i := range 2000 {
		l := tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", i, nil, nil) })
		if i == 1989 {
			from = l
		}
	}
	if read, got := reads(t, db, "SELECT start_lsn, tran_end_time FROM cdc.lsn_time_mapping WHERE start_lsn > "+from.String()); read > 11 || got != 10 {
		t.Errorf("%d entries were read for %d", read, got)
	}
	if read, _ := reads(t, db, "SELECT id FROM cdc.dbo_orders_CT WHERE [__$start_lsn] BETWEEN "+from.String()+" AND "+from.Add(100).String()); read > 9 {
		t.Errorf("%d change rows were read", read)
	}
}
