package delta

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
	"github.com/pipectl/pipectl/plugins/sink-delta/deltatable"
)

// Scan streams rows of a pinned version.
func (s *session) Scan(ctx context.Context, req plugin.ScanRequest) (plugin.FrameReader, error) {
	snap, err := s.existing(ctx, req.Table, req.Version)
	if err != nil {
		return nil, err
	}
	filter, err := predicate(req.Filter)
	if err != nil {
		return nil, err
	}
	schema, err := projected(snap, req.Columns)
	if err != nil {
		return nil, s.failed(ctx, req.Table, "reading", err)
	}
	return rows.Produce(ctx, schema, func(ctx context.Context, w *rows.Writer) error {
		scan, err := snap.Scan(ctx, deltatable.ScanSpec{Columns: req.Columns, Filter: filter, Ordered: req.Ordered})
		if err != nil {
			return s.failed(ctx, req.Table, "reading", err)
		}
		defer scan.Close()
		for {
			batch, err := scan.Next(ctx)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return s.failed(ctx, req.Table, "reading", err)
			}
			err = w.Write(batch)
			batch.Release()
			if err != nil {
				return err
			}
		}
	}), nil
}

// projected is the shape of the batches of a scan.
func projected(snap *deltatable.Snapshot, columns []string) (*arrow.Schema, error) {
	if columns == nil {
		return snap.Schema(), nil
	}
	fields := make([]arrow.Field, 0, len(columns))
	for _, name := range columns {
		at := slices.IndexFunc(snap.Schema().Fields(), func(f arrow.Field) bool { return strings.EqualFold(f.Name, name) })
		if at < 0 {
			return nil, &deltatable.SchemaError{Detail: fmt.Sprintf("there is no column %q", name)}
		}
		fields = append(fields, snap.Schema().Field(at))
	}
	return arrow.NewSchema(fields, nil), nil
}

var operators = map[string]deltalog.Op{
	plugin.OpEQ: deltalog.OpEq, plugin.OpNE: deltalog.OpNe, plugin.OpLT: deltalog.OpLt, plugin.OpLE: deltalog.OpLe,
	plugin.OpGT: deltalog.OpGt, plugin.OpGE: deltalog.OpGe, plugin.OpIn: deltalog.OpIn,
	plugin.OpIsNull: deltalog.OpIsNull, plugin.OpNotNull: deltalog.OpIsNotNull,
}

// predicate turns a filter into one that prunes files and row groups.
func predicate(f plugin.Filter) (deltalog.Predicate, error) {
	var p deltalog.Predicate
	for _, clause := range f.Any {
		var all deltalog.Clause
		for _, term := range clause.All {
			op, ok := operators[term.Op]
			if !ok {
				return nil, fmt.Errorf("a filter on %s has the unknown operator %q", term.Column, term.Op)
			}
			c := deltalog.Comparison{Column: term.Column, Op: op}
			for _, l := range term.Literals {
				v, err := value(l)
				if err != nil {
					return nil, fmt.Errorf("a filter on %s: %w", term.Column, err)
				}
				c.Values = append(c.Values, v)
			}
			all = append(all, c)
		}
		p = append(p, all)
	}
	return p, nil
}

func value(l plugin.Literal) (deltalog.Value, error) {
	switch l.Type {
	case plugin.LiteralBool:
		return deltalog.BoolValue(l.Bool), nil
	case plugin.LiteralInt:
		return deltalog.IntValue(l.Int), nil
	case plugin.LiteralFloat:
		return deltalog.FloatValue(l.Float), nil
	case plugin.LiteralString:
		return deltalog.StringValue(l.Text), nil
	case plugin.LiteralBinary:
		return deltalog.BinaryValue(l.Bytes), nil
	case plugin.LiteralDate:
		return deltalog.DateValue(int32(l.Int)), nil
	case plugin.LiteralTimestamp, plugin.LiteralTimestampNTZ:
		return deltalog.TimestampValue(l.Int), nil
	case plugin.LiteralDecimal:
		return decimalValue(l.Text)
	}
	return deltalog.Value{}, fmt.Errorf("a literal has the unknown type %q", l.Type)
}

func decimalValue(text string) (deltalog.Value, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	n, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok {
		return deltalog.Value{}, fmt.Errorf("%q is no decimal", text)
	}
	return deltalog.DecimalValue(n, int32(len(fraction))), nil
}
