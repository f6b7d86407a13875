package wire

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zclconf/go-cty/cty"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"pgregory.net/rapid"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	pb "github.com/pipectl/pipectl/core/proto/pipectl/plugin/v1"
	"github.com/pipectl/pipectl/core/schema"
)

// Every number of every enum of the protocol has its string, and back.
func TestEnumsAreWhole(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		known int
		enum  protoreflect.EnumDescriptor
	}{
		"kinds":          {len(kinds.strings), pb.Diagnostic_Kind(0).Descriptor()},
		"roles":          {len(roles.strings), pb.Role(0).Descriptor()},
		"bodies":         {len(bodyKinds.strings), pb.BodyKind(0).Descriptor()},
		"aggregates":     {len(aggregates.strings), pb.AggregateRequest_Kind(0).Descriptor()},
		"layouts":        {len(layouts.strings), pb.TableSpec_Layout(0).Descriptor()},
		"table actions":  {len(tableActions.strings), pb.TableAction(0).Descriptor()},
		"operators":      {len(operators.strings), pb.Filter_Op(0).Descriptor()},
		"write modes":    {len(writeModes.strings), pb.BeginWriteRequest_Mode(0).Descriptor()},
		"commits":        {len(commitOutcomes.strings), pb.CommitResponse_Outcome(0).Descriptor()},
		"check outcomes": {len(checkOutcomes.strings), pb.RunCheckResponse_Outcome(0).Descriptor()},
	} {
		if numbers := tc.enum.Values().Len() - 1; numbers != tc.known {
			t.Errorf("%s: the protocol has %d, the table %d", name, numbers, tc.known)
		}
		if zero := string(tc.enum.Values().ByNumber(0).Name()); !strings.HasSuffix(zero, "UNSPECIFIED") {
			t.Errorf("%s: number 0 is %s", name, zero)
		}
	}
	if _, err := writeModes.text(0); err == nil {
		t.Error("an unspecified choice is no error")
	}
}

func TestDiagnosticsCrossWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]diag.Kind{diag.KindConfiguration, diag.KindUnavailable, diag.KindPermission, diag.KindNotReady, diag.KindTransient,
			diag.KindConflict, diag.KindStale, diag.KindDataLoss, diag.KindRewound, diag.KindSchemaChanged, diag.KindUnsupported, diag.KindDifferent, diag.KindInternal}).Draw(t, "kind")
		d := diag.Diagnostic{Severity: diag.Error, Kind: kind, Code: rapid.StringMatching(`[a-z.]*`).Draw(t, "code"), Summary: rapid.String().Draw(t, "summary"),
			Detail: rapid.String().Draw(t, "detail"), Address: rapid.StringMatching(`[a-z.]*`).Draw(t, "address")}
		if rapid.Bool().Draw(t, "warning") {
			d.Severity, d.Kind = diag.Warning, ""
		}
		for range rapid.IntRange(0, 3).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "index") {
				d.Path = append(d.Path, rapid.IntRange(0, 9).Draw(t, "n"))
			} else {
				d.Path = append(d.Path, rapid.StringMatching(`[a-z]+`).Draw(t, "name"))
			}
		}
		if got := diagnosticsFromProto(diagnosticsToProto(diag.List{d})); !reflect.DeepEqual(got, diag.List{d}) {
			t.Fatalf("got %+v, sent %+v", got, d)
		}
	})
}

func TestAForgottenSeverityIsAnError(t *testing.T) {
	t.Parallel()
	got := diagnosticsFromProto([]*pb.Diagnostic{{Summary: "s"}})
	if !got.HasErrors() || got[0].Kind != diag.KindInternal {
		t.Errorf("from the wire: %+v", got)
	}
	if sent := diagnosticsToProto(diag.List{{Summary: "s"}}); sent[0].Severity != pb.Diagnostic_SEVERITY_ERROR || sent[0].Kind != pb.Diagnostic_KIND_INTERNAL {
		t.Errorf("to the wire: %+v", sent)
	}
}

func TestOnlyACancelledCallBecomesAStatus(t *testing.T) {
	t.Parallel()
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	known := diag.Errorf(diag.KindTransient, "c", "", "s").Err()
	for name, tc := range map[string]struct {
		ctx    context.Context
		err    error
		kind   diag.Kind
		status codes.Code
	}{
		"diagnostics":                     {context.Background(), known, diag.KindTransient, codes.OK},
		"diagnostics of a cancelled call": {cancelled, known, diag.KindTransient, codes.OK},
		"any error":                       {context.Background(), errors.New("bug"), diag.KindInternal, codes.OK},
		"any error of a cancelled call":   {cancelled, errors.New("late"), "", codes.Canceled},
		"an error that carries warnings":  {context.Background(), &diag.Err{List: diag.List{diag.Warningf("w", "", "s")}}, diag.KindInternal, codes.OK},
	} {
		list, err := failure(tc.ctx, tc.err)
		if status.Code(err) != tc.status {
			t.Errorf("%s: status %v", name, err)
		}
		if got := diag.KindOf(diagnosticsFromProto(list).Err()); got != tc.kind {
			t.Errorf("%s: kind %q", name, got)
		}
	}
}

