package wire_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	fake "github.com/pipectl/pipectl/core/plugin/memory"
)

// world is a lake and a database with bronze filled, outside of the plugin.
type world struct {
	host   plugin.Host
	lake   *fake.Lake
	ledger *fake.Ledger
	silver plugin.SilverRequest
	check  plugin.CheckRequest
}

func newWorld(t *testing.T) *world {
	t.Helper()
	ctx := t.Context()
	w := &world{lake: fake.NewLake(), ledger: &fake.Ledger{}}
	db := fake.NewDatabase("db")
	db.CreateTable("dbo.orders", arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "note", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil), "id")
	for i := range 150 {
		db.Commit(time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC), fake.Insert("dbo.orders", fake.Row{"id": i, "note": fmt.Sprint(i)}))
	}
	table := plugin.SourceTable{Address: "table.orders", Object: cty.ObjectVal(map[string]cty.Value{"object": cty.StringVal("dbo.orders")})}
	source, tables := db.Open(), w.lake.Open()
	plan, err := source.PlanBatch(ctx, plugin.PlanBatchRequest{Table: table, End: db.Newest()})
	if err != nil {
		t.Fatal(err)
	}
	bronze, silver := plugin.TableRef{Name: "bronze.orders"}, plugin.TableRef{Name: "silver.orders"}
	for _, spec := range []plugin.TableSpec{{Table: bronze, Schema: plan.Schema}, {Table: silver, Schema: arrow.NewSchema(plan.Schema.Fields()[6:], nil)}, {Table: plugin.TableRef{Name: "secret.table"}, Schema: plan.Schema}} {
		if _, err := tables.ApplyTable(ctx, plugin.ApplyTableRequest{Spec: spec}); err != nil {
			t.Fatal(err)
		}
	}
	begun, err := tables.BeginWrite(ctx, plugin.BeginWriteRequest{Table: bronze, Mode: plugin.WriteAppend, Schema: plan.Schema, BaseVersion: -1})
	if err != nil {
		t.Fatal(err)
	}
	frames, err := source.Read(ctx, plugin.ReadRequest{Table: table, Range: plan.Ranges[0]})
	if err != nil {
		t.Fatal(err)
	}
	part, err := tables.WritePart(ctx, plugin.WritePartRequest{WriteID: begun.WriteID}, frames)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tables.Commit(ctx, plugin.CommitRequest{WriteID: begun.WriteID, Tokens: []string{part.Token}}); err != nil {
		t.Fatal(err)
	}
	access := plugin.Access{Read: []plugin.TableRef{{Name: "bronze.orders"}}, Merge: []plugin.TableRef{{Name: "silver.orders"}}, Source: []plugin.SourceTable{table}, Targets: []string{"silver.orders"}, Advance: []string{"silver.orders"}}
	w.host = access.Narrow(plugin.Host{Tables: tables, Source: source, Ledger: w.ledger})
	w.silver = plugin.SilverRequest{Address: "silver.orders", Body: cty.EmptyObjectVal, Input: bronze, Target: silver, Key: []string{"id"}, Instances: []string{"dbo_orders"}, InputSchema: plan.Schema}
	w.check = plugin.CheckRequest{Address: "check.orders", Body: cty.EmptyObjectVal, Source: table, Object: "dbo.orders", SourceSchema: plan.Schema, Silver: silver, Bronze: bronze, Key: []string{"id"}}
	return w
}

