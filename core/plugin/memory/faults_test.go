package memory_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
)

func TestFaultsByNameAndCount(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	cause := errors.New("refused")
	put := func(tables plugin.Tables, key string) error {
		return tables.PutObject(ctx, plugin.Object{Key: key}, true)
	}
	t.Run("the n-th call fails and is not made", func(t *testing.T) {
		t.Parallel()
		lake, faults := memory.NewLake(), &memory.Faults{}
		faults.Fail("Tables.PutObject", 2, cause)
		tables := faults.Tables(lake.Open())
		if err := errors.Join(put(tables, "a")); err != nil {
			t.Fatal(err)
		}
		if err := put(tables, "b"); !errors.Is(err, cause) {
			t.Fatalf("error %v", err)
		}
		if err := put(tables, "b"); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("a lost answer was carried out", func(t *testing.T) {
		t.Parallel()
		lake, faults := memory.NewLake(), &memory.Faults{}
		faults.Lose("Tables.PutObject", 1, cause)
		if err := put(faults.Tables(lake.Open()), "a"); !errors.Is(err, cause) || len(lake.Objects()) != 1 {
			t.Fatalf("error %v, objects %v", err, lake.Objects())
		}
	})
	t.Run("a killed process answers nothing more, in any session", func(t *testing.T) {
		t.Parallel()
		lake, faults := memory.NewLake(), &memory.Faults{}
		faults.KillBefore("Tables.PutObject", 1)
		tables, source := faults.Tables(lake.Open()), faults.Source(newDatabase().Open())
		if err := put(tables, "a"); !diag.Is(err, diag.KindTransient) {
			t.Fatalf("error %v", err)
		}
		if _, err := source.Latest(ctx, plugin.LatestRequest{Table: orders(1)}); !diag.Is(err, diag.KindTransient) || !faults.Dead() {
			t.Fatalf("error %v", err)
		}
	})
	t.Run("a hook sees each call twice and may kill", func(t *testing.T) {
		t.Parallel()
		lake := memory.NewLake()
		var seen []string
		faults := &memory.Faults{Hook: func(p memory.Point) error {
			seen = append(seen, p.String())
			if p.Detail == "b" && p.After {
				return memory.ErrKill
			}
			return nil
		}}
		tables := faults.Tables(lake.Open())
		if err := put(tables, "a"); err != nil {
			t.Fatal(err)
		}
		if err := put(tables, "b"); !diag.Is(err, diag.KindTransient) || len(lake.Objects()) != 2 {
			t.Fatalf("error %v", err)
		}
		if got := strings.Join(seen, ", "); got != "before Tables.PutObject a, after Tables.PutObject a, before Tables.PutObject b, after Tables.PutObject b" {
			t.Fatalf("points %s", got)
		}
	})
}

// A whole stream, silver and check over the fakes, killed at every point and
// carried out again: the idempotency of the fakes themselves.
func TestEveryCrashOfAnAppendIsRepairedByRepeatingIt(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	step := func(source plugin.Source, tables plugin.Tables, start, end plugin.Position, n int64) error {
		plan, err := source.PlanBatch(ctx, plugin.PlanBatchRequest{Table: orders(2), Start: start, End: end})
		if err != nil {
			return err
		}
		ref := plugin.TableRef{Name: "bronze.orders"}
		if _, err := tables.ApplyTable(ctx, plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: ref, Schema: plan.Schema}}); err != nil {
			return err
		}
		begun, err := tables.BeginWrite(ctx, plugin.BeginWriteRequest{Table: ref, Mode: plugin.WriteAppend, Schema: plan.Schema, BaseVersion: -1, Txns: []plugin.Txn{{AppID: "s", Version: n}}})
		if err != nil || begun.Already {
			return err
		}
		var tokens []string
		for i, r := range plan.Ranges {
			frames, err := source.Read(ctx, plugin.ReadRequest{Table: orders(2), Range: r})
			if err != nil {
				return err
			}
			part, err := tables.WritePart(ctx, plugin.WritePartRequest{WriteID: begun.WriteID, Part: i}, frames)
			if err != nil {
				return err
			}
			tokens = append(tokens, part.Token)
		}
		_, err = tables.Commit(ctx, plugin.CommitRequest{WriteID: begun.WriteID, Tokens: tokens})
		return err
	}
	db := newDatabase()
	for i := range 5 {
		insert(db, i, i)
	}
	start, end := plugin.Position{}, db.Newest()
	trace := &memory.Faults{}
	if err := step(trace.Source(db.Open()), trace.Tables(memory.NewLake().Open()), start, end, 0); err != nil {
		t.Fatal(err)
	}
	points := trace.Points()
	if len(points) < 20 {
		t.Fatalf("only %d points: %v", len(points), points)
	}
	for k := range points {
		lake, faults := memory.NewLake(), &memory.Faults{}
		faults.KillAt(k + 1)
		if err := step(faults.Source(db.Open()), faults.Tables(lake.Open()), start, end, 0); err == nil {
			t.Errorf("killed %s: no error", points[k])
		}
		if err := step(db.Open(), lake.Open(), start, end, 0); err != nil {
			t.Errorf("after a crash %s: %v", points[k], err)
		}
		if got := len(lake.Rows("bronze.orders")); got != 5 {
			t.Errorf("after a crash %s: %d rows", points[k], got)
		}
	}
}

