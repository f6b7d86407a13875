package tds

import (
	"fmt"
	"slices"
	"strings"
)

// Event is one thing that happened on a connection; Server.Trace receives it. A password is never in it.
type Event struct {
	// Conn numbers the connections of a server from 1.
	Conn uint64 `json:"conn"`
	// Kind is prelogin, no-prelogin, login, login-failed, batch, rpc, tran, reset, attention, ignored, error, fault,
	// bad-request, close or, of no connection, accept-failed.
	Kind string `json:"kind"`
	// SQL is the text of a batch, Proc the name of a called procedure.
	SQL  string `json:"sql,omitempty"`
	Proc string `json:"proc,omitempty"`
	// Params are the parameters of a call, one text each: name, type, direction and value.
	Params []string       `json:"params,omitempty"`
	Detail map[string]any `json:"detail,omitempty"`
}

// String is the event on one line, if its SQL is.
func (e Event) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "conn %d %s", e.Conn, e.Kind)
	if e.Proc != "" {
		b.WriteString(" " + e.Proc)
	}
	if len(e.Params) > 0 {
		b.WriteString(" (" + strings.Join(e.Params, ", ") + ")")
	}
	if e.SQL != "" {
		b.WriteString(" " + e.SQL)
	}
	keys := make([]string, 0, len(e.Detail))
	for k := range e.Detail {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		fmt.Fprintf(&b, " %s=%v", k, e.Detail[k])
	}
	return b.String()
}

// longestTraced is how much of a value an event shows.
const longestTraced = 4000

// String is the parameter in readable form: name, type, direction, value. Long values are cut.
func (p Param) String() string {
	var v string
	switch x := p.Value.(type) {
	case nil:
		v = "NULL"
	case []byte:
		v = fmt.Sprintf("0x%X", x[:min(len(x), longestTraced)])
		if len(x) > longestTraced {
			v += "..."
		}
	case string:
		if len(x) > longestTraced {
			x = x[:longestTraced] + "..."
		}
		v = fmt.Sprintf("%q", x)
	default:
		v = fmt.Sprint(x)
	}
	direction := ""
	if p.Output {
		direction = " output"
	}
	if p.Default {
		direction += " default"
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s%s = %s", p.Name, p.Type, direction, v))
}

// trace reports an event, which fill completes only if somebody listens.
func (s *Server) trace(conn uint64, kind string, fill func(*Event)) {
	if s.Trace == nil {
		return
	}
	e := Event{Conn: conn, Kind: kind}
	if fill != nil {
		fill(&e)
	}
	s.Trace(e)
}
