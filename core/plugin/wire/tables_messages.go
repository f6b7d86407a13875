package wire

import (
	"fmt"

	"github.com/pipectl/pipectl/core/plugin"
	pb "github.com/pipectl/pipectl/core/proto/pipectl/plugin/v1"
)

func tableToProto(t plugin.TableRef) *pb.Table { return &pb.Table{Name: t.Name, Path: t.Path} }

func tableFromProto(t *pb.Table) plugin.TableRef {
	return plugin.TableRef{Name: t.GetName(), Path: t.GetPath()}
}

func stateToProto(s plugin.TableState) *pb.GetTablesResponse_State {
	return &pb.GetTablesResponse_State{
		Table: tableToProto(s.Table), Exists: s.Exists, Id: s.ID, Version: s.Version, Schema: schemaToProto(s.Schema),
		Description: s.Description, Properties: s.Properties, Txns: s.Txns, Rows: s.Rows, Bytes: s.Bytes, Features: s.Features, Writable: s.Writable,
		TxnsExpire: s.TxnsExpire,
	}
}

func stateFromProto(s *pb.GetTablesResponse_State) (plugin.TableState, error) {
	schema, err := schemaFromProto(s.Schema)
	if err != nil {
		return plugin.TableState{}, fmt.Errorf("the schema of table %q: %w", s.Table.GetName(), err)
	}
	return plugin.TableState{
		Table: tableFromProto(s.Table), Exists: s.Exists, ID: s.Id, Version: s.Version, Schema: schema,
		Description: s.Description, Properties: s.Properties, Txns: s.Txns, Rows: s.Rows, Bytes: s.Bytes, Features: s.Features, Writable: s.Writable,
		TxnsExpire: s.TxnsExpire,
	}, nil
}

func specToProto(s plugin.TableSpec) (*pb.TableSpec, error) {
	out := &pb.TableSpec{
		Table: tableToProto(s.Table), Schema: schemaToProto(s.Schema), Description: s.Description, Properties: s.Properties, Converge: s.Converge,
	}
	if s.Layout == "" {
		return out, nil
	}
	var err error
	out.Layout, err = layouts.number(s.Layout)
	return out, err
}

func specFromProto(s *pb.TableSpec) (plugin.TableSpec, error) {
	schema, err := schemaFromProto(s.GetSchema())
	if err != nil {
		return plugin.TableSpec{}, fmt.Errorf("the schema of table %q: %w", s.GetTable().GetName(), err)
	}
	return plugin.TableSpec{
		Table: tableFromProto(s.GetTable()), Schema: schema, Description: s.GetDescription(), Properties: s.GetProperties(),
		Converge: s.GetConverge(), Layout: layouts.strings[s.GetLayout()], // a layout is advice: an unknown one is none
	}, nil
}

func filterToProto(f plugin.Filter) (*pb.Filter, error) {
	clauses, err := tryEach(f.Any, func(c plugin.Clause) (*pb.Filter_Clause, error) {
		terms, err := tryEach(c.All, func(t plugin.Term) (*pb.Filter_Term, error) {
			op, err := operators.number(t.Op)
			if err != nil {
				return nil, fmt.Errorf("a filter on column %q: %w", t.Column, err)
			}
			literals, err := tryEach(t.Literals, literalToProto)
			return &pb.Filter_Term{Column: t.Column, Op: op, Literals: literals}, err
		})
		return &pb.Filter_Clause{All: terms}, err
	})
	return &pb.Filter{Any: clauses}, err
}

func filterFromProto(f *pb.Filter) (plugin.Filter, error) {
	clauses, err := tryEach(f.GetAny(), func(c *pb.Filter_Clause) (plugin.Clause, error) {
		terms, err := tryEach(c.All, func(t *pb.Filter_Term) (plugin.Term, error) {
			op, err := operators.text(t.Op)
			if err != nil {
				return plugin.Term{}, fmt.Errorf("a filter on column %q: %w", t.Column, err)
			}
			literals, err := tryEach(t.Literals, literalFromProto)
			return plugin.Term{Column: t.Column, Op: op, Literals: literals}, err
		})
		return plugin.Clause{All: terms}, err
	})
	return plugin.Filter{Any: clauses}, err
}

func commitToProto(c plugin.Commit) *pb.HistoryResponse_Commit {
	return &pb.HistoryResponse_Commit{
		Version: c.Version, CommitUs: c.Micros, UserMetadata: c.UserMetadata, Operation: c.Operation, DataChange: c.DataChange, RowsAdded: c.RowsAdded,
	}
}

func commitFromProto(c *pb.HistoryResponse_Commit) plugin.Commit {
	return plugin.Commit{
		Version: c.Version, Micros: c.CommitUs, UserMetadata: c.UserMetadata, Operation: c.Operation, DataChange: c.DataChange, RowsAdded: c.RowsAdded,
	}
}

