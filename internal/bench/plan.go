package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/pipectl/pipectl/examples"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

// planAim is how long a person waits for a plan of fifty tables at most.
const planAim = 2 * time.Second

// firstTables is the example with the first n rows of its map alone.
func firstTables(n int) ([]byte, error) {
	var out []byte
	rows := 0
	for line := range bytes.Lines(examples.FiftyTables) {
		if bytes.Contains(line, []byte("= { object = ")) {
			if rows++; rows > n {
				continue
			}
		}
		out = append(out, line...)
	}
	if rows < n {
		return nil, fmt.Errorf("the example has %d tables, not %d", rows, n)
	}
	return out, nil
}

// fiftyTables makes and captures the tables of the example.
func fiftyTables(ctx context.Context, db *mssqlsim.Database, rows int64) error {
	if err := db.EnableCDC(); err != nil {
		return err
	}
	for i := 1; i <= 50; i++ {
		values := make([]string, rows)
		for n := range values {
			values[n] = fmt.Sprintf("(%d, N'name %d', N'%d@example.com', NULL, %d.25)", n, n, n, n)
		}
		statement := fmt.Sprintf(`CREATE TABLE dbo.t%02d (id int NOT NULL PRIMARY KEY, name nvarchar(40) NOT NULL, email nvarchar(80) NULL, phone nvarchar(40) NULL, amount decimal(18, 4) NOT NULL);
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N't%02d', @role_name = NULL;
INSERT INTO dbo.t%02d VALUES %s;`, i, i, i, strings.Join(values, ", "))
		if err := db.Exec(ctx, statement); err != nil {
			return fmt.Errorf("making table %d of fifty: %w", i, err)
		}
	}
	return nil
}

// planned is how long a plan of many tables takes, all of which are loaded.
func (b *bench) planned(ctx context.Context) (err error) {
	sim, err := b.startSimulator(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sim.close()) }()
	if err := sim.do(fmt.Sprintf("fifty %d", b.size.fifty)); err != nil {
		return err
	}
	dir := filepath.Join(b.dir, "fifty")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	text, err := firstTables(b.size.tables)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "fifty-tables.hcl"), text, 0o644); err != nil {
		return err
	}
	pipectl := func(args ...string) error {
		cmd := exec.CommandContext(ctx, b.binary, append(args, "fifty-tables.hcl")...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "ERP_MSSQL_URL="+sim.url)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("pipectl %s: %w\n%s", strings.Join(args, " "), err, out.String())
		}
		return nil
	}
	if err := pipectl("apply", "-yes"); err != nil {
		return err
	}
	var took []float64
	for range b.size.rounds {
		d, err := timed(func() error { return pipectl("plan") })
		if err != nil {
			return err
		}
		took = append(took, d.Seconds())
	}
	b.add(figure{name: fmt.Sprintf("plan of %d loaded tables", b.size.tables), ours: seconds(median(took)), aim: fmt.Sprintf("<= %g s", planAim.Seconds()), met: median(took) <= planAim.Seconds()})
	return nil
}
