package cdc

import "sort"

// connected is what others see of a session. It is guarded by the server's lock.
type connected struct {
	spid     int16
	login    string
	database string
}

// Connected gives the session the number of its connection, under which others see it.
func (s *Session) Connected(spid int16) {
	s.SPID = spid
	s.srv.mu.Lock()
	defer s.srv.mu.Unlock()
	if s.srv.connected == nil {
		s.srv.connected = map[*Session]*connected{}
	}
	s.srv.connected[s] = &connected{spid: spid, login: s.login.Name(), database: s.db.Name}
}

// moved tells the others where the session is now; "" is nowhere any more. The server's lock is held.
func (s *Session) moved(database string) {
	switch c := s.srv.connected[s]; {
	case c == nil:
	case database == "":
		delete(s.srv.connected, s)
	default:
		c.database = database
	}
}

// sessions lists the sessions one may see.
func (s *Session) sessions() (out []connected) {
	all := s.serverCan("VIEW SERVER STATE")
	s.srv.mu.RLock()
	defer s.srv.mu.RUnlock()
	for x, c := range s.srv.connected {
		if all || x == s {
			out = append(out, *c)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].spid < out[j].spid })
	return out
}
