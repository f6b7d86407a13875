package mssqlsim

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// program runs Main and gives its output line by line; end stops it and gives the exit code.
func startProgram(t *testing.T, stdin io.Reader, args ...string) (next func() string, end func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	var errs bytes.Buffer
	code := make(chan int, 1)
	go func() {
		c := Main(ctx, args, stdin, w, &errs)
		_ = w.Close()
		code <- c
	}()
	sc := bufio.NewScanner(r)
	next = func() string {
		if !sc.Scan() {
			t.Fatalf("the program ended: %s", errs.String())
		}
		return sc.Text()
	}
	return next, func() int {
		cancel()
		c := <-code
		if c != 0 {
			t.Logf("standard error: %s", errs.String())
		}
		return c
	}
}

// dsn gives the URL of the ready line with the password.
func dsn(t *testing.T, ready string) string {
	t.Helper()
	f := strings.Fields(ready)
	if len(f) != 4 || f[0] != "mssqlsim" || f[1] != "ready" || strings.Contains(f[3], "pw1") {
		t.Fatalf("ready line %q", ready)
	}
	return strings.Replace(f[3], "sa@", "sa:pw1@", 1)
}

func TestMainWorkloadAndScript(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "init.sql")
	must(t, os.WriteFile(file, []byte("CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY)\nGO\nINSERT INTO dbo.t VALUES (1), (2)\ngo\n"), 0o600))
	next, end := startProgram(t, nil, "-password", "pw1", "-sql", file, "-workload", "orders", "-rows", "50", "-tls", "on")
	conn := open(t, dsn(t, next()))
	equal(t, query(t, conn, "SELECT (SELECT COUNT(*) FROM dbo.t), (SELECT COUNT(*) FROM dbo.orders), (SELECT COUNT(*) FROM cdc.change_tables)"), []string{"2|50|1"})
	if c := end(); c != 0 {
		t.Errorf("exit code %d", c)
	}
}

func TestMainCertificateIsWhatStrictClientsNeed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "server.pem")
	next, end := startProgram(t, nil, "-password", "pw1", "-tls", "strict", "-certificate", file)
	url := dsn(t, next())
	if !strings.Contains(url, "encrypt=strict&certificate=") {
		t.Errorf("the ready line has %s", url)
	}
	equal(t, query(t, open(t, url), "SELECT DB_NAME()"), []string{"shop"})
	if c := end(); c != 0 {
		t.Errorf("exit code %d", c)
	}
}

func TestMainStepwise(t *testing.T) {
	t.Parallel()
	in, input := io.Pipe()
	next, end := startProgram(t, in, "-password", "pw1", "-history", filepath.Join("history", "testdata", "days.ndjson"), "-stepwise")
	conn := open(t, dsn(t, next()))
	if s := next(); !strings.HasPrefix(s, "step 01-stream-sensors stream {") {
		t.Errorf("%q", s)
	}
	first := query(t, conn, "SELECT COUNT(*) FROM cdc.dbo_sensors_CT")
	steps := 1
	for line := ""; line != "end"; steps++ {
		if _, err := input.Write([]byte("\n")); err != nil {
			t.Fatal(err)
		}
		line = next()
	}
	if steps != 38 {
		t.Errorf("%d steps", steps-1)
	}
	equal(t, first, []string{"10"})
	if c := end(); c != 0 {
		t.Errorf("exit code %d", c)
	}
	_ = input.Close()
}

func TestMainArguments(t *testing.T) {
	t.Parallel()
	open := filepath.Join(t.TempDir(), "open.sql")
	must(t, os.WriteFile(open, []byte("CREATE TABLE dbo.t (id int)\nGO\nBEGIN TRANSACTION\nINSERT dbo.t VALUES (1)\n"), 0o600))
	for _, tc := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{"-nope"}, 2, "flag provided but not defined"},
		{[]string{"extra"}, 2, "no arguments besides the flags"},
		{[]string{"-stepwise"}, 2, "-stepwise needs -history"},
		{[]string{"-workload", "lines"}, 2, "the only workload is orders"},
		{[]string{"-certificate", "server.pem"}, 2, "-certificate needs -tls"},
		{[]string{"-tls", "on", "-certificate", filepath.Join("nowhere", "server.pem")}, 1, "writing the certificate"},
		{[]string{"-version", "2005"}, 2, `-version "2005" is not one of 2016, 2017, 2019, 2022, azure`},
		{[]string{"-tls", "maybe"}, 2, `-tls "maybe" is not one of off, login, on, strict`},
		{[]string{"-tls", "strict", "-version", "2019"}, 2, "-tls strict does not go with -version 2019"},
		{[]string{"-capture", "never"}, 2, `-capture "never" is not one of poll, commit`},
		{[]string{"-zone", "Europe/Berlin"}, 2, `-zone "Europe/Berlin" is not the Windows name of a time zone`},
		{[]string{"-zone", ""}, 2, "-zone"},
		{[]string{"-database", ""}, 2, "-database needs"},
		{[]string{"-password", ""}, 2, "-password needs a password"},
		{[]string{"-workload", "orders", "-rows", "-1"}, 2, "-rows -1 is below 0"},
		{[]string{"-workload", "orders", "-rate", "-1"}, 2, "-rate -1 is below 0"},
		{[]string{"-rows", "5"}, 2, "-rows needs -workload"},
		{[]string{"-memory", "0"}, 2, "-memory needs a number of MiB above 0"},
		{[]string{"-rate", "0"}, 2, "-rate needs -workload"},
		{[]string{"-sql", open}, 1, "ends within a transaction"},
		{[]string{"-history", "nowhere.ndjson"}, 1, "nowhere.ndjson"},
		{[]string{"-sql", "nowhere.sql"}, 1, "nowhere.sql"},
	} {
		var errs bytes.Buffer
		if c := Main(t.Context(), tc.args, nil, io.Discard, &errs); c != tc.code || !strings.Contains(errs.String(), tc.text) {
			t.Errorf("%v: code %d, %q", tc.args, c, errs.String())
		}
	}
}

// The capture job of the program runs in the background.
func TestMainCaptures(t *testing.T) {
	t.Parallel()
	next, end := startProgram(t, nil, "-password", "pw1")
	conn := open(t, dsn(t, next()))
	exec(t, conn, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY); EXEC sys.sp_cdc_enable_db; EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL")
	equal(t, query(t, conn, "SELECT pollinginterval FROM msdb.dbo.cdc_jobs WHERE job_type = N'capture'"), []string{"5"})
	exec(t, conn, "EXEC sys.sp_cdc_stop_job; EXEC sys.sp_cdc_change_job @pollinginterval = 0; EXEC sys.sp_cdc_start_job; INSERT INTO dbo.t VALUES (1)")
	for rows := ""; rows != "1"; rows = query(t, conn, "SELECT COUNT(*) FROM cdc.dbo_t_CT")[0] {
	}
	if c := end(); c != 0 {
		t.Errorf("exit code %d", c)
	}
	if c := Main(t.Context(), []string{"-capture", "poll", "-history", "x"}, nil, io.Discard, io.Discard); c != 2 {
		t.Errorf("exit code %d", c)
	}
	if c := Main(t.Context(), []string{"-capture", "never"}, nil, io.Discard, io.Discard); c != 2 {
		t.Errorf("exit code %d", c)
	}
}
