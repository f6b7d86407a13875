package bundled

import (
	"context"
	"errors"
	"fmt"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/workload"
)

// Simulator is the built-in SQL Server with a shop in it: dbo.orders, captured,
// and a workload that keeps changing it.
type Simulator struct {
	server *mssqlsim.Server
	db     *mssqlsim.Database
	orders *workload.Orders
}

// StartSimulator starts the simulator on a free port of the loopback interface
// with rows orders; the workload makes rate transactions a second, 0 = none.
func StartSimulator(ctx context.Context, rows, rate int) (*Simulator, error) {
	server, err := mssqlsim.Start(ctx, mssqlsim.Options{Idles: true})
	if err != nil {
		return nil, fmt.Errorf("starting the SQL Server simulator: %w", err)
	}
	db := server.Database("shop")
	orders, err := workload.NewOrders(ctx, db.Model(), workload.Options{Rows: rows, Rate: rate, Seed: 1})
	if err != nil {
		server.Close()
		return nil, fmt.Errorf("filling the SQL Server simulator: %w", err)
	}
	orders.Start(ctx)
	return &Simulator{server: server, db: db, orders: orders}, nil
}

// URL is how to reach it, password included.
func (s *Simulator) URL() string { return s.server.DSN("shop") }

// Pause stops the workload and returns when nothing is in flight.
func (s *Simulator) Pause() { s.orders.Pause() }

// Orders counts the rows of dbo.orders.
func (s *Simulator) Orders() (int, error) { return s.db.Count(workload.OrdersTable) }

// Close ends the workload and the server.
func (s *Simulator) Close() error {
	err := s.orders.Stop()
	s.server.Close()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
