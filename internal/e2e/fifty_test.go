package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pipectl/pipectl/examples"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tds"
)

// fifty is the example of fifty tables over a server that has them.
type fifty struct {
	*testing.T
	dir string
	url string
	db  *mssqlsim.Database

	mu         sync.Mutex
	statements []string
}

func newFifty(t *testing.T) *fifty {
	t.Helper()
	f := &fifty{T: t, dir: t.TempDir()}
	server, err := mssqlsim.Start(t.Context(), mssqlsim.Options{Trace: f.request})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	f.url, f.db = server.DSN("erp"), server.Database("erp")
	f.exec("EXEC sys.sp_cdc_enable_db;")
	for i := 1; i <= 50; i++ {
		f.exec(fmt.Sprintf(`CREATE TABLE dbo.t%02d (id int NOT NULL PRIMARY KEY, name nvarchar(40) NOT NULL, email nvarchar(80) NULL, phone nvarchar(40) NULL, amount decimal(18, 4) NOT NULL);
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N't%02d', @role_name = NULL;
INSERT INTO dbo.t%02d VALUES (1, N'a', N'a@example.com', N'1', 1.5), (2, N'b', NULL, NULL, -2.25);`, i, i, i))
	}
	if err := os.WriteFile(filepath.Join(f.dir, "fifty.hcl"), examples.FiftyTables, 0o644); err != nil {
		t.Fatal(err)
	}
	// The same with the first ten rows of the map.
	lines, tables := []string{}, 0
	for line := range strings.Lines(string(examples.FiftyTables)) {
		if strings.Contains(line, "= { object = ") {
			if tables++; tables > 10 {
				continue
			}
		}
		lines = append(lines, line)
	}
	if tables != 50 {
		t.Fatalf("the example has %d tables", tables)
	}
	if err := os.WriteFile(filepath.Join(f.dir, "ten.hcl"), []byte(strings.Join(lines, "")), 0o644); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fifty) exec(sql string) {
	f.Helper()
	if err := f.db.Exec(f.Context(), sql); err != nil {
		f.Fatal(err)
	}
}

// request hears what the server is asked.
func (f *fifty) request(e tds.Event) {
	if e.Kind != "batch" && e.Kind != "rpc" {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.statements = append(f.statements, e.String())
}

// run carries out a command and returns how many statements it sent.
func (f *fifty) run(args ...string) int {
	f.Helper()
	f.mu.Lock()
	f.statements = nil
	f.mu.Unlock()
	cmd := exec.Command(pipectl(f), args...)
	cmd.Dir = f.dir
	cmd.Env = append(os.Environ(), "ERP_MSSQL_URL="+f.url)
	if out, err := cmd.CombinedOutput(); err != nil {
		f.Fatalf("pipectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.statements)
}

// TestAPlanAsksAFixedNumberOfQuestionsATable holds what a plan may cost a
// source: so many statements, and so many more for each table, whatever the
// tables hold and however many changes wait.
func TestAPlanAsksAFixedNumberOfQuestionsATable(t *testing.T) {
	t.Parallel()
	const (
		once     = 7 // database (as each new connection asks, and to answer), newest position and its time, version, zone, capture instances
		perTable = 6 // grants, columns, captured columns, size, oldest position and its time
		waiting  = 1 // counts the commits after a table's position
	)
	f := newFifty(t)
	asks := func(file string, want int) {
		t.Helper()
		if n := f.run("plan", file); n != want {
			f.Errorf("plan %s sends %d statements, not %d:\n%s", file, n, want, strings.Join(f.statements, "\n"))
		}
	}
	asks("fifty.hcl", once+50*perTable)
	asks("ten.hcl", once+10*perTable)

	f.run("apply", "-yes", "ten.hcl")
	asks("ten.hcl", once+10*(perTable+waiting))
	asks("fifty.hcl", once+50*perTable+10*waiting)

	for i := range 30 {
		f.exec(fmt.Sprintf("INSERT INTO dbo.t01 VALUES (%d, N'c', NULL, NULL, 1);", 100+i))
	}
	asks("ten.hcl", once+10*(perTable+waiting))
}
