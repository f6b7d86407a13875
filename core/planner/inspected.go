package planner

import (
	"context"
	"slices"

	"github.com/pipectl/pipectl/core/plugin"
)

// inspected is a source that answers Inspect from what this plan has asked it
// already, so that a check which wants to know its table costs no round trip
// of its own. Every other call goes to the source.
type inspected struct {
	plugin.Source
	response plugin.InspectResponse
}

// Inspect asks the source itself about tables that the plan has not looked at,
// and when pending commits are to be counted.
func (s inspected) Inspect(ctx context.Context, req plugin.InspectRequest) (plugin.InspectResponse, error) {
	out := s.response
	out.Tables = nil
	for _, t := range req.Tables {
		i := slices.IndexFunc(s.response.Tables, func(info plugin.TableInfo) bool { return info.Address == t.Address })
		if i < 0 || len(req.Since) > 0 {
			return s.Source.Inspect(ctx, req)
		}
		out.Tables = append(out.Tables, s.response.Tables[i])
	}
	return out, nil
}
