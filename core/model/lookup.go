package model

import (
	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
)

// Addresses lists everything that is declared, kind by kind.
func (c *Config) Addresses() []addr.Address {
	var out []addr.Address
	for _, s := range c.Sources {
		out = append(out, s.Addr)
	}
	for _, s := range c.Sinks {
		out = append(out, s.Addr)
	}
	for _, t := range c.Tables {
		out = append(out, t.Addr)
	}
	for _, s := range c.Streams {
		out = append(out, s.Addr)
	}
	for _, v := range c.Silvers {
		out = append(out, v.Addr)
	}
	for _, k := range c.Checks {
		out = append(out, k.Addr)
	}
	return out
}

// Source returns the source with the address, or nil.
func (c *Config) Source(a addr.Address) *Source {
	for i := range c.Sources {
		if c.Sources[i].Addr == a {
			return &c.Sources[i]
		}
	}
	return nil
}

// Sink returns the sink with the address, or nil.
func (c *Config) Sink(a addr.Address) *Sink {
	for i := range c.Sinks {
		if c.Sinks[i].Addr == a {
			return &c.Sinks[i]
		}
	}
	return nil
}

// Table returns the table with the address, or nil.
func (c *Config) Table(a addr.Address) *Table {
	for i := range c.Tables {
		if c.Tables[i].Addr == a {
			return &c.Tables[i]
		}
	}
	return nil
}

// Stream returns the stream with the address, or nil.
func (c *Config) Stream(a addr.Address) *Stream {
	for i := range c.Streams {
		if c.Streams[i].Addr == a {
			return &c.Streams[i]
		}
	}
	return nil
}

// Silver returns the silver with the address, or nil.
func (c *Config) Silver(a addr.Address) *Silver {
	for i := range c.Silvers {
		if c.Silvers[i].Addr == a {
			return &c.Silvers[i]
		}
	}
	return nil
}

// Check returns the check with the address, or nil.
func (c *Config) Check(a addr.Address) *Check {
	for i := range c.Checks {
		if c.Checks[i].Addr == a {
			return &c.Checks[i]
		}
	}
	return nil
}

// OriginOf returns the origin of what has the address.
func (c *Config) OriginOf(a addr.Address) (Origin, bool) {
	switch a.Kind {
	case addr.Source:
		if s := c.Source(a); s != nil {
			return s.Origin, true
		}
	case addr.Sink:
		if s := c.Sink(a); s != nil {
			return s.Origin, true
		}
	case addr.Table:
		if t := c.Table(a); t != nil {
			return t.Origin, true
		}
	case addr.Stream:
		if s := c.Stream(a); s != nil {
			return s.Origin, true
		}
	case addr.Silver:
		if s := c.Silver(a); s != nil {
			return s.Origin, true
		}
	case addr.Check:
		if k := c.Check(a); k != nil {
			return k.Origin, true
		}
	}
	return Origin{}, false
}

// Locate places diagnostics of a step. What a source says while a step reads it
// may be about an argument of the table, which the step's own block does not
// have.
func (c *Config) Locate(step addr.Address, list diag.List) diag.List {
	own, _ := c.OriginOf(step)
	table := c.tableOf(step)
	if table == nil {
		return own.Locate(step, list)
	}
	var out diag.List
	for _, d := range list {
		origin := own
		if d.Subject == nil && len(d.Path) > 0 && !own.has(d.Path[:1]) && table.Origin.has(d.Path[:1]) {
			origin = table.Origin
		}
		out = append(out, origin.Locate(step, diag.List{d})...)
	}
	return out
}

// tableOf is the table that a step reads or follows, nil for all else.
func (c *Config) tableOf(step addr.Address) *Table {
	if k := c.Check(step); k != nil {
		step = k.Silver
	}
	if v := c.Silver(step); v != nil {
		step = v.From
	}
	if s := c.Stream(step); s != nil {
		return c.Table(s.Table)
	}
	return nil
}

// has reports whether a place is known for a path.
func (o Origin) has(path diag.Path) bool {
	_, ok := o.Attributes[path.String()]
	return ok
}
