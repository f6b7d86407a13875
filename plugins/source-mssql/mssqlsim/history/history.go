// Package history replays a recorded life of a database: commits with their LSNs and times, idle entries, DDL, cleanup,
// capture instances that come and go. Between them lie the steps at which whoever recorded it did something, so that a
// test can do the same at the same point.
//
// The file is NDJSON, one object a line; see Event for its fields. It must not know who reads the database.
package history

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/cdc"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// Event is one line.
type Event struct {
	Kind string `json:"kind"` // instance, commit, idle, ddl, cleanup, drop_instance, step, read

	// LSN and Time are those of a commit, an idle entry or DDL. Times are UTC.
	LSN  string `json:"lsn"`
	Time string `json:"time"`
	Ops  []Op   `json:"ops"`

	// Name is a capture instance's or a step's.
	Name     string   `json:"name"`
	Instance string   `json:"instance"` // of cleanup and drop_instance
	Table    string   `json:"table"`
	StartLSN string   `json:"start_lsn"`
	Ordinal  int      `json:"ordinal"`
	Key      []string `json:"key"`
	Columns  []Column `json:"columns"`
	LowLSN   string   `json:"low_lsn"`

	// Command and column of DDL; NewColumn when it adds one.
	Command   string  `json:"command"`
	Column    string  `json:"column"`
	NewColumn *Column `json:"new_column"`

	Action string          `json:"action"` // of a step
	Args   json.RawMessage `json:"args"`

	// Commits of a read: the next so many commits happen inside the step before, whose name is Step, just before it reads
	// Table.
	Commits int    `json:"commits"`
	Step    string `json:"step"`
}

// Op is one change of a commit. N is its number: __$seqval is the commit's LSN plus N.
type Op struct {
	Table  string         `json:"table"`
	Op     string         `json:"op"` // insert, update, delete
	N      int            `json:"n"`
	Before map[string]any `json:"before"`
	After  map[string]any `json:"after"`
}

// Column is a column of a capture instance, which is also one of its table.
type Column struct {
	Name      string `json:"name"`
	SQL       string `json:"sql"`
	Collation string `json:"collation"`
	// Spark is a type of who recorded the history, which means nothing here.
	Spark string `json:"spark"`
}

// Step is a point of the history where something is to be done.
type Step struct {
	Name   string
	Action string
	Args   json.RawMessage
	// Reads are the commits queued to happen inside the step, just before it reads their table.
	Reads []Read
}

// Read is what a step's read line said.
type Read struct {
	Table   string
	Commits int
}

// Player plays a history into a database.
type Player struct {
	name   string // of the file
	db     *cdc.Database
	clock  *cdc.ManualClock
	events []Event
	at     int
	line   []int

	captured map[capturedColumn]bool
}

// Options of a player.
type Options struct {
	// Clock, if set, is moved to the time of each commit and idle entry. It should be the server's.
	Clock *cdc.ManualClock
}

// Open reads a history file. The database must be empty; the player enables change data capture on it.
func Open(path string, db *cdc.Database, o Options) (*Player, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("opening a history: %w", err)
	}
	return read(bytes.NewReader(data), path, db, o)
}

// New reads a history.
func New(r io.Reader, db *cdc.Database, o Options) (*Player, error) { return read(r, "", db, o) }

func read(r io.Reader, name string, db *cdc.Database, o Options) (*Player, error) {
	p := &Player{name: name, db: db, clock: o.Clock, captured: map[capturedColumn]bool{}}
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 64<<20)
	for n := 1; sc.Scan(); n++ {
		if len(bytes.TrimSpace(sc.Bytes())) == 0 {
			continue
		}
		e, err := decode(sc.Bytes())
		if err != nil {
			return nil, p.wrong(n, err)
		}
		p.events, p.line = append(p.events, e), append(p.line, n)
	}
	if err := sc.Err(); err != nil {
		return nil, p.wrong(0, err)
	}
	if len(p.events) == 0 {
		return nil, p.wrong(0, errors.New("it holds no event"))
	}
	if at, err := checkReads(p.events); err != nil {
		return nil, p.wrong(p.line[at], err)
	}
	return p, db.Enable()
}

// wrong says where a history is wrong; line 0 is all of it.
func (p *Player) wrong(line int, err error) error {
	where := "history"
	if p.name != "" {
		where += " " + p.name
	}
	if line > 0 {
		where += fmt.Sprintf(", line %d", line)
	}
	return fmt.Errorf("%s: %w", where, err)
}

// Next plays up to the next step and returns it; io.EOF is the end of the history. Commits that belong inside the step
// are queued: each group happens when a statement is about to read rows of its table.
func (p *Player) Next(ctx context.Context) (*Step, error) {
	for p.at < len(p.events) {
		e := p.events[p.at]
		p.at++
		if e.Kind == "step" {
			s := &Step{Name: e.Name, Action: e.Action, Args: e.Args}
			return s, p.reads(ctx, s)
		}
		if err := p.play(ctx, e); err != nil {
			return nil, p.wrong(p.line[p.at-1], err)
		}
	}
	return nil, io.EOF
}

