package command

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/google/uuid"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/cmd/pipectl/internal/bundled"
	"github.com/pipectl/pipectl/cmd/pipectl/internal/cli"
	"github.com/pipectl/pipectl/cmd/pipectl/internal/exit"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/host"
)

// table looks into any Delta table by its path, without a configuration.
func table(ctx context.Context, e *Environment, args []string) (int, error) {
	a, err := cli.ParseTable(args)
	if err != nil {
		return 0, err
	}
	e.Streams.JSON = a.JSON
	ctx, stop := e.interruptible(ctx)
	defer stop()
	h := host.New(host.Options{Logger: e.logger(false)})
	defer h.Stop()
	started, err := h.Start(ctx, []host.Spec{{Name: "delta", Source: bundled.Delta}})
	if err != nil {
		return 0, err
	}
	path, err := filepath.Abs(a.Path)
	if err != nil {
		return 0, diag.Errorf(diag.KindConfiguration, "table.path", "", "%s is no path: %v", a.Path, err).Err()
	}
	description, err := started["delta"].Describe(ctx)
	if err != nil {
		return 0, err
	}
	body := description.Components[0].Connection.EmptyValue().AsValueMap()
	body["root"] = cty.StringVal(filepath.Dir(path))
	tables, err := started["delta"].OpenTables(ctx, plugin.OpenRequest{
		Component: description.Components[0].Type, Address: a.Path, Config: cty.ObjectVal(body), RunID: uuid.NewString(),
	})
	if err != nil {
		return 0, err
	}
	defer tables.Close()
	ref := plugin.TableRef{Name: a.Path, Path: filepath.Base(path)}
	state, err := found(ctx, tables, ref, a.Version)
	if err != nil {
		return 0, err
	}
	switch a.Verb {
	case "rows":
		err = e.tableRows(ctx, tables, ref, a)
	case "describe":
		err = e.Streams.Table(state)
	default:
		err = e.tableHistory(ctx, tables, ref, a)
	}
	if err != nil {
		return 0, err
	}
	return exit.Done, nil
}

func (e *Environment) tableRows(ctx context.Context, tables plugin.Tables, ref plugin.TableRef, a cli.Table) error {
	frames, err := tables.Scan(ctx, plugin.ScanRequest{Table: ref, Version: a.Version, Ordered: true})
	if err != nil {
		return err
	}
	if err := printRows(frames, e.Streams.Rows(a.Max).Batch); !errors.Is(err, errEnough) {
		return err
	}
	return nil
}

// found looks a table up; one that is not there, or not at that version (-1 =
// any), is a wrong argument here.
func found(ctx context.Context, tables plugin.Tables, ref plugin.TableRef, version int64) (plugin.TableState, error) {
	states, err := tables.GetTables(ctx, plugin.GetTablesRequest{Tables: []plugin.TableRef{ref}})
	if err != nil {
		return plugin.TableState{}, err
	}
	switch state := states[0]; {
	case !state.Exists:
		return state, diag.Errorf(diag.KindConfiguration, "table.none", "Name the folder that has _delta_log in it.", "%s is no Delta table", ref.Name).Err()
	case version > state.Version:
		return state, diag.Errorf(diag.KindConfiguration, "table.version", "`pipectl table history "+ref.Name+"` lists the versions.",
			"%s has no version %d yet: the newest is %d", ref.Name, version, state.Version).Err()
	default:
		return state, nil
	}
}

func (e *Environment) tableHistory(ctx context.Context, tables plugin.Tables, ref plugin.TableRef, a cli.Table) error {
	commits, err := tables.History(ctx, plugin.HistoryRequest{Table: ref, After: -1, Limit: int(a.Max)})
	if err != nil {
		return err
	}
	return e.Streams.History(commits)
}
