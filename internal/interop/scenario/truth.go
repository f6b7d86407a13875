package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// writeTruth writes the rows of a table, an object a line. All values are text, because JSON's numbers keep neither
// 38 digits nor the sign of a zero; NULL is null. Times have all seven digits and, for datetimeoffset, their offset.
func writeTruth(db *mssqlsim.Database, table, dir string) (err error) {
	columns, err := db.Model().Columns("dbo." + table)
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, table+".ndjson"))
	if err != nil {
		return fmt.Errorf("writing the truth of %s: %w", table, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	var failed error
	if err := db.Rows("dbo."+table, func(row []any) bool {
		object := make(map[string]*string, len(row))
		for i, v := range row {
			if v != nil {
				text := valueText(v, columns[i].Type.Kind)
				object[columns[i].Name] = &text
			} else {
				object[columns[i].Name] = nil
			}
		}
		failed = enc.Encode(object)
		return failed == nil
	}); err != nil {
		return err
	}
	return errors.Join(failed, w.Flush())
}

func valueText(v any, kind sqltype.Kind) string {
	switch v := v.(type) {
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case []byte:
		return hex.EncodeToString(v)
	case time.Time:
		switch kind {
		case sqltype.Date:
			return v.Format("2006-01-02")
		case sqltype.Time:
			return v.Format("15:04:05.0000000")
		case sqltype.DateTimeOffset:
			return v.Format("2006-01-02T15:04:05.0000000-07:00")
		case sqltype.DateTime:
			// Kept in 300ths of a second, read and shown in milliseconds ("Microsoft: datetime (Transact-SQL)").
			v = v.Round(time.Millisecond)
		}
		return v.Format("2006-01-02T15:04:05.0000000")
	}
	return fmt.Sprint(v)
}