func TestSilverAndCheckReachTheirHostOverTheWire(t *testing.T) {
	w := newWorld(t)
	client := connect(t, fake.New()) // a plugin with an empty lake of its own
	silver, err := client.OpenSilver(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := silver.PlanSilver(t.Context(), w.silver, w.host)
	if err != nil || plan.Pending != "apply" || len(plan.Tables) != 1 || plan.Tables[0].Layout != plugin.LayoutMerge {
		t.Fatalf("plan %+v, %v", plan, err)
	}
	var stages []string
	result, err := silver.RunSilver(t.Context(), w.silver, w.host, func(p plugin.Progress) { stages = append(stages, p.Stage) })
	if err != nil || result.Inserted != 150 || !result.BronzeFound || result.RowsRead != 150 {
		t.Fatalf("result %+v, %v", result, err)
	}
	if !reflect.DeepEqual(stages, []string{"rank"}) {
		t.Errorf("progress %q", stages)
	}
	if got := w.ledger.Advances(); len(got) != 1 || got[0].Position.Applied != result.Position.Applied || got[0].Target != "silver.orders" {
		t.Errorf("advances %+v", got)
	}
	if got := len(w.lake.Rows("silver.orders")); got != 150 {
		t.Errorf("%d rows in silver", got)
	}
	check, err := client.OpenCheck(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	planned, err := check.PlanCheck(t.Context(), w.check, w.host)
	if err != nil || planned.Summary == "" {
		t.Fatalf("plan %+v, %v", planned, err)
	}
	found, err := check.RunCheck(t.Context(), w.check, w.host, plugin.CheckEvents{})
	if err != nil || found.Outcome != plugin.Equal || found.SourceRows != 150 || found.SilverRows != 150 {
		t.Fatalf("result %+v, %v", found, err)
	}
	if err := errors.Join(silver.Close(), check.Close()); err != nil {
		t.Fatal(err)
	}
}

// nosy is a silver that does what its step must not; do gets the host.
type nosy struct {
	fake.Silver
	do func(context.Context, plugin.Host) error
}

func (n nosy) RunSilver(ctx context.Context, req plugin.SilverRequest, host plugin.Host, progress func(plugin.Progress)) (plugin.SilverResult, error) {
	return plugin.SilverResult{Version: -1}, n.do(ctx, host)
}

func TestAGrantReachesOnlyWhatItNames(t *testing.T) {
	secret := plugin.TableRef{Name: "secret.table"}
	for name, do := range map[string]func(context.Context, plugin.Host) error{
		"read": func(ctx context.Context, h plugin.Host) error {
			return drain(h.Tables.Scan(ctx, plugin.ScanRequest{Table: secret, Version: -1}))
		},
		"look": func(ctx context.Context, h plugin.Host) error {
			_, err := h.Tables.GetTables(ctx, plugin.GetTablesRequest{Tables: []plugin.TableRef{secret}})
			return err
		},
		"history": func(ctx context.Context, h plugin.Host) error {
			_, err := h.Tables.History(ctx, plugin.HistoryRequest{Table: secret})
			return err
		},
		"append to what is read": func(ctx context.Context, h plugin.Host) error {
			_, err := h.Tables.BeginWrite(ctx, plugin.BeginWriteRequest{Table: plugin.TableRef{Name: "bronze.orders"}, Mode: plugin.WriteAppend, Schema: textSchema, BaseVersion: -1})
			return err
		},
		"alter what is read": func(ctx context.Context, h plugin.Host) error {
			_, err := h.Tables.ApplyTable(ctx, plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: plugin.TableRef{Name: "bronze.orders"}, Schema: textSchema}})
			return err
		},
		"commit a write of another": func(ctx context.Context, h plugin.Host) error {
			_, err := h.Tables.Commit(ctx, plugin.CommitRequest{WriteID: "write-1"})
			return err
		},
		"objects": func(ctx context.Context, h plugin.Host) error {
			_, _, err := h.Tables.GetObject(ctx, "format.json")
			return err
		},
		"another source table": func(ctx context.Context, h plugin.Host) error {
			_, err := h.Source.Stamp(ctx, plugin.SourceTable{Address: "table.salaries"})
			return err
		},
		"another ledger": func(ctx context.Context, h plugin.Host) error {
			_, err := h.Ledger.ReadLedger(ctx, "silver.other")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			p := fake.New()
			p.Silver = nosy{do: do}
			silver, err := connect(t, p).OpenSilver(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := silver.RunSilver(t.Context(), w.silver, w.host, nil); !diag.Is(err, diag.KindPermission) {
				t.Fatalf("error %v", err)
			}
		})
	}
}

