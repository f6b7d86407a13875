package view

import (
	"fmt"
	"time"

	"github.com/pipectl/pipectl/core/diag"
)

// FinalRow is whether a period is complete in one table.
type FinalRow struct {
	Address, Table string
	// Verdict is in microseconds UTC, nil when there is none.
	Verdict *int64
	Final   bool
	Reason  string
	// Version is the version to read, -1 when it was not asked for.
	Version int64
	// Stopped is why no run of this configuration goes on in a table that is final,
	// such as that another one writes it; the zero value when one may.
	Stopped diag.Diagnostic
	// Foreign is the newest version in which another program changed rows, of a
	// table that is final; nil when none did.
	Foreign *int64
	// ForeignUnknown is why newer versions than Foreign could not be looked at, ""
	// when they were.
	ForeignUnknown string
}

// Final writes the rows.
func (s *Streams) Final(rows []FinalRow, until time.Time) error {
	if s.JSON {
		type row struct {
			Address string  `json:"address"`
			Table   string  `json:"table"`
			Final   bool    `json:"final"`
			Verdict *string `json:"finalized_until"`
			Reason  *string `json:"reason"`
			Version *int64  `json:"version,omitempty"`
			Foreign *int64  `json:"foreign_version,omitempty"`
			Unknown string  `json:"foreign_unknown,omitempty"`
			Stopped string  `json:"stopped,omitempty"`
		}
		out := struct {
			Until  string `json:"until"`
			Tables []row  `json:"tables"`
		}{until.Format(jsonTime), []row{}}
		for _, r := range rows {
			j := row{r.Address, r.Table, r.Final, microsText(r.Verdict), filledText(r.Reason), nil, r.Foreign, r.ForeignUnknown, r.Stopped.Summary}
			if r.Version >= 0 {
				j.Version = &r.Version
			}
			out.Tables = append(out.Tables, j)
		}
		return s.WriteJSON(out)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var cells [][]string
	for _, r := range rows {
		word, why := "final", ""
		if !r.Final {
			word, why = "not final", r.Reason
		}
		cell := []string{r.Table, word, verdictText(r.Verdict)}
		if r.Version >= 0 {
			cell = append(cell, fmt.Sprintf("version %d", r.Version))
		}
		cells = append(cells, append(cell, why))
	}
	columns(s.answer(), "", cells)
	return nil
}