func TestValuesCrossWithTheirTypes(t *testing.T) {
	t.Parallel()
	for _, v := range []cty.Value{
		cty.NilVal,
		cty.EmptyObjectVal,
		cty.NullVal(cty.Object(map[string]cty.Type{"a": cty.String})),
		cty.ObjectVal(map[string]cty.Value{
			"s": cty.StringVal("text"), "n": cty.MustParseNumberVal("12345678901234567890.5"), "b": cty.True,
			"null": cty.NullVal(cty.Number), "list": cty.ListValEmpty(cty.String), "map": cty.MapVal(map[string]cty.Value{"k": cty.NumberIntVal(1)}),
		}),
	} {
		sent, err := valueToProto(v)
		if err != nil {
			t.Fatal(err)
		}
		got, err := valueFromProto(sent)
		if err != nil || v == cty.NilVal && got != cty.NilVal || v != cty.NilVal && !got.RawEquals(v) {
			t.Errorf("got %#v, sent %#v, %v", got, v, err)
		}
	}
	if _, err := valueToProto(cty.ObjectVal(map[string]cty.Value{"s": cty.StringVal("x").Mark("sensitive")})); err == nil {
		t.Error("a marked value is no error")
	}
}

func TestBodiesCrossWhole(t *testing.T) {
	t.Parallel()
	inner := schema.Body{Attributes: []schema.Attribute{{Name: "x", Type: cty.List(cty.Map(cty.Bool)), Required: true}}}
	body := schema.Body{
		Description: "d",
		Attributes:  []schema.Attribute{{Name: "a", Type: cty.String, Description: "d", Sensitive: true, Default: cty.StringVal("x"), Values: []string{"x", "y"}, Deprecated: "use b"}},
		Blocks:      []schema.Block{{Name: "one", Description: "d", Body: inner}, {Name: "many", Body: inner, Repeated: true, Labeled: true}},
	}
	sent, err := bodyToProto(body)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := bodyFromProto(sent, 0); err != nil || !reflect.DeepEqual(got, body) {
		t.Errorf("got %+v, sent %+v, %v", got, body, err)
	}
	deep := &pb.Body{}
	for range 100 {
		deep = &pb.Body{Blocks: []*pb.Body_Block{{Name: "b", Body: deep}}}
	}
	if _, err := bodyFromProto(deep, 0); err == nil {
		t.Error("nesting has no bound")
	}
}

