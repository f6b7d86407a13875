package wire

import (
	"fmt"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	pb "github.com/pipectl/pipectl/core/proto/pipectl/plugin/v1"
)

// enum pairs the strings of core/plugin with the numbers of the protocol. The
// number 0 is UNSPECIFIED and never in a table.
type enum[S ~string, N ~int32] struct {
	name    string
	numbers map[S]N
	strings map[N]S
}

func newEnum[S ~string, N ~int32](name string, numbers map[S]N) enum[S, N] {
	e := enum[S, N]{name: name, numbers: numbers, strings: map[N]S{}}
	for s, n := range numbers {
		e.strings[n] = s
	}
	return e
}

func (e enum[S, N]) number(s S) (N, error) {
	n, ok := e.numbers[s]
	if !ok {
		return 0, fmt.Errorf("there is no %s %q", e.name, string(s))
	}
	return n, nil
}

func (e enum[S, N]) text(n N) (S, error) {
	s, ok := e.strings[n]
	if !ok {
		return "", fmt.Errorf("this version knows no %s of number %d", e.name, n)
	}
	return s, nil
}

// The tables are written once, when the program starts.
var (
	kinds = newEnum("kind", map[diag.Kind]pb.Diagnostic_Kind{
		diag.KindConfiguration: pb.Diagnostic_KIND_CONFIGURATION,
		diag.KindUnavailable:   pb.Diagnostic_KIND_UNAVAILABLE,
		diag.KindPermission:    pb.Diagnostic_KIND_PERMISSION,
		diag.KindNotReady:      pb.Diagnostic_KIND_NOT_READY,
		diag.KindTransient:     pb.Diagnostic_KIND_TRANSIENT,
		diag.KindConflict:      pb.Diagnostic_KIND_CONFLICT,
		diag.KindStale:         pb.Diagnostic_KIND_STALE,
		diag.KindDataLoss:      pb.Diagnostic_KIND_DATA_LOSS,
		diag.KindRewound:       pb.Diagnostic_KIND_REWOUND,
		diag.KindSchemaChanged: pb.Diagnostic_KIND_SCHEMA_CHANGED,
		diag.KindUnsupported:   pb.Diagnostic_KIND_UNSUPPORTED,
		diag.KindDifferent:     pb.Diagnostic_KIND_DIFFERENT,
		diag.KindInternal:      pb.Diagnostic_KIND_INTERNAL,
	})
	roles = newEnum("role", map[plugin.Role]pb.Role{
		plugin.RoleSource: pb.Role_ROLE_SOURCE,
		plugin.RoleSink:   pb.Role_ROLE_SINK,
		plugin.RoleSilver: pb.Role_ROLE_SILVER,
		plugin.RoleCheck:  pb.Role_ROLE_CHECK,
	})
	bodyKinds = newEnum("body", map[plugin.BodyKind]pb.BodyKind{
		plugin.BodyConnection: pb.BodyKind_BODY_KIND_CONNECTION,
		plugin.BodyObject:     pb.BodyKind_BODY_KIND_OBJECT,
		plugin.BodyRead:       pb.BodyKind_BODY_KIND_READ,
	})
	aggregates = newEnum("aggregate", map[plugin.AggregateKind]pb.AggregateRequest_Kind{
		plugin.AggregateBounds:  pb.AggregateRequest_KIND_BOUNDS,
		plugin.AggregateCount:   pb.AggregateRequest_KIND_COUNT,
		plugin.AggregateBuckets: pb.AggregateRequest_KIND_BUCKETS,
		plugin.AggregateTiles:   pb.AggregateRequest_KIND_TILES,
	})
	layouts = newEnum("layout", map[plugin.Layout]pb.TableSpec_Layout{
		plugin.LayoutAppend: pb.TableSpec_LAYOUT_APPEND,
		plugin.LayoutMerge:  pb.TableSpec_LAYOUT_MERGE,
		plugin.LayoutSmall:  pb.TableSpec_LAYOUT_SMALL,
	})
	tableActions = newEnum("table action", map[plugin.TableAction]pb.TableAction{
		plugin.TableNone:   pb.TableAction_TABLE_ACTION_NONE,
		plugin.TableCreate: pb.TableAction_TABLE_ACTION_CREATE,
		plugin.TableAlter:  pb.TableAction_TABLE_ACTION_ALTER,
	})
	operators = newEnum("operator", map[string]pb.Filter_Op{
		plugin.OpEQ:      pb.Filter_OP_EQ,
		plugin.OpNE:      pb.Filter_OP_NE,
		plugin.OpLT:      pb.Filter_OP_LT,
		plugin.OpLE:      pb.Filter_OP_LE,
		plugin.OpGT:      pb.Filter_OP_GT,
		plugin.OpGE:      pb.Filter_OP_GE,
		plugin.OpIn:      pb.Filter_OP_IN,
		plugin.OpIsNull:  pb.Filter_OP_IS_NULL,
		plugin.OpNotNull: pb.Filter_OP_NOT_NULL,
	})
	writeModes = newEnum("write mode", map[plugin.WriteMode]pb.BeginWriteRequest_Mode{
		plugin.WriteAppend:    pb.BeginWriteRequest_MODE_APPEND,
		plugin.WriteOverwrite: pb.BeginWriteRequest_MODE_OVERWRITE,
		plugin.WriteMerge:     pb.BeginWriteRequest_MODE_MERGE,
	})
	commitOutcomes = newEnum("outcome of a commit", map[plugin.CommitOutcome]pb.CommitResponse_Outcome{
		plugin.Committed: pb.CommitResponse_OUTCOME_COMMITTED,
		plugin.Already:   pb.CommitResponse_OUTCOME_ALREADY,
		plugin.Nothing:   pb.CommitResponse_OUTCOME_NOTHING,
	})
	checkOutcomes = newEnum("outcome of a check", map[plugin.Outcome]pb.RunCheckResponse_Outcome{
		plugin.Equal:     pb.RunCheckResponse_OUTCOME_EQUAL,
		plugin.Different: pb.RunCheckResponse_OUTCOME_DIFFERENT,
		plugin.Undecided: pb.RunCheckResponse_OUTCOME_UNDECIDED,
	})
)

// each converts a list.
func each[A, B any](list []A, convert func(A) B) []B {
	if list == nil {
		return nil
	}
	out := make([]B, len(list))
	for i, a := range list {
		out[i] = convert(a)
	}
	return out
}

// tryEach converts a list; the first error ends it.
func tryEach[A, B any](list []A, convert func(A) (B, error)) ([]B, error) {
	if list == nil {
		return nil, nil
	}
	out := make([]B, len(list))
	for i, a := range list {
		b, err := convert(a)
		if err != nil {
			return nil, err
		}
		out[i] = b
	}
	return out, nil
}
