package mssql

import (
	"context"
	"log/slog"
	"sync"
)

// pool bounds the connections of a session. Planner calls borrow one and give
// it back; a read opens its own and closes it. No call holds one while it
// waits for another, so a bound of one is enough for any number of streams.
type pool struct {
	config connection
	log    *slog.Logger
	// slots holds one token per connection in use.
	slots chan struct{}

	mu     sync.Mutex
	idle   []*conn
	closed bool
	// database is where the first connection led to, zero before it. Where
	// another one leads to is not the session's to read.
	database origin
}

func newPool(config connection, limit int, log *slog.Logger) *pool {
	return &pool{config: config, log: log, slots: make(chan struct{}, limit)}
}

// borrow returns an idle connection or a new one.
func (p *pool) borrow(ctx context.Context) (*conn, error) {
	if err := p.acquire(ctx); err != nil {
		return nil, err
	}
	p.mu.Lock()
	for n := len(p.idle); n > 0; n = len(p.idle) {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		if c.usable() {
			p.mu.Unlock()
			return c, nil
		}
		c.close()
	}
	p.mu.Unlock()
	return p.dial(ctx)
}

// open returns a new connection, whose session nobody else has set up.
func (p *pool) open(ctx context.Context) (*conn, error) {
	if err := p.acquire(ctx); err != nil {
		return nil, err
	}
	return p.dial(ctx)
}

func (p *pool) acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// dial opens a connection for a slot already taken, to the database of the
// session and no other, and closes idle ones that would exceed the bound.
func (p *pool) dial(ctx context.Context) (*conn, error) {
	p.mu.Lock()
	for len(p.idle) > 0 && len(p.idle)+len(p.slots) > cap(p.slots) {
		p.idle[0].close()
		p.idle = p.idle[1:]
	}
	p.mu.Unlock()
	c, err := dial(ctx, p.config, p.log)
	if err == nil {
		err = p.vouch(c)
	} else if (sqlNumber(err) == errCannotOpenDB || unknownHost(err)) && p.everConnected() {
		err = &connectError{err: err, again: true}
	}
	if err != nil {
		<-p.slots
		return nil, err
	}
	return c, nil
}

// vouch closes a new connection that leads to another database than the first
// one did. A server name, a proxy or a copy that was failed over to may lead
// there, between two parts of one snapshot or two tries of one call. A database
// that joined a group, or left one, is known by its alias on its server alone: on
// another one that may be a copy, which has the alias, too.
func (p *pool) vouch(c *conn) error {
	p.mu.Lock()
	first, now := p.database, c.database
	same := first == (origin{}) || first.database.Identity == now.database.Identity ||
		first.display == now.display && first.database.Same(now.database)
	if same {
		// The newest: it may have joined a group, or left one, since the first.
		p.database = c.database
	}
	p.mu.Unlock()
	if same {
		return nil
	}
	c.close()
	return p.config.another(first, c.database)
}

// everConnected reports whether this session has reached its server before.
func (p *pool) everConnected() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.database != origin{}
}

// give returns a borrowed connection; one that failed is closed instead.
func (p *pool) give(c *conn, failed bool) {
	p.mu.Lock()
	if failed || p.closed || !c.usable() {
		c.close()
	} else {
		p.idle = append(p.idle, c)
	}
	p.mu.Unlock()
	<-p.slots
}

// drop closes a connection from open.
func (p *pool) drop(c *conn) {
	c.close()
	<-p.slots
}

// close closes idle connections; those in use close when they are given back.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, c := range p.idle {
		c.close()
	}
	p.idle = nil
}
