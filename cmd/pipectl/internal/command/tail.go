package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/cmd/pipectl/internal/cli"
	"github.com/pipectl/pipectl/cmd/pipectl/internal/exit"
	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
)

// errEnough ends a stream of rows when -max is reached.
var errEnough = errors.New("enough rows")

// tail prints change rows straight from the source; the lake is not touched.
func tail(ctx context.Context, e *Environment, args []string) (int, error) {
	a, err := cli.ParseTail(args)
	if err != nil {
		return 0, err
	}
	e.Streams.JSON = a.JSON
	w, err := open(ctx, e, a.Common, false)
	defer w.close()
	if err != nil {
		return w.fail(err), nil
	}
	ctx, stop := e.interruptible(ctx)
	defer stop()
	address, err := w.resolveOne(a.Name)
	if err != nil {
		return w.fail(err), nil
	}
	s := w.config.Stream(address)
	if s == nil {
		return w.fail(diag.Errorf(diag.KindConfiguration, "tail.no_stream", "Name a stream or its table.", "%s is no stream", a.Name).Err()), nil
	}
	if err := w.tail(ctx, address, a); err != nil && !errors.Is(err, errEnough) {
		if e.Streams.Unwritten() != nil {
			return 0, err // no fault of the source
		}
		return w.fail(w.config.Locate(address, readable(diag.FromError(err))).Err()), nil
	}
	return exit.Done, nil
}

// readable gives the remedy of one who looks: nothing was lost by a position that
// is not there, and no table is to be loaded anew.
func readable(list diag.List) diag.List {
	for i := range list {
		if k := list[i].Kind; k == diag.KindDataLoss || k == diag.KindRewound {
			list[i].Detail = "What tail reads are the changes that the source still has. Begin with -from earliest, or behind a later position."
		}
	}
	return list
}

func (w *workspace) tail(ctx context.Context, a addr.Address, args cli.Tail) error {
	s := w.config.Stream(a)
	t := w.config.Table(s.Table)
	patient := w.patient()
	defer patient.End()
	source, err := patient.Source(ctx, t.Source)
	if err != nil {
		return err
	}
	table := planner.SourceTable(t, s)
	start, err := source.Start(ctx, plugin.StartRequest{Table: table, From: args.From})
	if err != nil {
		return err
	}
	latest, err := source.Latest(ctx, plugin.LatestRequest{Table: table, After: start})
	if err != nil {
		return err
	}
	if latest.End.Text == start.Text {
		return nil
	}
	batch, err := source.PlanBatch(ctx, plugin.PlanBatchRequest{Table: table, Start: start, End: latest.End})
	if err != nil {
		return err
	}
	out := w.env.Streams.Rows(args.Max)
	for _, r := range batch.Ranges {
		frames, err := source.Read(ctx, plugin.ReadRequest{Table: table, Range: r})
		if err != nil {
			return err
		}
		if err := printRows(frames, out.Batch); err != nil {
			return err
		}
	}
	return nil
}

// printRows hands each batch to use; a false ends the stream.
func printRows(frames plugin.FrameReader, use func(arrow.RecordBatch) (bool, error)) error {
	reader, err := rows.NewReader(frames, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	_, err = reader.ForEach(func(b arrow.RecordBatch) error {
		more, err := use(b)
		if err == nil && !more {
			err = errEnough
		}
		return err
	})
	if err != nil && !errors.Is(err, errEnough) {
		return fmt.Errorf("reading rows: %w", err)
	}
	return err
}
