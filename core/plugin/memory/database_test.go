package memory_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	arrowmemory "github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/zclconf/go-cty/cty"
	"pgregory.net/rapid"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/plugin/rows"
)

var ordersSchema = arrow.NewSchema([]arrow.Field{field("id", arrow.PrimitiveTypes.Int64), field("note", arrow.BinaryTypes.String)}, nil)

func orders(partitions int64) plugin.SourceTable {
	return plugin.SourceTable{
		Address: "table.orders",
		Object:  cty.ObjectVal(map[string]cty.Value{"object": cty.StringVal("dbo.orders")}),
		Read:    cty.ObjectVal(map[string]cty.Value{"partitions": cty.NumberIntVal(partitions)}),
	}
}

func minute(n int) time.Time { return time.Date(2026, 3, 1, 0, n, 0, 0, time.UTC) }

func newDatabase() *memory.Database {
	db := memory.NewDatabase("db-1")
	db.CreateTable("dbo.orders", ordersSchema, "id")
	return db
}

func insert(db *memory.Database, at, id int) plugin.Position {
	return db.Commit(minute(at), memory.Insert("dbo.orders", memory.Row{"id": id, "note": fmt.Sprint("n", id)}))
}

// drain reads a stream and returns its row count and End.
func drain(t testing.TB, frames plugin.FrameReader, err error) plugin.End {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	r, err := rows.NewReader(frames, arrowmemory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	end, err := r.ForEach(func(arrow.RecordBatch) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return end
}

func TestABatchIsReadByRanges(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := newDatabase()
	first := insert(db, 1, 1)
	db.Commit(minute(2))
	last := db.Commit(minute(3), memory.Update("dbo.orders", memory.Row{"id": 1, "note": "n1"}, memory.Row{"id": 1, "note": "z"}), memory.Insert("dbo.orders", memory.Row{"id": 2}))
	source := db.Open()
	start, err := source.Start(ctx, plugin.StartRequest{Table: orders(2), From: "earliest"})
	if err != nil || start.HasCommit || start.Text >= first.Text {
		t.Fatalf("%+v, %v", start, err)
	}
	bounded, err := source.Latest(ctx, plugin.LatestRequest{Table: orders(2), After: start, MaxCommits: 1})
	if err != nil || bounded.End != first || bounded.Newest != last {
		t.Fatalf("%+v, %v", bounded, err)
	}
	if idle, err := source.Latest(ctx, plugin.LatestRequest{Table: orders(2), After: last}); err != nil || idle.End != last {
		t.Fatalf("%+v, %v", idle, err)
	}
	plan, err := source.PlanBatch(ctx, plugin.PlanBatchRequest{Table: orders(2), Start: start, End: last})
	if err != nil || len(plan.Ranges) != 2 {
		t.Fatalf("%+v, %v", plan, err)
	}
	total := map[int32]int64{}
	var end plugin.End
	for _, r := range plan.Ranges {
		frames, err := source.Read(ctx, plugin.ReadRequest{Table: orders(2), Range: r})
		end = drain(t, frames, err)
		for op, n := range end.Operations {
			total[op] += n
		}
	}
	if !reflect.DeepEqual(total, map[int32]int64{plugin.OpInsert: 2, plugin.OpUpdateBefore: 1, plugin.OpUpdateAfter: 1}) {
		t.Errorf("operations %v", total)
	}
	if end.Greatest != last || !end.Metrics.Last || *end.Metrics.ToCommit != minute(3).UnixMicro() {
		t.Errorf("last range ended with %+v", end)
	}
}

func TestLossAndRewind(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := newDatabase()
	p1, p2, p3 := insert(db, 1, 1), insert(db, 2, 2), insert(db, 3, 3)
	source := db.Open()
	db.Purge("dbo.orders", p2)
	lost, err := source.Lost(ctx, plugin.LostRequest{Table: orders(1), Positions: []plugin.Position{p1, p2}})
	if err != nil || !reflect.DeepEqual(lost.Lost, []bool{true, false}) || lost.Oldest != p3 {
		t.Fatalf("%+v, %v", lost, err)
	}
	if _, err := source.PlanBatch(ctx, plugin.PlanBatchRequest{Table: orders(1), Start: p1, End: p3}); !diag.Is(err, diag.KindDataLoss) {
		t.Fatalf("error %v", err)
	}
	plan, err := source.PlanBatch(ctx, plugin.PlanBatchRequest{Table: orders(1), Start: p1, End: p3, SkipLost: true})
	if err != nil || len(plan.Ranges) != 1 || plan.Events[0].Name != "data_skipped" || len(plan.Warnings) != 1 {
		t.Fatalf("%+v, %v", plan, err)
	}
	if _, err := source.Latest(ctx, plugin.LatestRequest{Table: orders(1), After: p3}); err != nil {
		t.Fatal(err)
	}
	db.Rewind(p2)
	if _, err := source.Latest(ctx, plugin.LatestRequest{Table: orders(1), After: p3}); !diag.Is(err, diag.KindRewound) {
		t.Fatalf("after the restore: %v", err)
	}
	insert(db, 9, 9) // another commit takes the number
	if _, err := source.Latest(ctx, plugin.LatestRequest{Table: orders(1), After: p3}); !diag.Is(err, diag.KindRewound) {
		t.Fatalf("after a new commit: %v", err)
	}
}

func TestChunksTileTheKeys(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		db := newDatabase()
		ids := rapid.SliceOfDistinct(rapid.IntRange(-1000, 1000), func(i int) int { return i }).Draw(t, "ids")
		for i, id := range ids {
			insert(db, i, id)
		}
		source := db.Open()
		info, err := source.OpenSnapshot(ctx, plugin.OpenSnapshotRequest{Table: orders(1)})
		if err != nil {
			t.Fatal(err)
		}
		req := plugin.PlanChunksRequest{Table: orders(1), Keys: info.Keys, Extent: info.Extent}
		if rapid.Bool().Draw(t, "whole") {
			req.Parts = rapid.IntRange(1, 5).Draw(t, "parts")
		} else {
			req.ChunkRows = rapid.Int64Range(1, 50).Draw(t, "rows")
		}
		chunks, err := source.PlanChunks(ctx, req)
		if err != nil {
			t.Fatal(err)
		}
		total, lo := int64(0), ""
		for i, c := range chunks {
			if c.Lo != lo || int(c.Index) != i || c.Last != (i == len(chunks)-1) {
				t.Fatalf("chunk %d is %+v after %q", i, c, lo)
			}
			lo = c.Hi
			frames, err := source.Read(ctx, plugin.ReadRequest{Table: orders(1), Chunk: &c, Keys: info.Keys, Stamp: info.Stamp})
			if err != nil {
				t.Fatal(err)
			}
			r, err := rows.NewReader(frames, arrowmemory.DefaultAllocator)
			if err != nil {
				t.Fatal(err)
			}
			end, err := r.ForEach(func(arrow.RecordBatch) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			total += end.Rows
		}
		if total != int64(len(ids)) {
			t.Fatalf("%d rows in chunks, %d in the table", total, len(ids))
		}
	})
}
