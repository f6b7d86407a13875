package view

// ReleasedLock is a lock that was released, and who had taken it.
type ReleasedLock struct {
	Name    string `json:"name"`
	Run     string `json:"run"`
	Process int    `json:"process"`
	Host    string `json:"host"`
}

// Released writes the locks that were released.
func (s *Streams) Released(locks []ReleasedLock) error {
	if s.JSON {
		return s.WriteJSON(struct {
			Released []ReleasedLock `json:"released"`
		}{locks})
	}
	for _, l := range locks {
		s.Printf("Released the lock of %s that run %s (process %d on %s) had taken.\n", printable(l.Name), printable(l.Run), l.Process, printable(l.Host))
	}
	return nil
}