func TestSilverAndCheckOverTheFakes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	p := memory.New()
	p.Database = newDatabase()
	insert(p.Database, 1, 1)
	insert(p.Database, 2, 2)
	p.Database.Commit(minute(3), memory.Delete("dbo.orders", memory.Row{"id": 1}), memory.Update("dbo.orders", memory.Row{"id": 2, "note": "n2"}, memory.Row{"id": 2, "note": "z"}))
	source, tables := p.Database.Open(), p.Lake.Open()
	end := p.Database.Newest()
	plan, err := source.PlanBatch(ctx, plugin.PlanBatchRequest{Table: orders(1), End: end})
	if err != nil {
		t.Fatal(err)
	}
	create(t, tables, "bronze.orders", plan.Schema)
	frames, err := source.Read(ctx, plugin.ReadRequest{Table: orders(1), Range: plan.Ranges[0]})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := write(t, tables, plugin.BeginWriteRequest{Table: plugin.TableRef{Name: "bronze.orders"}, Mode: plugin.WriteAppend, Schema: plan.Schema, BaseVersion: -1}, frames); err != nil {
		t.Fatal(err)
	}
	host := plugin.Host{Tables: tables, Source: source, Ledger: &memory.Ledger{}}
	request := plugin.SilverRequest{Input: plugin.TableRef{Name: "bronze.orders"}, Target: plugin.TableRef{Name: "silver.orders"}, Key: []string{"id"}, InputSchema: plan.Schema}
	planned, err := memory.Silver{}.PlanSilver(ctx, request, host)
	if err != nil {
		t.Fatal(err)
	}
	create(t, tables, "silver.orders", planned.Tables[0].Schema)
	result, err := memory.Silver{}.RunSilver(ctx, request, host, nil)
	if err != nil || result.Position.Applied != end.Text || result.Inserted != 1 {
		t.Fatalf("%+v, %v", result, err)
	}
	check := plugin.CheckRequest{Source: orders(1), Silver: request.Target, Key: request.Key}
	if found, err := (memory.Check{}).RunCheck(ctx, check, host, plugin.CheckEvents{}); err != nil || found.Outcome != plugin.Equal {
		t.Fatalf("%+v, %v", found, err)
	}
	insert(p.Database, 4, 7)
	if found, err := (memory.Check{}).RunCheck(ctx, check, host, plugin.CheckEvents{}); err != nil || found.Outcome != plugin.Undecided || found.Failures["IN_FLIGHT"] != 1 {
		t.Fatalf("%+v, %v", found, err)
	}
}
