//go:build !unix

package store

// writable tells nothing: rights of these systems are known by trying only.
func writable(string) error { return nil }
