package wire

import (
	"fmt"

	"github.com/pipectl/pipectl/core/plugin"
	pb "github.com/pipectl/pipectl/core/proto/pipectl/plugin/v1"
)

func sourceTableToProto(t plugin.SourceTable) (*pb.SourceTable, error) {
	object, err := valueToProto(t.Object)
	if err != nil {
		return nil, fmt.Errorf("the body of %s: %w", t.Address, err)
	}
	read, err := valueToProto(t.Read)
	if err != nil {
		return nil, fmt.Errorf("the read block of %s: %w", t.Address, err)
	}
	return &pb.SourceTable{
		Address: t.Address, Object: object, Read: read, Key: t.Key,
		Columns: each(t.Columns, func(r plugin.ColumnRule) *pb.SourceTable_ColumnRule {
			return &pb.SourceTable_ColumnRule{Name: r.Name, Drop: r.Drop, As: r.As}
		}),
	}, nil
}

func sourceTableFromProto(t *pb.SourceTable) (plugin.SourceTable, error) {
	object, err := valueFromProto(t.GetObject())
	if err != nil {
		return plugin.SourceTable{}, fmt.Errorf("the body of %s: %w", t.GetAddress(), err)
	}
	read, err := valueFromProto(t.GetRead())
	if err != nil {
		return plugin.SourceTable{}, fmt.Errorf("the read block of %s: %w", t.GetAddress(), err)
	}
	return plugin.SourceTable{
		Address: t.GetAddress(), Object: object, Read: read, Key: t.GetKey(),
		Columns: each(t.GetColumns(), func(r *pb.SourceTable_ColumnRule) plugin.ColumnRule {
			return plugin.ColumnRule{Name: r.Name, Drop: r.Drop, As: r.As}
		}),
	}, nil
}

func inspectToProto(r plugin.InspectResponse) *pb.InspectResponse {
	return &pb.InspectResponse{
		Identity: r.Identity, Alias: r.Alias, Display: r.Display, Newest: positionToProto(r.Newest),
		Tables: each(r.Tables, func(t plugin.TableInfo) *pb.InspectResponse_TableInfo {
			return &pb.InspectResponse_TableInfo{
				Address: t.Address, Object: t.Object, Identity: t.Identity, Schema: schemaToProto(t.Schema), Key: t.Key,
				Instances: t.Instances, Discontinued: t.Discontinued, DiscontinuedFrom: positionToProto(t.DiscontinuedFrom),
				RowsEstimate: t.RowsEstimate, Oldest: positionToProto(t.Oldest), Pending: t.Pending,
				Diagnostics: diagnosticsToProto(t.Diagnostics),
			}
		}),
	}
}

func inspectFromProto(r *pb.InspectResponse) (plugin.InspectResponse, error) {
	tables, err := tryEach(r.Tables, func(t *pb.InspectResponse_TableInfo) (plugin.TableInfo, error) {
		schema, err := schemaFromProto(t.Schema)
		if err != nil {
			return plugin.TableInfo{}, fmt.Errorf("the schema of %s: %w", t.Address, err)
		}
		return plugin.TableInfo{
			Address: t.Address, Object: t.Object, Identity: t.Identity, Schema: schema, Key: t.Key,
			Instances: t.Instances, Discontinued: t.Discontinued, DiscontinuedFrom: positionFromProto(t.DiscontinuedFrom),
			RowsEstimate: t.RowsEstimate, Oldest: positionFromProto(t.Oldest), Pending: t.Pending,
			Diagnostics: diagnosticsFromProto(t.Diagnostics),
		}, nil
	})
	return plugin.InspectResponse{Identity: r.Identity, Alias: r.Alias, Display: r.Display, Newest: positionFromProto(r.Newest), Tables: tables}, err
}

func chunkToProto(c plugin.Chunk) *pb.Chunk {
	return &pb.Chunk{Index: c.Index, Lo: c.Lo, Hi: c.Hi, Last: c.Last}
}

