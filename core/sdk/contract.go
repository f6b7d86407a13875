package sdk

import (
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
	"github.com/pipectl/pipectl/core/schema"
)

// The contract under short names; the request structs stand in core/plugin.
type (
	// Plugin is what a plugin implements.
	Plugin = plugin.Plugin
	// Source is one source session.
	Source = plugin.Source
	// Tables is one session of a sink.
	Tables = plugin.Tables
	// Silver is one silver session.
	Silver = plugin.Silver
	// Check is one check session.
	Check = plugin.Check
	// Host is what the host serves to a silver or check for one step.
	Host = plugin.Host
	// Description is what a plugin says of itself.
	Description = plugin.Description
	// Component is one thing that a plugin offers.
	Component = plugin.Component
	// Capabilities are what a component may lack.
	Capabilities = plugin.Capabilities
	// OpenRequest configures a session.
	OpenRequest = plugin.OpenRequest
	// Limits bounds concurrent streams.
	Limits = plugin.Limits
	// Position is a point in the history of a source.
	Position = plugin.Position
	// Frame is one step of a stream of rows.
	Frame = plugin.Frame
	// FrameReader is a stream of rows to pull from.
	FrameReader = plugin.FrameReader

	// RowReader reads record batches out of a stream of frames.
	RowReader = rows.Reader
	// RowWriter is where a producer puts its record batches.
	RowWriter = rows.Writer

	// Diagnostic is one thing a user is told.
	Diagnostic = diag.Diagnostic
	// Diagnostics is an ordered list of them.
	Diagnostics = diag.List
	// Body is the shape of a block body.
	Body = schema.Body
)
