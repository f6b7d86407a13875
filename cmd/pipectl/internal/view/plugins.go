package view

// PluginRow is one declared plugin and how far its file is pinned.
type PluginRow struct {
	Name, Source string
	// State is bundled, locked, not locked, or differs from the lock.
	State string
	// SHA256 of the file, "" for bundled plugins.
	SHA256 string
}

// Plugins lists plugins.
func (s *Streams) Plugins(list []PluginRow) error {
	if s.JSON {
		type row struct {
			Name   string `json:"name"`
			Source string `json:"source"`
			State  string `json:"state"`
			SHA256 string `json:"sha256,omitempty"`
		}
		out := struct {
			Plugins []row `json:"plugins"`
		}{[]row{}}
		for _, p := range list {
			out.Plugins = append(out.Plugins, row(p))
		}
		return s.WriteJSON(out)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var cells [][]string
	for _, p := range list {
		cell := []string{p.Name, p.Source, p.State}
		if p.SHA256 != "" {
			cell = append(cell, "sha256 "+p.SHA256)
		}
		cells = append(cells, cell)
	}
	columns(s.answer(), "", cells)
	return nil
}
