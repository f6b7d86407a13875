package command

import (
	"context"

	"github.com/pipectl/pipectl/cmd/pipectl/internal/cli"
	"github.com/pipectl/pipectl/cmd/pipectl/internal/exit"
	"github.com/pipectl/pipectl/core/addr"
)

// graphCommand prints the run graph: an arrow leads from what comes first.
func graphCommand(ctx context.Context, e *Environment, args []string) (int, error) {
	a, err := cli.ParsePlain("graph", args)
	if err != nil {
		return 0, err
	}
	e.Streams.JSON = a.JSON
	w, err := open(ctx, e, a.Common, true)
	defer w.close()
	if err != nil {
		return w.fail(err), nil
	}
	var edges [][2]addr.Address
	for _, t := range w.config.Tables {
		edges = append(edges, [2]addr.Address{t.Source, t.Addr})
	}
	for _, s := range w.config.Streams {
		edges = append(edges, [2]addr.Address{s.Table, s.Addr})
	}
	for _, v := range w.config.Silvers {
		edges = append(edges, [2]addr.Address{v.From, v.Addr})
	}
	for _, c := range w.config.Checks {
		edges = append(edges, [2]addr.Address{c.Silver, c.Addr})
	}
	return exit.Done, e.Streams.Graph(edges)
}
