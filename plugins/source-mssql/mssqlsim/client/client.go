// Package client opens pools of connections for tests that let statements fail.
//
// A connection of go-mssqldb gives its buffer back for use by others when it is closed, although the goroutine that reads the
// answer may still be at it: after an error in the middle of a batch, whose remaining results nobody takes, or when a query was
// given up (Conn.Close in mssql.go, startResponseReader in token.go; pull request 410 of microsoft/go-mssqldb mended it, 469 took
// that back). Two connections then share a buffer, which the race detector reports and which may mix their answers up. A
// connection of this package closes its socket and keeps its buffer to itself.
package client

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"sync"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/msdsn"
)

// Open makes a pool of connections; dsn is a connection string of go-mssqldb. Nothing is connected yet.
func Open(dsn string) (*sql.DB, error) {
	cfg, err := msdsn.Parse(dsn)
	if err != nil {
		return nil, fmt.Errorf("the connection string: %w", err)
	}
	return sql.OpenDB(connector{cfg}), nil
}

type connector struct{ cfg msdsn.Config }

func (c connector) Driver() driver.Driver { return mssql.NewConnectorConfig(c.cfg).Driver() }

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	cfg := c.cfg
	if cfg.TLSConfig != nil {
		cfg.TLSConfig = cfg.TLSConfig.Clone()
	}
	made := mssql.NewConnectorConfig(cfg)
	dialled := &sockets{}
	made.Dialer = dialled
	raw, err := made.Connect(ctx)
	if err != nil {
		return nil, err
	}
	opened, ok := raw.(*mssql.Conn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver made a %T", raw), raw.Close())
	}
	return &conn{Conn: opened, sockets: dialled}, nil
}

// conn is a connection of the driver, with all that it can do but Close.
type conn struct {
	*mssql.Conn
	sockets *sockets
}

// Close ends the connection without giving its buffer to another one.
func (c *conn) Close() error { return c.sockets.close() }

// sockets are what one connection dialled: several addresses at once, or one after the other where a server sends it on.
type sockets struct {
	mu  sync.Mutex
	all []net.Conn
}

func (s *sockets) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, c)
	return c, nil
}

func (s *sockets) close() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.all {
		if cerr := c.Close(); !errors.Is(cerr, net.ErrClosed) {
			err = errors.Join(err, cerr)
		}
	}
	return err
}
