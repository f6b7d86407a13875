package delta

import (
	"context"
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/schema"
	"github.com/pipectl/pipectl/core/sdk"
	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
	"github.com/pipectl/pipectl/plugins/sink-delta/deltatable"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

const typeDelta = "delta"

// Plugin has the sink component "delta".
type Plugin struct {
	sdk.UnimplementedPlugin
	version string
	schemes store.Schemes
}

var _ plugin.Plugin = (*Plugin)(nil)

// New returns the plugin over local folders; version is the release it is
// built with.
func New(version string) *Plugin { return NewOver(version, store.LocalSchemes()) }

// NewOver returns the plugin over the kinds of storage that a binary carries.
func NewOver(version string, schemes store.Schemes) *Plugin {
	return &Plugin{version: version, schemes: schemes}
}

// Describe names the component and its settings.
func (p *Plugin) Describe(context.Context) (plugin.Description, error) {
	return plugin.Description{
		Name: "pipectl/sink-delta", Version: p.version,
		Components: []plugin.Component{{
			Role: plugin.RoleSink, Type: typeDelta,
			Description:  "Delta Lake tables in a folder.",
			Connection:   connectionSchema(),
			Capabilities: plugin.Capabilities{Merge: true, Objects: true, History: true},
		}},
	}, nil
}

func connectionSchema() schema.Body {
	return schema.Body{
		Description: "A lake: one folder, each table below it. The table bronze.orders lies in root/bronze/orders.",
		Attributes: []schema.Attribute{
			{Name: "root", Type: cty.String, Required: true, Description: "Folder of the lake. A relative one is relative to where pipectl is started."},
			{Name: "deletion_vectors", Type: cty.Bool, Default: cty.True,
				Description: "Whether new silver tables mark deleted rows in deletion vectors. false rewrites files instead: slower, for readers that know no deletion vectors."},
			{Name: "timestamps", Type: cty.String, Default: cty.StringVal("ntz"), Values: []string{"ntz"},
				Description: "How times are stored: ntz keeps what the database holds, without a zone."},
			{Name: "target_file_size", Type: cty.String, Default: cty.StringVal("256MiB"), Description: "Size at which a data file is finished and the next one begun."},
		},
	}
}

// settings are the decoded connection body.
type settings struct {
	root            string
	deletionVectors bool
	targetFileSize  int64
}

func (p *Plugin) decodeSettings(body cty.Value) (settings, diag.List) {
	var s settings
	var list diag.List
	if root := body.GetAttr("root"); root.IsNull() || strings.TrimSpace(root.AsString()) == "" {
		list = append(list, diag.Errorf(diag.KindConfiguration, "delta.root", `Name a folder: root = "./lake".`, "The lake has no root").At("root"))
	} else {
		s.root = root.AsString()
		if err := p.schemes.Check(s.root); err != nil {
			list = append(list, diag.Errorf(diag.KindConfiguration, "delta.root", `This release writes to folders: root = "./lake".`, "The root of the lake is not usable: %v", err).At("root"))
		}
	}
	s.deletionVectors = body.GetAttr("deletion_vectors").IsNull() || body.GetAttr("deletion_vectors").True()
	if size := body.GetAttr("target_file_size"); !size.IsNull() {
		n, err := schema.ParseSize(size.AsString())
		if err == nil && n < minFileSize {
			err = fmt.Errorf("%q is less than 1MiB", size.AsString())
		}
		if err != nil {
			list = append(list, diag.Errorf(diag.KindConfiguration, "delta.target_file_size", `Write a number with a unit: "256MiB".`, "target_file_size: %v", err).At("target_file_size"))
		}
		s.targetFileSize = n
	}
	return s, list
}

// minFileSize keeps a slip of the unit from making millions of files.
const minFileSize = 1 << 20

// ValidateConfig checks the location and the size.
func (p *Plugin) ValidateConfig(_ context.Context, id plugin.ComponentID, body plugin.BodyKind, value cty.Value) (diag.List, error) {
	if id.Role != plugin.RoleSink || body != plugin.BodyConnection {
		return nil, nil
	}
	_, list := p.decodeSettings(value)
	return list, nil
}

// OpenTables starts a session over one lake. It touches nothing.
func (p *Plugin) OpenTables(_ context.Context, req plugin.OpenRequest) (plugin.Tables, error) {
	if req.Component != typeDelta {
		return nil, diag.Errorf(diag.KindUnsupported, "plugin.no_component", "", "pipectl/sink-delta has no sink %q", req.Component).Err()
	}
	s, list := p.decodeSettings(req.Config)
	if err := list.Err(); err != nil {
		return nil, err
	}
	return &session{
		settings: s, schemes: p.schemes,
		options: deltatable.Options{
			TargetFileSize: s.targetFileSize, MergeMemory: req.MemoryBudget, RowGroupBytes: req.MemoryBudget, SpillDir: req.SpillDir,
			// A shallow clone has files of another table, under absolute paths.
			Log: []deltalog.Option{deltalog.WithOpener(p.schemes.Open)},
		},
		tables: map[string]*deltatable.Table{}, writes: map[string]*write{}, swept: map[string]struct{}{},
	}, nil
}
