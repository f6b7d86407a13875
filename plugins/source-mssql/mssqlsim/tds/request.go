package tds

import (
	"fmt"
	"strconv"
	"strings"
)

// Request is one statement batch, execution of a prepared statement or procedure call.
type Request struct {
	// SQL is the text to run. Clients may end it with line breaks and send statements without separators.
	SQL string
	// Scoped tells that SQL is the text of a procedure such as sp_executesql or sp_execute, with which its scope ends, also
	// without Params.
	Scoped bool
	// Proc is the name as the client wrote it, of a procedure call that this package does not answer itself; SQL is empty
	// then. Some clients (go-mssqldb) also send a batch of one word so.
	Proc string
	// Params are those of the statement or of the procedure, in the order of the call. A parameter of a statement has the
	// name it was declared with, even if the client did not send it.
	Params []Param
	// Out sets the final value of an output parameter, sent when the request ends. The name is that of Params, without
	// regard to case; an unnamed parameter is meant by its decimal place in Params, or by "", which is the first unnamed
	// one that has no value yet. Other names, and those of input parameters, do nothing. It is nil where there can be none.
	Out func(name string, t Type, v any)
	// Tran is set, and nothing else, when Server.Fault is asked about a transaction manager request.
	Tran *TranRequest
}

// Param is one parameter of a call.
type Param struct {
	Name    string
	Output  bool
	Default bool // the client asks for the default of the procedure; Value then means nothing
	Type    Type
	Value   any // see the package comment
	// Ordinal is the place among all parameters of the call, from 0: for sp_executesql the first one of the statement is 2.
	Ordinal int
}

// headers reads ALL_HEADERS, which stand before the text of a batch and before calls since TDS 7.2
// (Microsoft: [MS-TDS] Packet Data Stream Headers). It gives the transaction descriptor.
func (d *decoder) headers() (tran uint64) {
	if d.ver < ver72 {
		return 0
	}
	total := int(d.u32())
	if total < 4 {
		d.fail("headers of %d bytes", total)
		return 0
	}
	h := decoder{b: d.take(total - 4), err: d.err}
	for h.err == nil && len(h.b) > 0 {
		n := int(h.u32())
		if n < 6 {
			h.fail("a header of %d bytes", n)
			break
		}
		one := decoder{b: h.take(n - 4), err: h.err}
		if one.u16() == 2 { // transaction descriptor
			tran = one.u64()
		}
		if one.err != nil {
			h.fail("%w", one.err)
		}
	}
	if h.err != nil {
		d.fail("headers: %w", h.err)
	}
	return tran
}

// parseBatch reads SQLBatch.
func parseBatch(b []byte, ver uint32) (string, error) {
	d := &decoder{b: b, ver: ver}
	d.headers()
	sql := d.utf16(d.b)
	if d.err != nil {
		return "", fmt.Errorf("batch: %w", d.err)
	}
	return sql, nil
}

// rpcCall is one call of a procedure.
type rpcCall struct {
	proc   string
	byID   bool
	noExec bool // the client only wants it in the message (Microsoft: [MS-TDS] RPC Request, NoExecFlag)
	params []Param
}

// procedures are those that clients may call by number (Microsoft: [MS-TDS] RPC Request, ProcID).
var procedures = [...]string{1: "sp_cursor", "sp_cursoropen", "sp_cursorprepare", "sp_cursorexecute", "sp_cursorprepexec", "sp_cursorunprepare", "sp_cursorfetch", "sp_cursoroption", "sp_cursorclose", "sp_executesql", "sp_prepare", "sp_execute", "sp_prepexec", "sp_prepexecrpc", "sp_unprepare"}

// Separators of several calls in one message (Microsoft: [MS-TDS] RPC Request, BatchFlag and NoExecFlag).
const (
	batchFlagOld = 0x80 // before TDS 7.2
	batchFlag    = 0xFF
	noExecFlag   = 0xFE
)