func chunkFromProto(c *pb.Chunk) plugin.Chunk {
	return plugin.Chunk{Index: c.Index, Lo: c.Lo, Hi: c.Hi, Last: c.Last}
}

func readToProto(session string, r plugin.ReadRequest) (*pb.ReadRequest, error) {
	table, err := sourceTableToProto(r.Table)
	if err != nil {
		return nil, err
	}
	out := &pb.ReadRequest{
		Session: session, Table: table, Stamp: positionToProto(r.Stamp), Keys: r.Keys, Isolation: r.Isolation,
		Columns: columnsToProto(r.Columns), LockTimeoutMs: r.LockTimeoutMillis,
	}
	switch {
	case (r.Range == nil) == (r.Chunk == nil):
		return nil, fmt.Errorf("a read of %s names a range or a chunk, and one of them", r.Table.Address)
	case r.Chunk != nil:
		out.What = &pb.ReadRequest_Chunk{Chunk: chunkToProto(*r.Chunk)}
	default:
		out.What = &pb.ReadRequest_Range{Range: r.Range}
	}
	return out, nil
}

func readFromProto(r *pb.ReadRequest) (plugin.ReadRequest, error) {
	table, err := sourceTableFromProto(r.Table)
	if err != nil {
		return plugin.ReadRequest{}, err
	}
	out := plugin.ReadRequest{
		Table: table, Stamp: positionFromProto(r.Stamp), Keys: r.Keys, Isolation: r.Isolation,
		Columns: columnsFromProto(r.Columns), LockTimeoutMillis: r.LockTimeoutMs,
	}
	switch w := r.What.(type) {
	case *pb.ReadRequest_Range:
		out.Range = w.Range
		if out.Range == nil {
			out.Range = plugin.Range{} // an empty range is a range
		}
	case *pb.ReadRequest_Chunk:
		c := chunkFromProto(w.Chunk)
		out.Chunk = &c
	default:
		return out, fmt.Errorf("a read of %s names neither a range nor a chunk", table.Address)
	}
	return out, nil
}

func snapshotToProto(i plugin.SnapshotInfo) *pb.OpenSnapshotResponse {
	return &pb.OpenSnapshotResponse{
		Stamp: positionToProto(i.Stamp), Keys: i.Keys, Extent: i.Extent, CaptureInstance: i.CaptureInstance, Schema: schemaToProto(i.Schema),
	}
}

func snapshotFromProto(i *pb.OpenSnapshotResponse) (plugin.SnapshotInfo, error) {
	schema, err := schemaFromProto(i.Schema)
	if err != nil {
		return plugin.SnapshotInfo{}, fmt.Errorf("the schema of a snapshot: %w", err)
	}
	return plugin.SnapshotInfo{
		Stamp: positionFromProto(i.Stamp), Keys: i.Keys, Extent: i.Extent, CaptureInstance: i.CaptureInstance, Schema: schema,
	}, nil
}

func aggregateToProto(session string, r plugin.AggregateRequest) (*pb.AggregateRequest, error) {
	table, err := sourceTableToProto(r.Table)
	if err != nil {
		return nil, err
	}
	kind, err := aggregates.number(r.Kind)
	if err != nil {
		return nil, err
	}
	return &pb.AggregateRequest{
		Session: session, Table: table, Kind: kind, Keys: r.Keys, Width: r.Width, Tiles: int64(r.Tiles), Lo: r.Lo, Hi: r.Hi, At: positionToProto(r.At),
	}, nil
}

func aggregateFromProto(r *pb.AggregateRequest) (plugin.AggregateRequest, error) {
	table, err := sourceTableFromProto(r.Table)
	if err != nil {
		return plugin.AggregateRequest{}, err
	}
	kind, err := aggregates.text(r.Kind)
	if err != nil {
		return plugin.AggregateRequest{}, err
	}
	return plugin.AggregateRequest{Table: table, Kind: kind, Keys: r.Keys, Width: r.Width, Tiles: int(r.Tiles), Lo: r.Lo, Hi: r.Hi, At: positionFromProto(r.At)}, nil
}
