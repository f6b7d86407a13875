package tds

import (
	"context"
	"fmt"
	"strings"
)

// call answers one procedure call; more: the message holds another one. An error ends the connection.
func (c *connection) call(ctx context.Context, call rpcCall, r *Results, more bool) error {
	if call.noExec {
		r.end(more)
		return nil
	}
	ps := call.params
	switch name := systemName(call.proc); name {
	case "sp_executesql":
		if err := expect(ps, name, "@statement"); err != nil {
			return refuse(r, err, more)
		}
		return c.statement(ctx, textAt(ps, 0), declaredNames(textAt(ps, 1)), from(ps, 2), r, more)
	case "sp_prepare", "sp_prepexec":
		if err := expect(ps, name, "@handle", "@params", "@stmt"); err != nil {
			return refuse(r, err, more)
		}
		p := prepared{textAt(ps, 2), declaredNames(textAt(ps, 1))}
		c.prepare(p, ps[0], r)
		if name == "sp_prepexec" {
			return c.statement(ctx, p.sql, p.names, from(ps, 3), r, more)
		}
	case "sp_execute":
		p, ok := c.sess.prepared[intAt(ps, 0)]
		if !ok {
			return refuse(r, noStatement(ps), more)
		}
		return c.statement(ctx, p.sql, p.names, from(ps, 1), r, more)
	case "sp_unprepare", "sp_cursorunprepare":
		if _, ok := c.sess.prepared[intAt(ps, 0)]; !ok {
			return refuse(r, noStatement(ps), more)
		}
		delete(c.sess.prepared, intAt(ps, 0))
	case "sp_cursoropen", "sp_cursorprepare", "sp_cursorprepexec", "sp_cursorexecute", "sp_cursorfetch", "sp_cursoroption", "sp_cursorclose", "sp_cursor":
		return c.cursorCall(ctx, name, ps, r, more)
	case "sp_reset_connection":
		c.reset(false)
	case "sp_prepexecrpc":
		r.named = true
		return refuse(r, &Error{Number: 2812, Class: 16, State: 62, Msg: "Could not find stored procedure 'sp_prepexecrpc'."}, more)
	default:
		r.named = true
		return c.exec(ctx, Request{Proc: call.proc, Params: ps, Out: outputs(ps, r)}, r, more)
	}
	r.end(more)
	return nil
}

// systemName is the name of a procedure that this package answers, however it is qualified and quoted; else "".
func systemName(proc string) string {
	name := strings.ToLower(strings.NewReplacer("[", "", "]", "", `"`, "").Replace(proc))
	parts := strings.Split(name, ".")
	name = parts[len(parts)-1]
	if len(parts) > 1 {
		if schema := parts[len(parts)-2]; schema != "sys" && schema != "dbo" && schema != "" {
			return ""
		}
	}
	return name
}

// expect checks that the parameters that a procedure needs are there.
func expect(ps []Param, proc string, names ...string) error {
	if len(ps) >= len(names) {
		return nil
	}
	return &Error{Number: 201, Class: 16, State: 10, Proc: proc, Msg: fmt.Sprintf("Procedure or function '%s' expects parameter '%s', which was not supplied.", proc, names[len(ps)])}
}

// refuse answers a call with an error.
func refuse(r *Results, err error, more bool) error {
	r.fail(err)
	r.end(more)
	return nil
}

func noStatement(ps []Param) error {
	return &Error{Number: 8179, Class: 16, State: 4, Msg: fmt.Sprintf("Could not find prepared statement with handle %d.", intAt(ps, 0))}
}

// prepare keeps a statement and returns its handle in the parameter out.
func (c *connection) prepare(p prepared, out Param, r *Results) {
	h := c.sess.handle()
	c.sess.prepared[h] = p
	r.Return(out.Ordinal, out.Name, Int, h)
}

// statement runs a statement with its parameters.
func (c *connection) statement(ctx context.Context, sql string, names []string, args []Param, r *Results, more bool) error {
	args = bind(names, args)
	return c.exec(ctx, Request{SQL: sql, Scoped: true, Params: args, Out: outputs(args, r)}, r, more)
}
