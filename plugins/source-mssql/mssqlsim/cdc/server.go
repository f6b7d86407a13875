package cdc

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// Version is a product version of SQL Server.
type Version string

// The versions the simulator can say it is.
const (
	V2016 Version = "2016"
	V2017 Version = "2017"
	V2019 Version = "2019"
	V2022 Version = "2022"
	Azure Version = "azure"
)

// Config says what server this is.
type Config struct {
	Name    string // @@SERVERNAME
	Version Version
	// Zone is the Windows name of the time zone the server's clock shows; empty is UTC.
	Zone  string
	Clock Clock // nil is the machine's
	// Polls makes capture jobs scan the log at their polling interval, when RunJobs or ServeJobs is called; otherwise a
	// capture job that runs continuously scans right behind each commit.
	Polls bool
	// Idles makes capture write an entry when nothing was committed for five minutes, also without Polls: the next
	// statement finds it.
	Idles bool
	// Memory is how many bytes of rows one session may hold in sorts, groups, joins, changes and open cursors; 0 is
	// tsql.DefaultMemory.
	Memory int64
}

// Server is an instance: databases and logins.
type Server struct {
	Name     string
	Version  Version
	Zone     string
	clock    Clock
	location *time.Location
	polls    bool
	idles    bool
	memory   int64
	wake     chan struct{} // a job may be due
	agent    atomic.Int32  // AgentState
	// textRepl is the option max text repl size as it was set, and as it is in use
	textRepl, textReplUsed atomic.Int64
	jobTable               atomic.Bool // msdb.dbo.cdc_jobs was made, with the first job
	// temporaries counts the temporary tables that were made
	temporaries atomic.Uint64
	temporaryID atomic.Int32 // of the newest temporary table
	// moves counts changes of rows, so that who read them can tell that they have changed
	moves atomic.Uint64
	// transactions counts those that were begun
	transactions atomic.Int64

	waiting waitGraph

	mu       sync.RWMutex
	dbs      map[string]*Database
	nextID   int16 // of a database; 2 to 4 are tempdb, model and msdb
	logins   map[string]*Login
	sessions map[*Login]int // of each login
	// connected are the sessions of connections
	connected map[*Session]*connected
	left      chan struct{} // closed whenever a session leaves a database
	backups   map[string][]*Database
}

// NewServer gives a server with its system databases.
func NewServer(c Config) (*Server, error) {
	s := &Server{Name: c.Name, Version: c.Version, Zone: c.Zone, clock: c.Clock, polls: c.Polls, idles: c.Idles, memory: c.Memory, wake: make(chan struct{}, 1), dbs: map[string]*Database{}, logins: map[string]*Login{}, left: make(chan struct{})}
	s.agent.Store(int32(AgentRunning))
	for _, option := range []*atomic.Int64{&s.textRepl, &s.textReplUsed} {
		option.Store(textReplDefault)
	}
	if s.Name == "" {
		s.Name = "MSSQLSIM"
	}
	if s.Version == "" {
		s.Version = V2022
	}
	switch s.Version {
	case V2016, V2017, V2019, V2022, Azure:
	default:
		return nil, fmt.Errorf("the version %q is not one of 2016, 2017, 2019, 2022, azure", s.Version)
	}
	if s.Zone == "" {
		s.Zone = "UTC"
	}
	var err error
	if s.location, err = tsql.Zone(s.Zone); err != nil {
		return nil, fmt.Errorf("the server's time zone %q: %w", s.Zone, err)
	}
	if s.clock == nil {
		s.clock = SystemClock{}
	}
	simple := "SIMPLE" // Microsoft: Back up and restore of system databases
	for _, name := range []string{"master", tempdb, msdb} {
		s.Database(name).recovery.Store(&simple)
	}
	for _, name := range []string{tempdb, model} { // Microsoft: tempdb database; model database
		s.Database(name).AllowSnapshot(false)
	}
	return s, nil
}

// Clock gives the server's clock.
func (s *Server) Clock() Clock { return s.clock }

// local gives ticks of the server's local clock at an instant.
func (s *Server) local(t time.Time) int64 {
	_, off := t.In(s.location).Zone()
	return sqltype.TicksOf(t) + int64(off)*sqltype.TicksPerSecond
}

// Database gives the database of a name and makes it when there is none.
func (s *Server) Database(name string) *Database {
	s.mu.Lock()
	defer s.mu.Unlock()
	db := s.dbs[strings.ToLower(name)]
	if db == nil {
		db = s.add(name)
	}
	return db
}

// add makes a database of a name that is free, with s.mu held.
func (s *Server) add(name string) *Database {
	id, system := map[string]int16{"master": 1, tempdb: 2, model: 3, msdb: 4}[name]
	if !system {
		id = max(s.nextID, 5)
		s.nextID = id + 1
	}
	db := newDatabase(s, name, id)
	s.dbs[strings.ToLower(name)] = db
	return db
}

// Find gives the database of a name, nil when there is none.
func (s *Server) Find(name string) *Database {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.dbs[strings.ToLower(name)]
}

func (s *Server) databases() (out []*Database) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, db := range s.dbs {
		out = append(out, db)
	}
	return out
}

// level is the compatibility level of databases.
func (s *Server) level() int64 {
	return map[Version]int64{V2016: 130, V2017: 140, V2019: 150, V2022: 160, Azure: 160}[s.Version]
}

// inOrder lists the databases by their ids.
func (s *Server) inOrder() []*Database {
	all := s.databases()
	slices.SortFunc(all, func(a, b *Database) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

func newGUID() (g [16]byte) {
	_, _ = rand.Read(g[:]) // never fails (crypto/rand)
	g[6], g[8] = g[6]&0x0F|0x40, g[8]&0x3F|0x80
	return g
}
