package e2e

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// goldenTables are tables that other implementations wrote, and what is in them.
const goldenTables = "../../plugins/sink-delta/testdata/golden"

// refusedTables are the golden tables that cannot be read: the exit code, and
// what the error must say.
var refusedTables = map[string]struct {
	code int
	says string
}{
	"broken-gap":                    {1, "version 1 is missing"},
	"broken-empty-log":              {3, "is no Delta table"},
	"broken-truncated-commit":       {1, "00000000000000000003.json"},
	"broken-missing-data-file":      {1, "part-00000-65be0ea4-373e-4f1a-851c-0e6767efff7f-c000.snappy.parquet"},
	"broken-data-file-truncated":    {1, "it has 1141 bytes, the log says 2282"},
	"broken-dv-crc":                 {1, "deletion vector checksum mismatch"},
	"broken-dv-payload":             {1, "deletion vector checksum mismatch"},
	"broken-dv-size":                {1, "deletion vector size mismatch"},
	"broken-dv-missing":             {1, "the deletion vector is missing"},
	"broken-unknown-reader-feature": {4, "notYetInvented"},
	"broken-reader-version":         {4, "reader version 4"},
	"broken-no-metadata":            {1, "no metaData"},
	"broken-no-protocol":            {1, "no protocol"},
	"broken-schema-json":            {1, "schema cannot be parsed"},
	"broken-checkpoint":             {1, "00000000000000000004.checkpoint.parquet"},
	"broken-sidecar-missing":        {1, "the file is missing"},
	"spark-variant":                 {4, "variantType"},
}

// TestGoldenTablesThroughTheProgram: `pipectl table rows` prints exactly what is
// in them, every version, or refuses and prints no row.
func TestGoldenTablesThroughTheProgram(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("NOT TESTED HERE: golden tables through the program; partition folders have names that Windows cannot hold")
	}
	facts, err := filepath.Glob(filepath.Join(goldenTables, "*", "expected.json"))
	if err != nil || len(facts) < 80 {
		t.Fatalf("found %d golden tables: %v", len(facts), err)
	}
	for _, fact := range facts {
		folder := filepath.Dir(fact)
		name := filepath.Base(folder)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := unpackGolden(t, folder)
			if refused, ok := refusedTables[name]; ok {
				out, code := tableRows(t, dir)
				var diagnostic struct{ Type, Severity string }
				if err := json.Unmarshal([]byte(out), &diagnostic); err != nil || diagnostic.Type != "diagnostic" || diagnostic.Severity != "error" {
					t.Errorf("more than an error: %v\n%s", err, out)
				}
				if code != refused.code || !strings.Contains(out, refused.says) {
					t.Errorf("exit code %d, want %d and %q:\n%s", code, refused.code, refused.says, out)
				}
				return
			}
			for _, file := range goldenRows(t, folder) {
				args := []string{}
				if v, ok := strings.CutPrefix(filepath.Base(file), "expected-v"); ok {
					args = []string{"-version", strings.TrimSuffix(v, ".ndjson")}
				}
				out, code := tableRows(t, dir, args...)
				if code != 0 {
					t.Fatalf("%v: exit code %d\n%s", args, code, out)
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				// The maker wrote single-precision floats as 1.0e-45.
				text := regexp.MustCompile(`(\d)\.0e`).ReplaceAllString(string(want), "${1}e")
				if got, want := sortedLines(out), sortedLines(text); !slices.Equal(got, want) {
					t.Errorf("%v: got\n%s\nwant\n%s", args, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				if len(args) > 0 {
					continue
				}
				if again, _ := tableRows(t, dir); again != out {
					t.Error("the rows came in another order")
				}
			}
		})
	}
}

// goldenRows are the files of rows: of the newest version, and of others.
func goldenRows(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "expected-v*.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	return append(files, filepath.Join(folder, "expected.ndjson"))
}

func sortedLines(text string) []string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
	slices.Sort(lines)
	return lines
}

// tableRows runs `pipectl table rows -json` on a table in dir.
func tableRows(t *testing.T, dir string, args ...string) (out string, code int) {
	t.Helper()
	args = append([]string{"table", "rows", "-json"}, args...)
	cmd := exec.Command(pipectl(t), append(args, filepath.Join(dir, "table"))...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return stdout.String(), cmd.ProcessState.ExitCode()
}

// unpackGolden unpacks a golden table. A shallow clone names its source by the
// folder of its maker's machine; here it lies beside it.
func unpackGolden(t *testing.T, folder string) string {
	t.Helper()
	dir := t.TempDir()
	z, err := zip.OpenReader(filepath.Join(folder, "table.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	elsewhere := "file:/tmp/golden-delta/" + filepath.Base(folder)
	for _, f := range z.File {
		if f.FileInfo().IsDir() {
			continue
		}
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(in)
		in.Close()
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(folder) == "spark-shallow-clone" && strings.Contains(f.Name, "/_delta_log/") {
			if !strings.HasSuffix(f.Name, ".json") {
				continue // checkpoints, whose texts are compressed
			}
			data = bytes.ReplaceAll(data, []byte(elsewhere), []byte("file:"+filepath.ToSlash(dir)))
		}
		file := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
