package values

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLinesOfTheList(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"# all\n\n":                "no values",
		"int\tint\tCAST(1 AS int)": "3 fields",
	} {
		file := filepath.Join(t.TempDir(), "values.tsv")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	all, err := Read(filepath.Join("..", "values.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"varchar empty": "", "varbinary(max)": "0x" + strings.Repeat("76", 70_000), "varchar(max)": strings.Repeat("v", 70_000), "char(5)": "ab   ", "int": "-2147483648"}
	for _, v := range all {
		if text, ok := want[v.Name]; ok && text != v.Text {
			t.Errorf("%s: %.40q", v.Name, v.Text)
		}
		delete(want, v.Name)
		if v.Kind() == "" || strings.Contains(v.Kind(), "(") {
			t.Errorf("kind %q of %s", v.Kind(), v.Type)
		}
	}
	if len(want) > 0 {
		t.Errorf("the list lacks %v", want)
	}
}
