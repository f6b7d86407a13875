package mssqlsim

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/cdc"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tds"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// The parts of package cdc that callers meet.
type (
	LSN         = cdc.LSN
	Version     = cdc.Version
	Clock       = cdc.Clock
	ManualClock = cdc.ManualClock
	Login       = cdc.Login
)

// The versions a server can say it is.
const (
	V2016 = cdc.V2016
	V2017 = cdc.V2017
	V2019 = cdc.V2019
	V2022 = cdc.V2022
	Azure = cdc.Azure
)

// NewManualClock, ParseLSN: see package cdc.
var (
	NewManualClock = cdc.NewManualClock
	ParseLSN       = cdc.ParseLSN
)

// TLSMode says which encryption the server offers.
type TLSMode string

// The modes. Without a certificate clients that insist on encryption are refused.
const (
	TLSOff    TLSMode = "off"
	TLSLogin  TLSMode = "login"  // as the client asks: nothing, the login, or all; also strict, since SQL Server 2022
	TLSOn     TLSMode = "on"     // everything is encrypted, as Force Encryption has it; also strict, since SQL Server 2022
	TLSStrict TLSMode = "strict" // TDS 8.0 alone, as Force Strict Encryption has it; since SQL Server 2022
)

// CaptureMode says when a capture job that runs reads the log.
type CaptureMode string

// The modes. In both, sys.sp_cdc_stop_job and its like do what they do on a server.
const (
	CaptureAtOnce CaptureMode = "commit" // right behind each commit
	CapturePolls  CaptureMode = "poll"   // at its polling interval, 5 seconds if nobody changed it
)

// AgentState is what SQL Server Agent does: see package cdc.
type AgentState = cdc.AgentState

// The states of SQL Server Agent.
const (
	AgentStopped  = cdc.AgentStopped
	AgentStarting = cdc.AgentStarting
	AgentRunning  = cdc.AgentRunning
)

// User is a login besides sa.
type User struct {
	Name     string
	Password string
	Admin    bool
}

// Options say what server to start. The zero value is SQL Server 2022 on a free port of 127.0.0.1, UTC, without TLS.
type Options struct {
	Listen   string // default 127.0.0.1:0
	Password string // of sa; default DefaultPassword
	Users    []User
	TLS      TLSMode
	Version  Version
	Zone     string // Windows name of the server's time zone, default UTC
	Clock    Clock  // default the machine's
	// Capture is CaptureAtOnce by default. With CapturePolls and a Clock of one's own nothing runs by itself: RunJobs does
	// what is due.
	Capture CaptureMode
	// Idles makes capture write an entry every five minutes without a commit, as a server's does, with CaptureAtOnce, too.
	Idles bool
	Name  string // @@SERVERNAME
	// Memory is how many bytes of rows one session may hold in sorts, groups, joins, changes and open cursors: past it a
	// statement is refused. 0 is 1 GiB.
	Memory int64
	// Trace receives every request.
	Trace func(tds.Event)
}

// DefaultPassword is sa's when the options give none.
const DefaultPassword = "Secret1!"

// Server is a running SQL Server.
type Server struct {
	cdc      *cdc.Server
	tds      *tds.Server
	handler  *handler
	addr     string
	password string
	tls      TLSMode
	ca       []byte
	faults   faults
	stop     func() bool
	close    sync.Once
	jobs     sync.WaitGroup // what serves the capture and cleanup jobs
	endJobs  context.CancelFunc
}

