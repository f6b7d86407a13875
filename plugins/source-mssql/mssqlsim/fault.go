package mssqlsim

import (
	"errors"
	"regexp"
	"strings"
	"sync"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tds"
)

// Fault is something the server does wrong on purpose.
type Fault struct {
	// Match picks the statements it happens to: text they hold (without regard to case), or a regular expression when it
	// begins and ends with a slash. Empty is every statement.
	Match string
	// Login makes it happen to logins in place of statements; Match picks them by "user@database", the database as the client
	// named it. Only an error and DropBefore are there then.
	Login bool
	// Skip lets the first matching statements pass; Times is how many then fail, 0 for all.
	Skip  int
	Times int
	// Wrong is what happens.
	Wrong tds.Fault
}

// InjectedFault is a fault at work.
type InjectedFault struct {
	Fault
	re   *regexp.Regexp
	mu   *sync.Mutex
	seen int
	hits int
	off  bool
}

// Hits tells how often the fault has struck.
func (f *InjectedFault) Hits() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hits
}

// Remove ends the fault.
func (f *InjectedFault) Remove() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.off = true
}

// ErrorFault answers a matching statement with an error after a number of rows; with 0 rows it is not run.
func ErrorFault(match string, times int, number int32, message string, rows uint64) Fault {
	class := byte(16)
	switch number {
	case 1205:
		class = 13
	case 18456, 229:
		class = 14
	}
	return Fault{Match: match, Times: times, Wrong: tds.Fault{Error: &tds.Error{Number: number, State: 1, Class: class, Msg: message, Line: 1}, Rows: rows}}
}

// LoginFault refuses logins with an error: 18456 is a failed login, 40613 a database of Azure SQL Database that is not
// available for now, 976 one of an availability group that cannot be read.
func LoginFault(match string, times int, number int32, message string) Fault {
	f := ErrorFault(match, times, number, message, 0)
	f.Login = true
	return f
}

// DropFault cuts the connection of a matching statement; rows counts only with tds.DropRows.
func DropFault(match string, times int, point tds.DropPoint, rows uint64) Fault {
	return Fault{Match: match, Times: times, Wrong: tds.Fault{Drop: point, Rows: rows}}
}

type faults struct {
	mu   sync.Mutex
	list []*InjectedFault
}

// Inject puts a fault to work. It fails when Match is a regular expression that does not compile, and when the fault is
// none of a login.
func (s *Server) Inject(f Fault) (*InjectedFault, error) {
	if w := f.Wrong; f.Login && (w.Delay > 0 || w.Rows > 0 || w.IgnoreAttention || w.Drop != tds.DropNever && w.Drop != tds.DropBefore) {
		return nil, errors.New("a fault of a login is an error or DropBefore")
	}
	x := &InjectedFault{Fault: f, mu: &s.faults.mu}
	if n := len(f.Match); n > 1 && f.Match[0] == '/' && f.Match[n-1] == '/' {
		re, err := regexp.Compile("(?is)" + f.Match[1:n-1])
		if err != nil {
			return nil, err
		}
		x.re = re
	}
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.list = append(s.faults.list, x)
	return x, nil
}

// next gives what to do wrong with a request. The first fault that matches and is not used up strikes.
func (fs *faults) next(_ *tds.Session, req tds.Request) *tds.Fault {
	text := req.SQL
	if req.Proc != "" {
		text = "EXEC " + req.Proc
	}
	if req.Tran != nil {
		text = map[tds.TranKind]string{tds.TranBegin: "BEGIN TRANSACTION", tds.TranCommit: "COMMIT TRANSACTION", tds.TranRollback: "ROLLBACK TRANSACTION", tds.TranSave: "SAVE TRANSACTION"}[req.Tran.Kind]
	}
	return fs.strike(text, false)
}

// login gives the error that a login gets, nil when none strikes.
func (fs *faults) login(l tds.Login) error {
	f := fs.strike(l.User+"@"+l.Database, true)
	switch {
	case f == nil:
		return nil
	case f.Drop == tds.DropBefore || f.Error == nil:
		return tds.ErrDrop
	}
	return f.Error
}

func (fs *faults) strike(text string, login bool) *tds.Fault {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, f := range fs.list {
		if f.Login != login || f.off || f.Times > 0 && f.hits >= f.Times {
			continue
		}
		if f.re != nil && !f.re.MatchString(text) || f.re == nil && !strings.Contains(strings.ToLower(text), strings.ToLower(f.Match)) {
			continue
		}
		f.seen++
		if f.seen <= f.Skip {
			continue
		}
		f.hits++
		w := f.Wrong
		return &w
	}
	return nil
}
