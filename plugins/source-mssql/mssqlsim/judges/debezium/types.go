package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/judges/values"
)

// typesTable has a column c0, c1, ... for each value of the list.
const typesTable = "judged"

// unread are the values that are not in it, by their type or name.
var unread = map[string]string{
	"sql_variant": "neither program has a type for it",
	"hierarchyid": "neither program has a type for it",
	// Its time is a number of nanoseconds since 1970 in 64 bits.
	"datetime2(7) last": "Debezium's times end in 2262",
}

// types is the table of all values: a row of them and one of NULLs before the snapshot, both again behind it.
type types struct {
	values []values.Value
	left   []string // the names of those that are not in the table
}

func newTypes(file string) (*types, error) {
	all, err := values.Read(file)
	if err != nil {
		return nil, err
	}
	t := &types{}
	for _, v := range all {
		if cmp.Or(unread[v.Kind()], unread[v.Name]) != "" {
			t.left = append(t.left, v.Name)
			continue
		}
		t.values = append(t.values, v)
	}
	return t, nil
}

func column(i int) string { return "c" + strconv.Itoa(i) }

// load makes the table, inserts the rows of the snapshot, and captures it.
func (t *types) load(ctx context.Context, w *workload) error {
	var columns strings.Builder
	for i, v := range t.values {
		fmt.Fprintf(&columns, ", %s %s NULL", column(i), v.Type)
	}
	for _, statement := range []string{
		// Values of more than 65,536 bytes are not let into a captured column otherwise (Microsoft: Configure the max text repl
		// size (server configuration option)).
		"EXEC sp_configure 'max text repl size', -1; RECONFIGURE",
		"CREATE TABLE dbo." + typesTable + " (id int NOT NULL PRIMARY KEY" + columns.String() + ")",
	} {
		if _, err := w.db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("making the table of all types: %w", err)
		}
	}
	if err := t.insert(ctx, w, 1); err != nil {
		return err
	}
	if _, err := w.db.ExecContext(ctx, "EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'"+typesTable+"', @role_name = NULL"); err != nil {
		return fmt.Errorf("capturing the table of all types: %w", err)
	}
	return nil
}

// insert makes a row of all values and one of NULLs, whose key is the next one.
func (t *types) insert(ctx context.Context, w *workload, key int) error {
	var expressions strings.Builder
	for _, v := range t.values {
		expressions.WriteString(", " + v.Expression)
	}
	for _, statement := range []string{
		fmt.Sprintf("INSERT INTO dbo.%s VALUES (%d%s)", typesTable, key, expressions.String()),
		fmt.Sprintf("INSERT INTO dbo.%s (id) VALUES (%d)", typesTable, key+1),
	} {
		if _, err := w.db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("inserting all types: %w", err)
		}
	}
	return nil
}

// rowsOfSnapshot is how many rows load makes.
const rowsOfSnapshot = 2

// check holds that events of the table have all values, and NULL where nothing else was.
func (t *types) check(events []event) error {
	want := image{}
	var failed []error
	for i, v := range t.values {
		text, err := canonical(v, v.Text)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", v.Name, err))
		}
		want[column(i)] = text
	}
	seen := map[string]bool{}
	for _, e := range events {
		if e.table != typesTable {
			continue
		}
		row := maps.Clone(e.after)
		id := row["id"]
		seen[id] = true
		delete(row, "id")
		if id == "2" || id == "4" {
			if len(row) > 0 {
				failed = append(failed, fmt.Errorf("row %s has values in place of NULLs: %.500v", id, row))
			}
			continue
		}
		for i, v := range t.values {
			if got := row[column(i)]; got != want[column(i)] {
				failed = append(failed, fmt.Errorf("type %s of row %s: %.60q (%d), want %.60q (%d)", v.Name, id, got, len(got), want[column(i)], len(want[column(i)])))
			}
		}
	}
	if len(seen) != 2*rowsOfSnapshot {
		failed = append(failed, fmt.Errorf("%d rows of the table of all types, want %d", len(seen), 2*rowsOfSnapshot))
	}
	return errors.Join(failed...)
}