// Start starts a server. It ends with Close, or when the context ends.
func Start(ctx context.Context, o Options) (*Server, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("starting the simulator: %w", err)
	}
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	if o.Password == "" {
		o.Password = DefaultPassword
	}
	switch o.Capture {
	case "", CaptureAtOnce, CapturePolls:
	default:
		return nil, fmt.Errorf("starting the simulator: the capture mode %q is not one of commit, poll", o.Capture)
	}
	if o.Memory == 0 {
		o.Memory = tsql.DefaultMemory
	}
	model, err := cdc.NewServer(cdc.Config{Name: o.Name, Version: o.Version, Zone: o.Zone, Clock: o.Clock, Polls: o.Capture == CapturePolls, Idles: o.Idles, Memory: o.Memory})
	if err != nil {
		return nil, fmt.Errorf("starting the simulator: %w", err)
	}
	model.AddLogin("sa", o.Password, true)
	for _, u := range o.Users {
		model.AddLogin(u.Name, u.Password, u.Admin)
	}
	s := &Server{cdc: model, password: o.Password, tls: o.TLS}
	s.handler = &handler{model: model, conns: map[uint64]*conn{}, fails: s.faults.login}
	s.tds = &tds.Server{Handler: s.handler, Name: model.Name, Trace: o.Trace, Fault: s.faults.next, CursorMemory: o.Memory}
	switch o.TLS {
	case "", TLSOff:
		s.tls = TLSOff
	case TLSLogin, TLSOn, TLSStrict:
		cert, ca, err := tds.SelfSigned(cdc.SystemClock{}.Now())
		if err != nil {
			return nil, fmt.Errorf("starting the simulator: %w", err)
		}
		s.ca, s.tds.TLS, s.tds.ForceTLS = ca, &tls.Config{Certificates: []tls.Certificate{cert}}, o.TLS != TLSLogin
		switch known := knowsStrict(o.Version); {
		case !known && o.TLS == TLSStrict:
			return nil, fmt.Errorf("starting the simulator: the TLS mode strict is of SQL Server 2022 and later, not of %s", o.Version)
		case !known:
			s.tds.Strict = tds.StrictUnknown
		case o.TLS == TLSStrict:
			s.tds.Strict = tds.StrictForced
		}
	default:
		return nil, fmt.Errorf("starting the simulator: the TLS mode %q is not one of off, login, on, strict", o.TLS)
	}
	addr, err := s.tds.Listen(o.Listen)
	if err != nil {
		return nil, fmt.Errorf("starting the simulator on %s: %w", o.Listen, err)
	}
	s.addr = addr.String()
	jobs, endJobs := context.WithCancel(ctx)
	s.endJobs = endJobs
	if o.Capture == CapturePolls && o.Clock == nil {
		s.jobs.Go(func() { model.ServeJobs(jobs) })
	}
	s.stop = context.AfterFunc(ctx, s.shut)
	return s, nil
}

// Addr gives host and port.
func (s *Server) Addr() string { return s.addr }

// knowsStrict tells whether a version speaks TDS 8.0 (Microsoft: TDS 8.0).
func knowsStrict(v Version) bool { return v == "" || v == V2022 || v == Azure }

// Certificate gives the server's certificate in PEM form, which clients need for strict encryption; nil without TLS.
func (s *Server) Certificate() []byte { return s.ca }

// DSN gives a go-mssqldb URL for sa and a database. With TLSStrict it lacks certificate=FILE, a file with Certificate.
func (s *Server) DSN(database string) string { return s.UserDSN("sa", s.password, database) }

// UserDSN gives a go-mssqldb URL for a login.
func (s *Server) UserDSN(user, password, database string) string {
	u := s.url(database)
	u.User = url.UserPassword(user, password)
	return u.String()
}

func (s *Server) url(database string) *url.URL {
	q := url.Values{"database": {database}, "encrypt": {"disable"}}
	switch s.tls {
	case TLSLogin, TLSOn:
		q.Set("encrypt", "true")
		q.Set("TrustServerCertificate", "true")
	case TLSStrict:
		q.Set("encrypt", "strict")
	}
	return &url.URL{Scheme: "sqlserver", Host: s.addr, RawQuery: q.Encode()}
}

// Close cuts all connections, ends the server and waits for it.
func (s *Server) Close() {
	s.stop()
	s.shut()
}

func (s *Server) shut() {
	s.close.Do(func() {
		s.tds.Close()
		s.endJobs()
		s.jobs.Wait()
	})
}

// RunJobs runs the capture and cleanup jobs that are due by the server's clock and gives the time at which the next
// one will be, the zero time when none will. Tests with a clock of their own call it after they moved the clock.
func (s *Server) RunJobs() time.Time { return s.cdc.RunJobs() }

// SetAgent starts or stops SQL Server Agent, without which no job runs. It is running from the start.
func (s *Server) SetAgent(state AgentState) { s.cdc.SetAgent(state) }

// DropConnections cuts every connection, as a failover does.
func (s *Server) DropConnections() { s.tds.DropAll() }

// Clock gives the server's clock.
func (s *Server) Clock() Clock { return s.cdc.Clock() }

// Database gives the database of a name; it is made when there is none.
func (s *Server) Database(name string) *Database {
	return &Database{model: s.cdc.Database(name), server: s, name: name}
}

// AddLogin makes a login that may connect and nothing else, until it is granted more.
func (s *Server) AddLogin(name, password string) *Login { return s.cdc.AddLogin(name, password, false) }

// Login gives a login by name, nil when there is none.
func (s *Server) Login(name string) *Login { return s.cdc.Login(strings.ToLower(name)) }
