package sdk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// go-plugin takes a line apart only when it has hclog's keys.
func TestLogLinesHaveTheKeysOfHclog(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := newLogger(&out, slog.LevelInfo)
	log.Debug("below the level")
	log.With("table", "dbo.orders").Warn("slow", "took", 1500*time.Millisecond, "since", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), slog.Group("lsn", "level", "0x01"))
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("%v in %q", err, out.String())
	}
	stamp, _ := line["@timestamp"].(string)
	if _, err := time.Parse("2006-01-02T15:04:05.000000Z07:00", stamp); err != nil {
		t.Error(err)
	}
	delete(line, "@timestamp")
	want := map[string]any{"@level": "warn", "@message": "slow", "table": "dbo.orders", "took": "1.5s", "since": "2026-01-02T03:04:05Z", "lsn": map[string]any{"level": "0x01"}}
	got, err := json.Marshal(line)
	if err != nil {
		t.Fatal(err)
	}
	if expected, err := json.Marshal(want); err != nil || !bytes.Equal(got, expected) {
		t.Errorf("line %s, want %s", got, expected)
	}
}

func TestTheLevelIsTheHosts(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "WARN": slog.LevelWarn, "error": slog.LevelError, "": slog.LevelInfo, "loud": slog.LevelInfo} {
		if got := logLevel(name); got != want {
			t.Errorf("%q is %v", name, got)
		}
	}
}

func TestSchemaBuilder(t *testing.T) {
	t.Parallel()
	tls := NewSchema("TLS.").Attribute("name", cty.String, "Host.").Body()
	body := NewSchema("A connection.").
		Attribute("host", cty.String, "Name.", Required()).
		Attribute("password", cty.String, "Secret.", Sensitive(), Deprecated("use token")).
		Attribute("mode", cty.String, "Mode.", OneOf("a", "b"), Default(cty.StringVal("a"))).
		Block("tls", tls).Blocks("replica", tls).LabeledBlocks("limit", tls).
		Body()
	if err := body.Check(nil); err != nil {
		t.Fatal(err)
	}
	want := cty.Object(map[string]cty.Type{
		"host": cty.String, "password": cty.String, "mode": cty.String, "tls": tls.ImpliedType(),
		"replica": cty.List(tls.ImpliedType()), "limit": cty.Map(tls.ImpliedType()),
	})
	if !body.ImpliedType().Equals(want) {
		t.Errorf("type %#v", body.ImpliedType())
	}
	if a, _ := body.Attribute("password"); !a.Sensitive || a.Deprecated != "use token" {
		t.Errorf("argument %+v", a)
	}
}

// little is a plugin with a source that has the required calls only.
type little struct{ UnimplementedPlugin }

func (little) Describe(context.Context) (plugin.Description, error) {
	return plugin.Description{Name: "x/little", Version: "1"}, nil
}

type littleSource struct{ UnimplementedSource }

func (littleSource) Inspect(context.Context, plugin.InspectRequest) (plugin.InspectResponse, error) {
	return plugin.InspectResponse{}, nil
}

func (littleSource) Start(context.Context, plugin.StartRequest) (plugin.Position, error) {
	return plugin.Position{}, nil
}

func (littleSource) Latest(context.Context, plugin.LatestRequest) (plugin.LatestResponse, error) {
	return plugin.LatestResponse{}, nil
}

func (littleSource) PlanBatch(context.Context, plugin.PlanBatchRequest) (plugin.BatchPlan, error) {
	return plugin.BatchPlan{}, nil
}

func (littleSource) Read(context.Context, plugin.ReadRequest) (plugin.FrameReader, error) {
	return nil, errors.New("no rows")
}

func (littleSource) Limits() plugin.Limits { return plugin.Limits{MaxReads: 1} }
func (littleSource) Close() error          { return nil }

func TestWhatIsLeftOutIsUnsupported(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	var p plugin.Plugin = little{}
	var s plugin.Source = littleSource{}
	var tables UnimplementedTables
	for name, call := range map[string]func() error{
		"OpenSource":   func() error { _, err := p.OpenSource(ctx, plugin.OpenRequest{}); return err },
		"OpenTables":   func() error { _, err := p.OpenTables(ctx, plugin.OpenRequest{}); return err },
		"OpenSilver":   func() error { _, err := p.OpenSilver(ctx, plugin.OpenRequest{}); return err },
		"OpenCheck":    func() error { _, err := p.OpenCheck(ctx, plugin.OpenRequest{}); return err },
		"Stamp":        func() error { _, err := s.Stamp(ctx, plugin.SourceTable{}); return err },
		"OpenSnapshot": func() error { _, err := s.OpenSnapshot(ctx, plugin.OpenSnapshotRequest{}); return err },
		"PlanChunks":   func() error { _, err := s.PlanChunks(ctx, plugin.PlanChunksRequest{}); return err },
		"Lost":         func() error { _, err := s.Lost(ctx, plugin.LostRequest{}); return err },
		"Aggregate":    func() error { _, err := s.Aggregate(ctx, plugin.AggregateRequest{}); return err },
		"History":      func() error { _, err := tables.History(ctx, plugin.HistoryRequest{}); return err },
		"PutObject":    func() error { return tables.PutObject(ctx, plugin.Object{}, true) },
		"GetObject":    func() error { _, _, err := tables.GetObject(ctx, "k"); return err },
		"ListObjects":  func() error { _, err := tables.ListObjects(ctx, "", ""); return err },
		"DeleteObject": func() error { return tables.DeleteObject(ctx, "k") },
	} {
		if err := call(); !diag.Is(err, diag.KindUnsupported) || diag.FromError(err)[0].Detail == "" {
			t.Errorf("%s answers %v, not what it lacks and what to do", name, err)
		}
	}
}