// reads queues the commits that belong inside a step.
func (p *Player) reads(ctx context.Context, s *Step) error {
	for p.at < len(p.events) && p.events[p.at].Kind == "read" {
		r := p.events[p.at]
		p.at++
		s.Reads = append(s.Reads, Read{r.Table, r.Commits})
		from := p.at
		p.at += r.Commits // checkReads has counted them
		inside, lines := p.events[from:p.at], p.line[from:p.at]
		err := p.db.BeforeRead(r.Table, func() error {
			for i, e := range inside {
				if err := p.play(ctx, e); err != nil {
					return p.wrong(lines[i], err)
				}
			}
			return nil
		})
		if err != nil {
			return p.wrong(p.line[from-1], err)
		}
	}
	return nil
}

func (p *Player) play(ctx context.Context, e Event) error {
	switch e.Kind {
	case "instance":
		return p.instance(e)
	case "commit":
		return p.commit(ctx, e)
	case "idle":
		lsn, at, err := p.moment(e)
		if err != nil {
			return err
		}
		return p.db.IdleAt(lsn, at)
	case "ddl":
		return p.ddl(e)
	case "cleanup":
		low, err := cdc.ParseLSN(e.LowLSN)
		if err != nil {
			return err
		}
		return about(e, p.db.CleanupAt(e.instance(), low, nil))
	case "drop_instance":
		return about(e, p.db.DisableTable(e.instance()))
	}
	return fmt.Errorf("the kind %q is not known", e.Kind)
}

// about names the instance that an event means, which the server's errors may not.
func about(e Event, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s of %s: %w", e.Kind, e.instance(), err)
}

func (e Event) instance() string {
	if e.Instance != "" {
		return e.Instance
	}
	return e.Name
}

// moment reads LSN and time, and moves the clock.
func (p *Player) moment(e Event) (lsn cdc.LSN, at time.Time, err error) {
	if lsn, err = cdc.ParseLSN(e.LSN); err != nil {
		return lsn, at, err
	}
	if at, err = time.Parse("2006-01-02T15:04:05.999", e.Time); err != nil {
		return lsn, at, fmt.Errorf("the time %q: %w", e.Time, err)
	}
	if p.clock != nil && p.clock.Now().Before(at) {
		p.clock.Set(at)
	}
	return lsn, at, nil
}

func (c Column) def(key []string) (tsql.ColumnDef, error) {
	t, err := sqltype.ParseType(c.SQL)
	if err != nil {
		return tsql.ColumnDef{}, fmt.Errorf("column %s: %w", c.Name, err)
	}
	if t.Collation, err = sqltype.CollationName(c.Collation); err != nil {
		return tsql.ColumnDef{}, fmt.Errorf("column %s: %w", c.Name, err)
	}
	nullable := true
	for _, k := range key {
		nullable = nullable && k != c.Name
	}
	return tsql.ColumnDef{Column: tsql.Column{Name: c.Name, Type: t, Nullable: nullable}}, nil
}

// instance begins a capture instance, and makes its table if it is the first.
func (p *Player) instance(e Event) error {
	if _, err := p.db.Columns(e.Table); err != nil {
		schema, name, _ := strings.Cut(e.Table, ".")
		def := tsql.TableDef{Name: tsql.Name{Schema: schema, Object: name}, Key: e.Key}
		for _, c := range e.Columns {
			d, err := c.def(e.Key)
			if err != nil {
				return err
			}
			def.Columns = append(def.Columns, d)
		}
		if err := p.db.CreateTable(def); err != nil {
			return err
		}
	}
	start, err := cdc.ParseLSN(e.StartLSN)
	if err != nil {
		return err
	}
	c := cdc.Capture{Name: e.Name, Start: start, Quiet: true}
	for _, col := range e.Columns {
		c.Columns = append(c.Columns, col.Name)
		p.captured[capturedColumn{e.Table, col.Name}] = true
	}
	return p.db.EnableTable(e.Table, c)
}

func (p *Player) commit(ctx context.Context, e Event) error {
	lsn, at, err := p.moment(e)
	if err != nil {
		return err
	}
	_, err = p.db.WriteAt(ctx, lsn, at, func(w *cdc.Writer) error {
		w.Pairs(true) // an update that moves a key is one pair in a history
		for _, o := range e.Ops {
			if err := p.op(w, o); err != nil {
				return fmt.Errorf("op %d of %s: %w", o.N, o.Table, err)
			}
		}
		return nil
	})
	return err
}

