// Package wire carries the contract of core/plugin between processes: Server
// serves a plugin.Plugin over gRPC and Client is one; HostServer serves what a
// host offers to the steps of silver and check plugins, and NewHost is the
// plugin's side of it. It is the only user of the generated code.
//
// It also holds what both ends of a connection must agree on: handshake,
// message limit, flow-control windows and keepalive.
//
// It starts no process and knows nothing of planning, runs or files.
package wire
