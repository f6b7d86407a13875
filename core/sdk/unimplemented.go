package sdk

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// Unsupported is the answer to a call that a plugin does not have.
func Unsupported(call string) error {
	return diag.Errorf(diag.KindUnsupported, "plugin.unsupported", "Use a version of the plugin that has it, or another plugin.", "The plugin does not have the call %s", call).Err()
}

// UnimplementedPlugin answers for the roles that a plugin lacks, and accepts
// every configuration. Embed it and write Describe and the Open calls of the
// roles that the plugin has.
type UnimplementedPlugin struct{}

// ValidateConfig finds nothing wrong beyond what the schema says.
func (UnimplementedPlugin) ValidateConfig(context.Context, plugin.ComponentID, plugin.BodyKind, cty.Value) (diag.List, error) {
	return nil, nil
}

// OpenSource is unsupported.
func (UnimplementedPlugin) OpenSource(context.Context, plugin.OpenRequest) (plugin.Source, error) {
	return nil, Unsupported("OpenSource")
}

// OpenTables is unsupported.
func (UnimplementedPlugin) OpenTables(context.Context, plugin.OpenRequest) (plugin.Tables, error) {
	return nil, Unsupported("OpenTables")
}

// OpenSilver is unsupported.
func (UnimplementedPlugin) OpenSilver(context.Context, plugin.OpenRequest) (plugin.Silver, error) {
	return nil, Unsupported("OpenSilver")
}

// OpenCheck is unsupported.
func (UnimplementedPlugin) OpenCheck(context.Context, plugin.OpenRequest) (plugin.Check, error) {
	return nil, Unsupported("OpenCheck")
}

// UnimplementedSource answers for the calls that need a capability. Embed it
// and write Inspect, Start, Latest, PlanBatch, Read, Limits and Close.
type UnimplementedSource struct{}

// Stamp is unsupported.
func (UnimplementedSource) Stamp(context.Context, plugin.SourceTable) (plugin.Position, error) {
	return plugin.Position{}, Unsupported("Stamp")
}

// OpenSnapshot is unsupported.
func (UnimplementedSource) OpenSnapshot(context.Context, plugin.OpenSnapshotRequest) (plugin.SnapshotInfo, error) {
	return plugin.SnapshotInfo{}, Unsupported("OpenSnapshot")
}

// PlanChunks is unsupported.
func (UnimplementedSource) PlanChunks(context.Context, plugin.PlanChunksRequest) ([]plugin.Chunk, error) {
	return nil, Unsupported("PlanChunks")
}

// Lost is unsupported.
func (UnimplementedSource) Lost(context.Context, plugin.LostRequest) (plugin.LostResponse, error) {
	return plugin.LostResponse{}, Unsupported("Lost")
}

// Aggregate is unsupported.
func (UnimplementedSource) Aggregate(context.Context, plugin.AggregateRequest) (plugin.FrameReader, error) {
	return nil, Unsupported("Aggregate")
}

// UnimplementedTables answers for the calls that need a capability. Embed it
// and write the others.
type UnimplementedTables struct{}

// History is unsupported.
func (UnimplementedTables) History(context.Context, plugin.HistoryRequest) ([]plugin.Commit, error) {
	return nil, Unsupported("History")
}

// PutObject is unsupported.
func (UnimplementedTables) PutObject(context.Context, plugin.Object, bool) error {
	return Unsupported("PutObject")
}

// GetObject is unsupported.
func (UnimplementedTables) GetObject(context.Context, string) (plugin.Object, bool, error) {
	return plugin.Object{}, false, Unsupported("GetObject")
}

// ListObjects is unsupported.
func (UnimplementedTables) ListObjects(context.Context, string, string) ([]string, error) {
	return nil, Unsupported("ListObjects")
}

// DeleteObject is unsupported.
func (UnimplementedTables) DeleteObject(context.Context, string) error {
	return Unsupported("DeleteObject")
}
