// Package plugin is the contract between the core and its plugins as Go
// interfaces and request structs: what a source, a sink (the tables role), a
// silver and a check must do. The wire package carries the same calls between
// processes, the memory package implements them in one process for tests, and
// the SDK re-exports them to plugin authors. It knows no gRPC, no process and
// no particular source or table format.
//
// Rules that hold for every call:
//
//   - An error made of diagnostics (diag.Err) is an answer: the call failed
//     and says why. Any other error means that the process is gone, the call
//     was cancelled, or there is a bug.
//   - Rows travel as frames: Begin, any number of Batches, End. A stream that
//     stops without End is broken and never a short one.
//   - Nothing is queued without bound; a reader that does not Recv stops its
//     sender.
package plugin
