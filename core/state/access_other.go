//go:build !unix

package state

// access tells nothing: rights of these systems are known by trying only.
func access(string) error { return nil }