// theirs are Debezium's forms of the columns, ours pipectl's; both turn values into one form.
func (t *types) theirs() map[string]func(any) (string, error) { return t.forms(fromDebezium) }
func (t *types) ours() map[string]func(any) (string, error)   { return t.forms(fromPipectl) }

func (t *types) forms(from func(values.Value, any) (string, error)) map[string]func(any) (string, error) {
	forms := map[string]func(any) (string, error){}
	for i, v := range t.values {
		forms[column(i)] = func(value any) (string, error) {
			text, err := from(v, value)
			if err != nil {
				return "", fmt.Errorf("%s: %w", v.Name, err)
			}
			return canonical(v, text)
		}
	}
	return forms
}

// fromDebezium gives the text of a value (Debezium connector for SQL Server: data type mappings, with time.precision.mode
// adaptive and decimal.handling.mode string).
func fromDebezium(v values.Value, value any) (string, error) {
	text := fmt.Sprint(value)
	number := func() (int64, error) { return strconv.ParseInt(text, 10, 64) }
	switch v.Kind() {
	case "bit":
		return bit(value)
	case "binary", "varbinary", "image":
		b, err := base64.StdEncoding.DecodeString(text)
		return "0x" + strings.ToUpper(hex.EncodeToString(b)), err
	case "date":
		days, err := number()
		return time.Unix(days*24*60*60, 0).UTC().Format(time.DateOnly), err
	case "time", "datetime", "datetime2", "smalldatetime":
		units, err := number()
		perSecond := int64(time.Second / time.Millisecond)
		if strings.HasSuffix(v.Type, "(7)") {
			perSecond = int64(time.Second)
		}
		t := time.Unix(units/perSecond, units%perSecond*int64(time.Second)/perSecond).UTC()
		if v.Kind() == "time" {
			return t.Format("15:04:05.999999999"), err
		}
		return t.Format("2006-01-02 15:04:05.999999999"), err
	case "datetimeoffset":
		t, err := time.Parse(time.RFC3339Nano, text)
		return t.Format("2006-01-02 15:04:05.999999999 -07:00"), err
	}
	return text, nil
}

// fromPipectl gives the text of a value of `pipectl tail -json`.
func fromPipectl(v values.Value, value any) (string, error) {
	text := fmt.Sprint(value)
	switch v.Kind() {
	case "bit":
		return bit(value)
	case "binary", "varbinary", "image":
		return "0x" + strings.ToUpper(text), nil
	case "datetime", "datetime2", "smalldatetime":
		return strings.Replace(text, "T", " ", 1), nil
	case "datetimeoffset":
		t, err := time.Parse(time.RFC3339Nano, text)
		return t.Format("2006-01-02 15:04:05.999999999 -07:00"), err
	}
	return text, nil
}

func bit(value any) (string, error) {
	switch value {
	case true:
		return "1", nil
	case false:
		return "0", nil
	}
	return "", fmt.Errorf("%v is no bit", value)
}

// canonical is the form that texts are compared in: numbers in floating point by their value, times to the microsecond, as
// pipectl stores them, and with an offset as the instant that they are.
func canonical(v values.Value, text string) (string, error) {
	switch kind := v.Kind(); kind {
	case "real", "float":
		f, err := json.Number(text).Float64()
		return strconv.FormatFloat(f, 'g', -1, 64), err
	case "time", "datetime", "datetime2", "smalldatetime":
		whole, fraction, _ := strings.Cut(text, ".")
		return whole + "." + (fraction + "000000")[:6], nil
	case "datetimeoffset":
		t, err := time.Parse("2006-01-02 15:04:05.999999999 -07:00", text)
		return t.Truncate(time.Microsecond).UTC().Format(time.RFC3339Nano), err
	}
	return text, nil
}
