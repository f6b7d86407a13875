package mssqlsim

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
)

// documented is a statement with what SQL Server answers to it by its documentation: "type value" of each column, columns
// separated by "|" and rows by ";", or "error NUMBER". A value is given without its type where that is not the point.
type documented struct{ doc, sql, want string }

// answers runs each statement over the wire.
func answers(t *testing.T, conn *sql.DB, list []documented) {
	t.Helper()
	for _, a := range list {
		t.Run(a.doc, func(t *testing.T) {
			typed := strings.HasPrefix(a.want, "~")
			want := strings.TrimPrefix(a.want, "~")
			if got := ask(conn, a.sql, typed); got != want {
				t.Errorf("%s\n got %s\nwant %s", a.sql, got, want)
			}
		})
	}
}

// ask gives the rows of the last result of a batch, or its first error. With typed set each value is preceded by its type.
func ask(conn *sql.DB, stmt string, typed bool) string {
	var out []string
	rows, err := conn.Query(stmt)
	for err == nil {
		cols, _ := rows.ColumnTypes()
		if len(cols) > 0 {
			out = nil
		}
		for rows.Next() {
			vals, ptrs := make([]any, len(cols)), make([]any, len(cols))
			for i := range vals {
				ptrs[i] = &vals[i]
			}
			if err = rows.Scan(ptrs...); err != nil {
				break
			}
			var parts []string
			for i, v := range vals {
				s := valueText(v, cols[i].DatabaseTypeName())
				if typed {
					s = typeText(cols[i]) + " " + s
				}
				parts = append(parts, s)
			}
			out = append(out, strings.Join(parts, "|"))
		}
		if err == nil {
			err = rows.Err()
		}
		if err != nil || !rows.NextResultSet() {
			if err == nil {
				err = rows.Err()
			}
			break
		}
	}
	if rows != nil {
		_ = rows.Close()
	}
	var e mssql.Error
	switch {
	case errors.As(err, &e):
		if e.Number == 50001 {
			return "refused: " + e.Message
		}
		if e.Number == 50000 {
			return e.Message
		}
		return fmt.Sprintf("error %d", e.Number)
	case err != nil:
		return err.Error()
	}
	return strings.Join(out, ";")
}

func valueText(v any, kind string) string {
	if b, ok := v.([]byte); ok {
		switch kind {
		case "DECIMAL", "MONEY", "SMALLMONEY":
			return string(b)
		}
		return fmt.Sprintf("0x%X", b)
	}
	return show(v)
}

func typeText(c *sql.ColumnType) string {
	name := strings.ToLower(c.DatabaseTypeName())
	if p, s, ok := c.DecimalSize(); ok {
		return fmt.Sprintf("%s(%d,%d)", name, p, s)
	}
	if n, ok := c.Length(); ok && name != "uniqueidentifier" {
		if n > 8000 {
			return name + "(max)"
		}
		return fmt.Sprintf("%s(%d)", name, n)
	}
	return name
}
