// Package run carries out a plan: it creates the plan's tables when asked to
// (apply), then walks the graph of steps, each stream before its silver before
// its check. A step that fails skips what follows it and nothing else. It gets
// its plugins as sessions and knows no processes, no text and no terminal.
package run
