package view

// ReleasedLock is a lock that was released, and who had taken it.
type ReleasedLock struct {
	Name    string `json:"name"`
	Run     string `json:"run"`
	Process int    `json:"process"`
	Host    string `json:"host"`
	// Unreadable tells that nobody can say who had taken it.
	Unreadable bool `json:"unreadable,omitempty"`
}

// Released writes the locks that were released.
func (s *Streams) Released(locks []ReleasedLock) error {
	if s.JSON {
		return s.WriteJSON(struct {
			Released []ReleasedLock `json:"released"`
		}{locks})
	}
	for _, l := range locks {
		if l.Unreadable {
			s.Printf("Released the lock of %s, which could not be read.\n", printable(l.Name))
			continue
		}
		s.Printf("Released the lock of %s that run %s (process %d on %s) had taken.\n", printable(l.Name), printable(l.Run), l.Process, printable(l.Host))
	}
	return nil
}