func TestAStepReadsASourceTableAsItsBlockSays(t *testing.T) {
	w := newWorld(t)
	p := fake.New()
	p.Silver = nosy{do: func(ctx context.Context, h plugin.Host) error {
		// The address is right, the object is another one.
		res, err := h.Source.Inspect(ctx, plugin.InspectRequest{Tables: []plugin.SourceTable{{Address: "table.orders", Object: cty.ObjectVal(map[string]cty.Value{"object": cty.StringVal("dbo.salaries")})}}})
		if err == nil && res.Tables[0].Object != "dbo.orders" {
			err = fmt.Errorf("it inspected %q", res.Tables[0].Object)
		}
		return err
	}}
	silver, err := connect(t, p).OpenSilver(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := silver.RunSilver(t.Context(), w.silver, w.host, nil); err != nil {
		t.Fatal(err)
	}
}

func TestAGrantDiesWithItsStep(t *testing.T) {
	w := newWorld(t)
	var kept plugin.Host
	p := fake.New()
	p.Silver = nosy{do: func(_ context.Context, h plugin.Host) error {
		kept = h
		return nil
	}}
	silver, err := connect(t, p).OpenSilver(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := silver.RunSilver(t.Context(), w.silver, w.host, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := kept.Ledger.ReadLedger(t.Context(), "silver.orders"); err == nil {
		t.Error("a grant outlives its step")
	}
	if _, err := kept.Tables.GetTables(t.Context(), plugin.GetTablesRequest{Tables: []plugin.TableRef{{Name: "bronze.orders"}}}); err == nil {
		t.Error("a grant outlives its step")
	}
}

func TestAStepIsToldWhatItsHostCanServe(t *testing.T) {
	w := newWorld(t)
	p := fake.New()
	p.Silver = nosy{do: func(_ context.Context, h plugin.Host) error {
		if h.Tables.Limits() != w.host.Tables.Limits() || h.Source.Limits() != w.host.Source.Limits() {
			return fmt.Errorf("limits %+v and %+v", h.Tables.Limits(), h.Source.Limits())
		}
		return nil
	}}
	silver, err := connect(t, p).OpenSilver(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := silver.RunSilver(t.Context(), w.silver, w.host, nil); err != nil {
		t.Fatal(err)
	}
	without := w.host
	without.Source = nil
	p.Silver = nosy{do: func(_ context.Context, h plugin.Host) error {
		if h.Source != nil {
			return errors.New("a source where there is none")
		}
		return nil
	}}
	silver, err = connect(t, p).OpenSilver(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := silver.RunSilver(t.Context(), w.silver, without, nil); err != nil {
		t.Fatal(err)
	}
}

// lookingAgain is a check that keeps what it was asked and answers as it is told.
type lookingAgain struct {
	fake.Check
	asked  *plugin.CheckRequest
	answer plugin.CheckResult
}

func (l lookingAgain) RunCheck(_ context.Context, req plugin.CheckRequest, _ plugin.Host, _ plugin.CheckEvents) (plugin.CheckResult, error) {
	*l.asked = req
	return l.answer, nil
}

type checkPlugin struct {
	*fake.Plugin
	check plugin.Check
}

func (p checkPlugin) OpenCheck(context.Context, plugin.OpenRequest) (plugin.Check, error) {
	return p.check, nil
}

func TestALaterLookOverTheWire(t *testing.T) {
	w := newWorld(t)
	var asked plugin.CheckRequest
	answer := plugin.CheckResult{Outcome: plugin.Equal, AllRowsCompared: true}
	check, err := connect(t, checkPlugin{fake.New(), lookingAgain{asked: &asked, answer: answer}}).OpenCheck(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	defer check.Close()
	req := w.check
	req.Settle, req.Keys, req.Again, req.AwaitCapture = true, []string{`{"id":1}`}, []plugin.KeyRange{{Lo: "1", Hi: "9"}, {Lo: "20"}}, 1500*time.Millisecond
	got, err := check.RunCheck(t.Context(), req, w.host, plugin.CheckEvents{})
	if err != nil || !got.AllRowsCompared || got.LookedAgain {
		t.Fatalf("%+v, %v", got, err)
	}
	if !asked.Settle || !reflect.DeepEqual(asked.Keys, req.Keys) || !reflect.DeepEqual(asked.Again, req.Again) || asked.AwaitCapture != req.AwaitCapture {
		t.Errorf("asked for %+v", asked)
	}
}