func TestRequestsCrossWhole(t *testing.T) {
	t.Parallel()
	text := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	write := plugin.BeginWriteRequest{
		Table: plugin.TableRef{Name: "a.b", Path: "p"}, Mode: plugin.WriteMerge, Schema: text, MergeSchema: true,
		Txns: []plugin.Txn{{AppID: "x", Version: 3}}, RequireID: "id", BaseVersion: 0,
		Merge: &plugin.Merge{Keys: []string{"k"}, Guard: "g", Action: "a", UpdateColumns: []string{}, DeleteAbsent: true},
	}
	sent, err := beginWriteToProto("s", write)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := beginWriteFromProto(sent); err != nil || !got.Schema.Equal(text) || !sameBut(got, write) {
		t.Errorf("got %+v, sent %+v, %v", got, write, err)
	}
	// No base version and base version 0 are not the same; nor all columns and none.
	write.BaseVersion, write.Merge.UpdateColumns = -1, nil
	if sent, err = beginWriteToProto("s", write); err != nil {
		t.Fatal(err)
	}
	if got, err := beginWriteFromProto(sent); err != nil || got.BaseVersion != -1 || got.Merge.UpdateColumns != nil {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, l := range []plugin.Literal{
		{Type: plugin.LiteralBool, Bool: true}, {Type: plugin.LiteralInt, Int: -1}, {Type: plugin.LiteralFloat, Float: 1.5}, {Type: plugin.LiteralDecimal, Text: "1.50"},
		{Type: plugin.LiteralString, Text: "é"}, {Type: plugin.LiteralBinary, Bytes: []byte{0xff}}, {Type: plugin.LiteralDate, Int: 1},
		{Type: plugin.LiteralTimestamp, Int: 2}, {Type: plugin.LiteralTimestampNTZ, Int: 3},
	} {
		filter := plugin.Filter{Any: []plugin.Clause{{All: []plugin.Term{{Column: "c", Op: plugin.OpIn, Literals: []plugin.Literal{l, l}}}}}}
		msg, err := filterToProto(filter)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := filterFromProto(msg); err != nil || !reflect.DeepEqual(got, filter) {
			t.Errorf("got %+v, sent %+v, %v", got, filter, err)
		}
	}
	part := plugin.WritePartRequest{WriteID: "w", Part: 1, Attempt: 2, Constants: []plugin.Constant{
		{Name: "_batch_id", Type: arrow.PrimitiveTypes.Int32, Value: &plugin.Literal{Type: plugin.LiteralInt, Int: 7}}, {Name: "_ts", Type: &arrow.TimestampType{Unit: arrow.Microsecond}},
	}}
	opened, err := openPartToProto("s", part)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := openPartFromProto(opened.GetOpen()); err != nil || !reflect.DeepEqual(got, part) {
		t.Errorf("got %+v, sent %+v, %v", got, part, err)
	}
	for _, p := range []plugin.Position{{}, {Text: "0x01"}, {Text: "0x01", HasCommit: true}, {Text: "0x01", CommitMicros: -5, HasCommit: true}} {
		if got := positionFromProto(positionToProto(p)); got != p {
			t.Errorf("got %+v, sent %+v", got, p)
		}
	}
}

// sameBut compares all but the schema, which has its own equality.
func sameBut(a, b plugin.BeginWriteRequest) bool {
	a.Schema, b.Schema = nil, nil
	return reflect.DeepEqual(a, b)
}

// A plugin of a later minor version may say more; none of it is an error.
func TestUnknownFieldsAreIgnored(t *testing.T) {
	t.Parallel()
	data, err := proto.Marshal(&pb.Diagnostic{Severity: pb.Diagnostic_SEVERITY_ERROR, Summary: "s", Kind: 99})
	if err != nil {
		t.Fatal(err)
	}
	data = append(data, 0xfa, 0x7f, 0x01, 'x') // field 2047, a string
	var d pb.Diagnostic
	if err := proto.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	if got := diagnosticsFromProto([]*pb.Diagnostic{&d}); got[0].Kind != diag.KindInternal || got[0].Summary != "s" {
		t.Errorf("got %+v", got)
	}
}

func FuzzValueFromProto(f *testing.F) {
	sent, err := valueToProto(cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("x"), "n": cty.NumberIntVal(3)}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sent.Msgpack)
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := valueFromProto(&pb.Value{Msgpack: data})
		if err == nil && v == cty.NilVal {
			t.Error("no value and no error")
		}
	})
}

func FuzzTypeFromProto(f *testing.F) {
	f.Add(typeToProto(arrow.PrimitiveTypes.Int32))
	f.Fuzz(func(t *testing.T, data []byte) {
		if dt, err := typeFromProto(data); err == nil && !bytes.Equal(typeToProto(dt), typeToProto(dt)) {
			t.Error("a type has no form of its own")
		}
	})
}

// A version of 0 is a version; one that is not known is none.
func TestAPositionKeepsWhatIsNotKnownApart(t *testing.T) {
	t.Parallel()
	for _, want := range []plugin.TargetPosition{
		{},
		{Applied: "0x9", RebuiltFrom: "0x2", Open: "0x8", Wave: new(int32(0)), Version: new(int64(0)), Foreign: new(int64(0)), Merge: new(int64(0))},
	} {
		if got := targetFromProto(targetToProto(want)); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v became %+v", want, got)
		}
	}
}

// What a source says of columns that it stopped to give keeps its position.
func TestDiscontinuedColumnsKeepTheirEnd(t *testing.T) {
	t.Parallel()
	in := plugin.InspectResponse{Tables: []plugin.TableInfo{{Address: "table.orders", Schema: arrow.NewSchema(nil, nil),
		Discontinued: []string{"note"}, DiscontinuedFrom: plugin.Position{Text: "0x2A", CommitMicros: 7, HasCommit: true}}}}
	out, err := inspectFromProto(inspectToProto(in))
	if err != nil || out.Tables[0].DiscontinuedFrom != in.Tables[0].DiscontinuedFrom || !reflect.DeepEqual(out.Tables[0].Discontinued, in.Tables[0].Discontinued) {
		t.Errorf("%+v, %v", out, err)
	}
}
