// Command mssqlsim runs the SQL Server simulator: a server that any client can connect to, with change data capture, a
// workload or a recorded history. See package mssqlsim.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // zones of the server's clock, where the machine has none

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := mssqlsim.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
