package tsql

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxCaptureInstance is the length of a capture instance's name (Microsoft:
// sys.sp_cdc_enable_table, @capture_instance).
const maxCaptureInstance = 100

// maxIdentifier is the length of a sysname.
const maxIdentifier = 128

// CheckCaptureInstance accepts a name that may stand in cdc.[name_CT].
func CheckCaptureInstance(name string) error {
	if err := checkName(name, maxCaptureInstance); err != nil {
		return fmt.Errorf("invalid capture instance %q: %w", name, err)
	}
	if strings.Contains(name, "]") {
		return fmt.Errorf("invalid capture instance %q: it holds a closing bracket", name)
	}
	return nil
}

// Quote brackets the name of a schema, table or column.
func Quote(name string) (string, error) {
	if err := checkName(name, maxIdentifier); err != nil {
		return "", fmt.Errorf("invalid name %q: %w", name, err)
	}
	return "[" + strings.ReplaceAll(name, "]", "]]") + "]", nil
}

func quoteAll(names []string) ([]string, error) {
	out := make([]string, len(names))
	for i, n := range names {
		q, err := Quote(n)
		if err != nil {
			return nil, err
		}
		out[i] = q
	}
	return out, nil
}

func checkName(name string, limit int) error {
	switch {
	case name == "":
		return fmt.Errorf("it is empty")
	case !utf8.ValidString(name):
		return fmt.Errorf("it is no UTF-8")
	case len([]rune(name)) > limit:
		return fmt.Errorf("it has more than %d characters", limit)
	}
	for _, r := range name {
		if unicode.Is(unicode.C, r) {
			return fmt.Errorf("it holds the control or format character %U", r)
		}
	}
	return nil
}

// Table is the quoted two-part name of a table.
type Table struct{ Schema, Name string }

// String is the name for people: dbo.orders.
func (t Table) String() string { return t.Schema + "." + t.Name }

// Quoted is the name as it stands in a statement.
func (t Table) Quoted() (string, error) {
	parts, err := quoteAll([]string{t.Schema, t.Name})
	if err != nil {
		return "", err
	}
	return parts[0] + "." + parts[1], nil
}

// ChangeTable is the quoted name of a capture instance's change table.
func ChangeTable(instance string) (string, error) {
	if err := CheckCaptureInstance(instance); err != nil {
		return "", err
	}
	return "cdc.[" + instance + "_CT]", nil
}

var (
	typeForm      = regexp.MustCompile(`\A[a-z][a-z0-9]*(\((max|[0-9]{1,4}(,[0-9]{1,2})?)\))?( COLLATE [A-Za-z0-9_]+)?\z`)
	collationForm = regexp.MustCompile(`\A[A-Za-z0-9_]+\z`)
	zoneForm      = regexp.MustCompile(`\A[A-Za-z0-9 ._+\-/()]+\z`)
)

// CheckType accepts a type to inline: name, name(max), name(p) or name(p,s),
// then perhaps a collation.
func CheckType(text string) error {
	if !typeForm.MatchString(text) {
		return fmt.Errorf("invalid SQL type %q", text)
	}
	return nil
}

// CheckCollation accepts the name of a collation.
func CheckCollation(name string) error {
	if !collationForm.MatchString(name) {
		return fmt.Errorf("invalid collation %q", name)
	}
	return nil
}

// CheckZone accepts the name of a Windows time zone.
func CheckZone(name string) error {
	if !zoneForm.MatchString(name) {
		return fmt.Errorf("invalid source_time_zone %q: want auto, UTC or the name of a Windows time zone, such as E. South America Standard Time", name)
	}
	return nil
}