func (p *Player) op(w *cdc.Writer, o Op) error {
	cols, err := p.db.Columns(o.Table)
	if err != nil {
		return err
	}
	keys, err := p.db.Key(o.Table)
	if err != nil {
		return err
	}
	row := func(vals map[string]any) (sqltype.Row, error) {
		if err := p.sameColumns(o.Table, vals, cols); err != nil {
			return nil, err
		}
		out := make(sqltype.Row, len(cols))
		for i, c := range cols {
			v, err := Value(vals[c.Name], c.Type)
			if err != nil {
				return nil, fmt.Errorf("column %s: %w", c.Name, err)
			}
			out[i] = v
		}
		return out, nil
	}
	key := func(vals sqltype.Row) (out []sqltype.Value) {
		for _, k := range keys {
			out = append(out, vals[k])
		}
		return out
	}
	w.Number(o.N)
	switch o.Op {
	case "insert":
		after, err := row(o.After)
		if err != nil {
			return err
		}
		return w.Insert(o.Table, after)
	case "delete":
		before, err := row(o.Before)
		if err != nil {
			return err
		}
		return w.Delete(o.Table, key(before))
	case "update":
		before, err := row(o.Before)
		if err != nil {
			return err
		}
		after, err := row(o.After)
		if err != nil {
			return err
		}
		return w.Update(o.Table, key(before), after)
	}
	return fmt.Errorf("the operation %q is not known", o.Op)
}

// ddl changes the table as the command says; the commands of a history are ADD, DROP COLUMN and ALTER COLUMN.
func (p *Player) ddl(e Event) error {
	lsn, err := cdc.ParseLSN(e.LSN)
	if err != nil {
		return err
	}
	var a tsql.Alter
	words := strings.Fields(strings.ToUpper(e.Command))
	switch {
	case e.NewColumn != nil:
		d, err := e.NewColumn.def(nil)
		if err != nil {
			return err
		}
		a.Add = []tsql.ColumnDef{d}
	case contains(words, "ADD"):
		f := strings.Fields(e.Command[strings.Index(strings.ToUpper(e.Command), " ADD ")+len(" ADD "):])
		if len(f) < 2 {
			return fmt.Errorf("the command %q is not understood", e.Command)
		}
		d, err := Column{Name: strings.Trim(f[0], "[]"), SQL: f[1]}.def(nil)
		if err != nil {
			return err
		}
		a.Add = []tsql.ColumnDef{d}
	case contains(words, "DROP"):
		a.Drop = []string{e.Column}
	case contains(words, "ALTER", "COLUMN"):
		i := strings.Index(strings.ToUpper(e.Command), "COLUMN")
		f := strings.Fields(e.Command[i+len("COLUMN"):])
		if len(f) < 2 {
			return fmt.Errorf("the command %q is not understood", e.Command)
		}
		c := Column{Name: strings.Trim(f[0], "[]"), SQL: f[1]}
		d, err := c.def(nil)
		if err != nil {
			return err
		}
		a.Change = &d
		a.KeepNull = !contains(words, "NULL")
	default:
		return fmt.Errorf("the command %q is not understood", e.Command)
	}
	return p.db.Alter(e.Table, a, e.Command, lsn)
}

func contains(words []string, want ...string) bool {
	for i := range words {
		if i+len(want) > len(words) {
			return false
		}
		ok := true
		for k, w := range want {
			ok = ok && words[i+k] == w
		}
		if ok {
			return true
		}
	}
	return false
}

// Value gives a value as a history writes it: JSON numbers and booleans, text for exact numbers, times, GUIDs and
// characters, hexadecimal digits for binary.
func Value(v any, t sqltype.Type) (sqltype.Value, error) {
	text := sqltype.Str(sqltype.NVarChar, sqltype.Max)
	switch x := v.(type) {
	case nil:
		return sqltype.Value{}, nil
	case bool:
		if t.Class() == sqltype.ClassBit {
			return sqltype.FromBool(x), nil
		}
	case json.Number:
		return sqltype.Convert(sqltype.FromString(x.String()), text, t, 0)
	case string:
		n, from := sqltype.FromString(x), text
		if t.Class() == sqltype.ClassBinary {
			b, err := hex.DecodeString(x)
			if err != nil {
				return sqltype.Value{}, err
			}
			n, from = sqltype.FromBytes(string(b)), sqltype.Bin(sqltype.VarBinary, sqltype.Max)
		}
		if (t.Class() == sqltype.ClassBinary || t.Class() == sqltype.ClassString) && t.Len > 0 && sqltype.Length(n, t) > t.Len {
			return sqltype.Value{}, fmt.Errorf("%q is longer than %s", x, t)
		}
		return sqltype.Convert(n, from, t, 0)
	}
	return sqltype.Value{}, fmt.Errorf("a %T is no value of %s", v, t)
}

// Drain plays to the end and leaves the steps out; commits that belong inside a step happen in their place.
func (p *Player) Drain(ctx context.Context) error {
	for ; p.at < len(p.events); p.at++ {
		if e := p.events[p.at]; e.Kind != "step" && e.Kind != "read" {
			if err := p.play(ctx, e); err != nil {
				return p.wrong(p.line[p.at], err)
			}
		}
	}
	return nil
}
