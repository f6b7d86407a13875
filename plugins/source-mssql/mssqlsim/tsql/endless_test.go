package tsql

import (
	"context"
	"testing"
)

// Lists in which something is wrong are an error of syntax (Microsoft: CREATE VIEW, CREATE STATISTICS, DECLARE CURSOR, Query hints
// (Transact-SQL)); the parser does not end on any of them.
func TestListsThatTheParserDoesNotLeave(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]int32{
		"DECLARE c CURSOR x FOR SELECT 1":                                                           102,
		"DECLARE c CURSOR > FORWARD_ONLY FOR SELECT 1":                                              102,
		"DECLARE c INSENSITIVE SCROLL , CURSOR FOR SELECT 1":                                        102,
		"DECLARE c INSENSITIVE > SCROLL FOR SELECT 1":                                               102,
		"DECLARE c SCROLL FOR SELECT 1":                                                             156,
		"DECLARE c CURSOR LOCAL":                                                                    102,
		"CREATE VIEW v(AS SELECT 1 x":                                                               156,
		"CREATE VIEW dbo.v (a, > , b) AS SELECT 1, 2":                                               102,
		"ALTER VIEW v (a b) AS SELECT 1":                                                            102,
		"CREATE STATISTICS s ON w(a, b WITH FULLSCAN":                                               156,
		"create statistics [s] on dbo.t1 ( > ) with fullscan":                                       102,
		"SELECT a FROM w OPTION (OPTIMIZE FOR ( = 1, @x = 20))":                                     102,
		"SELECT a FROM w OPTION (OPTIMIZE FOR (@x = 20, > ))":                                       102,
		"SELECT a FROM w OPTION (OPTIMIZE/**/FOR (@x 20))":                                          102,
		"CREATE SPATIAL INDEX i ON w(a) WITH (BOUNDING_BOX=(>))":                                    50001,
		"CREATE/**/SPATIAL INDEX i ON w(a) WITH (BOUNDING_BOX , = (4))":                             50001,
		"ALTER TABLE w REBUILD PARTITION = ALL WITH (DATA_COMPRESSION = PAGE ON PARTITIONS(1 x))":   50001,
		"CREATE EXTERNAL TABLE t (a int) WITH ( ) LOCATION = 'x')":                                  50001,
		"CREATE PROCEDURE p AS DECLARE c CURSOR LOCAL x FOR SELECT 1":                               102,
		"DECLARE c CURSOR LOCAL FORWARD_ONLY STATIC READ_ONLY TYPE_WARNING FOR SELECT 1":            0,
		"DECLARE c CURSOR LOCAL STATIC TYPE_WARNING FOR ":                                           0, // and a search for what is wrong in it
		"DECLARE c INSENSITIVE SCROLL CURSOR FOR SELECT 1 FOR READ ONLY":                            0,
		"DECLARE @c CURSOR; SET @c = CURSOR LOCAL SCROLL FOR SELECT 1; DECLARE @d int, @e CURSOR":   0,
		"CREATE VIEW [a b].\"c\" ([x y], b) WITH SCHEMABINDING AS SELECT 1, 2":                      0,
		"CREATE STATISTICS s ON db..w (a, b) WITH FULLSCAN":                                         0,
		"SELECT a FROM w OPTION (OPTIMIZE FOR (@x = 20, @y UNKNOWN, @z = N'it''s', @v = -1.5e0))":   0,
		"SELECT a FROM w OPTION (OPTIMIZE FOR (@x = 1e-5, @y = 2.5E+3, @z = 1., @v = 0x1F))":        0,
		"SELECT * FROM a JOIN partitions ON partitions.id = a.id":                                   0,
		"SELECT a FROM w optimize FOR XML PATH":                                                     0,
		"SELECT a FROM w OPTION (OPTIMIZE FOR UNKNOWN)":                                             0,
		"SELECT cursor_name FROM v WHERE view_name = 'create view v(' -- DECLARE c CURSOR x":        0,
		"CREATE PROCEDURE p @c CURSOR VARYING OUTPUT AS SELECT 1; DECLARE c CURSOR FOR SELECT 1":    0,
		"SELECT t.[cursor], [view] FROM t WHERE [view] = 1 AND [statistics] IN (SELECT a FROM t u)": 0,
	} {
		err := endless(sql)
		got := int32(0)
		if e := asError(err); e != nil {
			if got = e.Number; got == 0 {
				got = 50001
			}
		}
		if got != want {
			t.Errorf("%s: %v, want error %d", sql, err, want)
			continue
		}
		if want == 0 || want == 102 { // the parser ends on it
			if _, err := parse(context.Background(), sql); err != nil && asError(err) == nil {
				t.Errorf("%s: %v", sql, err)
			}
		}
	}
}