func beginWriteToProto(session string, r plugin.BeginWriteRequest) (*pb.BeginWriteRequest, error) {
	mode, err := writeModes.number(r.Mode)
	if err != nil {
		return nil, err
	}
	out := &pb.BeginWriteRequest{
		Session: session, Table: tableToProto(r.Table), Mode: mode, Schema: schemaToProto(r.Schema), MergeSchema: r.MergeSchema, RequireId: r.RequireID,
		Txns: each(r.Txns, func(t plugin.Txn) *pb.Txn { return &pb.Txn{AppId: t.AppID, Version: t.Version} }),
	}
	if r.BaseVersion >= 0 {
		out.BaseVersion = &r.BaseVersion
	}
	if m := r.Merge; m != nil {
		out.Merge = &pb.Merge{Keys: m.Keys, Guard: m.Guard, Action: m.Action, UpdateColumns: columnsToProto(m.UpdateColumns), DeleteAbsent: m.DeleteAbsent}
	}
	return out, nil
}

func beginWriteFromProto(r *pb.BeginWriteRequest) (plugin.BeginWriteRequest, error) {
	mode, err := writeModes.text(r.Mode)
	if err != nil {
		return plugin.BeginWriteRequest{}, err
	}
	schema, err := schemaFromProto(r.Schema)
	if err != nil {
		return plugin.BeginWriteRequest{}, fmt.Errorf("the schema of rows for table %q: %w", r.Table.GetName(), err)
	}
	out := plugin.BeginWriteRequest{
		Table: tableFromProto(r.Table), Mode: mode, Schema: schema, MergeSchema: r.MergeSchema, RequireID: r.RequireId, BaseVersion: -1,
		Txns: each(r.Txns, func(t *pb.Txn) plugin.Txn { return plugin.Txn{AppID: t.AppId, Version: t.Version} }),
	}
	if r.BaseVersion != nil {
		out.BaseVersion = *r.BaseVersion
	}
	if m := r.Merge; m != nil {
		out.Merge = &plugin.Merge{Keys: m.Keys, Guard: m.Guard, Action: m.Action, UpdateColumns: columnsFromProto(m.UpdateColumns), DeleteAbsent: m.DeleteAbsent}
	}
	return out, nil
}

func openPartToProto(session string, r plugin.WritePartRequest) (*pb.WritePartRequest, error) {
	constants, err := tryEach(r.Constants, func(c plugin.Constant) (*pb.WritePartRequest_Open_Constant, error) {
		out := &pb.WritePartRequest_Open_Constant{Name: c.Name, Type: typeToProto(c.Type)}
		if c.Value == nil {
			return out, nil
		}
		var err error
		out.Value, err = literalToProto(*c.Value)
		return out, err
	})
	if err != nil {
		return nil, fmt.Errorf("the constants of part %d: %w", r.Part, err)
	}
	return &pb.WritePartRequest{Step: &pb.WritePartRequest_Open_{Open: &pb.WritePartRequest_Open{
		Session: session, WriteId: r.WriteID, Part: int64(r.Part), Attempt: int64(r.Attempt), Constants: constants,
	}}}, nil
}

func openPartFromProto(o *pb.WritePartRequest_Open) (plugin.WritePartRequest, error) {
	constants, err := tryEach(o.Constants, func(c *pb.WritePartRequest_Open_Constant) (plugin.Constant, error) {
		t, err := typeFromProto(c.Type)
		if err != nil {
			return plugin.Constant{}, fmt.Errorf("the type of constant %q: %w", c.Name, err)
		}
		out := plugin.Constant{Name: c.Name, Type: t}
		if c.Value == nil {
			return out, nil
		}
		value, err := literalFromProto(c.Value)
		out.Value = &value
		return out, err
	})
	return plugin.WritePartRequest{WriteID: o.WriteId, Part: int(o.Part), Attempt: int(o.Attempt), Constants: constants}, err
}

func commitResultToProto(r plugin.CommitResult) (*pb.CommitResponse, error) {
	outcome, err := commitOutcomes.number(r.Outcome)
	return &pb.CommitResponse{Outcome: outcome, Version: r.Version, Inserted: r.Inserted, Updated: r.Updated, Deleted: r.Deleted}, err
}

func commitResultFromProto(r *pb.CommitResponse) (plugin.CommitResult, error) {
	outcome, err := commitOutcomes.text(r.Outcome)
	return plugin.CommitResult{Outcome: outcome, Version: r.Version, Inserted: r.Inserted, Updated: r.Updated, Deleted: r.Deleted}, err
}
