// Command scenario is the source side of the interoperability tests: a simulated SQL Server with tables whose rows it
// knows, changed on command.
//
// Tables: dbo.orders, the simulator's workload; dbo.types, a column of every type that the source plugin reads, with
// the ends of their ranges; dbo.odd, whose column names Delta stores by way of column mapping.
//
// It prints "ready URL" and then answers each line of standard input with one line, "ok" or "error TEXT":
//
//	live         the orders change by themselves from now on
//	quiet        they no longer do; nothing is in flight after the answer
//	change N     N transactions on the orders, one each on the other tables
//	truth DIR    writes DIR/orders.ndjson and so on: the rows as they are now
//
// It ends with its input. It must not know pipectl: what it writes down as the truth comes from the simulator alone.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/workload"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdin, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "scenario:", err)
		os.Exit(1)
	}
}

// tables are the tables whose truth is written.
var tables = []string{"orders", "types", "odd"}

// scenario is a running server and what changes it.
type scenario struct {
	db     *mssqlsim.Database
	orders *workload.Orders
	types  *typesTable
	odd    *oddTable
}

func run(ctx context.Context, in io.Reader, out io.Writer) (err error) {
	server, err := mssqlsim.Start(ctx, mssqlsim.Options{})
	if err != nil {
		return err
	}
	defer server.Close()
	s := &scenario{db: server.Database("interop")}
	if s.orders, err = workload.NewOrders(ctx, s.db.Model(), workload.Options{Rows: 5000, Rate: 100, Seed: 7}); err != nil {
		return err
	}
	if s.types, err = newTypesTable(ctx, s.db); err != nil {
		return err
	}
	if s.odd, err = newOddTable(ctx, s.db); err != nil {
		return err
	}
	s.orders.Pause()
	s.orders.Start(ctx)
	defer func() { err = errors.Join(err, s.orders.Stop()) }()
	if _, err := fmt.Fprintln(out, "ready", server.DSN(s.db.Name())); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		answer := "ok"
		if err := s.obey(ctx, lines.Text()); err != nil {
			answer = "error " + strings.ReplaceAll(err.Error(), "\n", "; ")
		}
		if _, err := fmt.Fprintln(out, answer); err != nil {
			return err
		}
	}
	return lines.Err()
}

// obey carries out one line.
func (s *scenario) obey(ctx context.Context, line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "live":
		s.orders.Resume()
		return nil
	case "quiet":
		s.orders.Pause()
		return nil
	case "change":
		n, err := strconv.Atoi(rest)
		if err != nil {
			return fmt.Errorf("change wants a number: %w", err)
		}
		return s.change(ctx, n)
	case "truth":
		for _, table := range tables {
			if err := writeTruth(s.db, table, rest); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("no such command: %s", verb)
}

func (s *scenario) change(ctx context.Context, n int) error {
	for range n {
		if _, err := s.orders.Transaction(ctx); err != nil {
			return err
		}
	}
	if err := s.types.change(ctx); err != nil {
		return err
	}
	return s.odd.change(ctx)
}