// parseRPC reads an RPC request, which may hold several calls.
func parseRPC(b []byte, ver uint32) (calls []rpcCall, err error) {
	d := &decoder{b: b, ver: ver}
	d.headers()
	for d.err == nil && len(d.b) > 0 {
		c, err := d.call()
		if err != nil {
			return nil, fmt.Errorf("call %d: %w", len(calls)+1, err)
		}
		calls = append(calls, c)
	}
	if d.err != nil {
		return nil, d.err
	}
	if len(calls) == 0 {
		return nil, fmt.Errorf("a message without a call")
	}
	return calls, nil
}

func (d *decoder) call() (c rpcCall, err error) {
	if n := d.u16(); n == 0xFFFF {
		id := int(d.u16())
		if id < 1 || id >= len(procedures) {
			return c, fmt.Errorf("procedure number %d is not known", id)
		}
		c.proc, c.byID = procedures[id], true
	} else {
		c.proc = d.ucs2(int(n))
	}
	d.u16() // options: recompile, and two about metadata that a server may ignore
	for d.err == nil && len(d.b) > 0 {
		switch x := d.b[0]; {
		case d.ver < ver72 && x == batchFlagOld, d.ver >= ver72 && (x == batchFlag || x == noExecFlag):
			c.noExec = x == noExecFlag
			d.u8()
			return c, d.err
		}
		p := Param{Ordinal: len(c.params), Name: d.ucs2(int(d.u8()))}
		status := d.u8()
		p.Output, p.Default = status&1 != 0, status&2 != 0
		if status&8 != 0 {
			d.fail("%w", unbuilt("encrypted values"))
		}
		p.Type = d.typeInfo()
		p.Value = d.value(p.Type)
		if d.err != nil {
			return c, fmt.Errorf("%s: parameter %d (%q): %w", c.proc, len(c.params)+1, p.Name, d.err)
		}
		c.params = append(c.params, p)
	}
	return c, d.err
}

// declaredNames takes the names out of declarations as "@p0 int, @p1 decimal(9,2) output".
func declaredNames(declarations string) (names []string) {
	depth, fresh := 0, true
	for i := 0; i < len(declarations); i++ {
		switch x := declarations[i]; {
		case x == '(':
			depth++
		case x == ')':
			depth--
		case x == ',' && depth == 0:
			fresh = true
		case x == '@' && fresh:
			end := i + strings.IndexAny(declarations[i:]+" ", " \t\r\n,")
			names = append(names, declarations[i:end])
			i, fresh = end-1, false
		}
	}
	return names
}

// bind names the parameters of a statement by its declarations; a client may send them unnamed.
func bind(names []string, ps []Param) []Param {
	out := append([]Param{}, ps...)
	for i := range out {
		if out[i].Name == "" && i < len(names) {
			out[i].Name = names[i]
		}
	}
	return out
}

// outputs is Request.Out for the parameters of a call.
func outputs(ps []Param, r *Results) func(name string, t Type, v any) {
	set := make([]bool, len(ps))
	return func(name string, t Type, v any) {
		for i, p := range ps {
			if !p.Output || set[i] || !strings.EqualFold(p.Name, name) && (p.Name != "" || strconv.Itoa(i) != name) {
				continue
			}
			set[i] = true
			r.Return(p.Ordinal, p.Name, t, v)
			return
		}
	}
}

// textAt and intAt are the values of parameters that must be there by their place; zero if they are not.
func textAt(ps []Param, i int) string {
	if i < len(ps) {
		if s, ok := ps[i].Value.(string); ok {
			return s
		}
	}
	return ""
}

func intAt(ps []Param, i int) int64 {
	if i < len(ps) {
		if n, ok := ps[i].Value.(int64); ok {
			return n
		}
	}
	return 0
}

// from is the tail of the parameters beginning at place i.
func from(ps []Param, i int) []Param { return ps[min(i, len(ps)):] }
