package plugin

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/schema"
)

// Role is what a component does.
type Role string

// The roles, called as in HCL.
const (
	RoleSource Role = "source"
	RoleSink   Role = "sink"
	RoleSilver Role = "silver"
	RoleCheck  Role = "check"
)

// Description is what a plugin says of itself; it costs nothing and needs no
// configuration.
type Description struct {
	// Name and Version of the plugin: "pipectl/source-mssql", "0.1.0".
	Name, Version string
	Components    []Component
}

// Component is one thing that a plugin offers: source "mssql", silver "current".
type Component struct {
	Role Role
	// Type is the first label of the block.
	Type        string
	Description string
	// Connection is the body of the source or sink block.
	Connection schema.Body
	// Object is the plugin-ruled body of: a table (for a source), a silver or
	// a check block. A sink has none.
	Object schema.Body
	// Read is the body of the read block of a stream (for a source).
	Read schema.Body
	// Capabilities are the optional calls and features that it has.
	Capabilities Capabilities
}

// Capabilities are features a component may lack. A call without its
// capability answers with kind "unsupported".
type Capabilities struct {
	// Source: OpenSnapshot, PlanChunks and reading chunks. Check: it reads chunks
	// of its source, and is refused over one that cannot.
	Snapshot bool
	// Source: Aggregate. Check: it asks its source for it, and is refused over
	// one that cannot.
	Aggregate bool
	// Source: Lost.
	Lost bool
	// Sink: MERGE.
	Merge bool
	// Sink: PutObject and its kin, so that state may live in it.
	Objects bool
	// Sink: History.
	History bool
}

// ComponentID names a component of a plugin.
type ComponentID struct {
	Role Role
	Type string
}

// BodyKind says which body of a component a value belongs to.
type BodyKind string

// The bodies.
const (
	BodyConnection BodyKind = "connection"
	BodyObject     BodyKind = "object"
	BodyRead       BodyKind = "read"
)

// OpenRequest configures one component for one block and one run.
type OpenRequest struct {
	Component string
	// Address is the block's, for messages.
	Address string
	// Config is the connection body (source and sink), else an empty object.
	Config cty.Value
	RunID  string
	// MaxConnections bounds a source's connections; 0 = the plugin's default.
	MaxConnections int
	// MemoryBudget bounds buffers of the session in bytes; 0 = the plugin's default.
	MemoryBudget int64
	// SpillDir is a folder for temporary files; "" = the system's.
	SpillDir string
}

// Limits is how much at once a session can serve.
type Limits struct {
	// MaxReads bounds concurrent Read streams (source), MaxParts concurrent
	// WritePart streams (sink).
	MaxReads, MaxParts int
}

// Plugin is one plugin: a process, or an in-process fake.
type Plugin interface {
	Describe(ctx context.Context) (Description, error)
	// ValidateConfig says what a schema cannot say. Paths are relative to the body.
	ValidateConfig(ctx context.Context, id ComponentID, body BodyKind, value cty.Value) (diag.List, error)
	// The Open calls start a session; Close of what they return ends it. They
	// connect to nothing: the first call that needs a server does.
	OpenSource(ctx context.Context, req OpenRequest) (Source, error)
	OpenTables(ctx context.Context, req OpenRequest) (Tables, error)
	OpenSilver(ctx context.Context, req OpenRequest) (Silver, error)
	OpenCheck(ctx context.Context, req OpenRequest) (Check, error)
}
