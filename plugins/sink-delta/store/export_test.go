package store

import "syscall"

// WithoutLinks makes l behave as on a file system without hard links.
func WithoutLinks(l *Local) { l.link = func(string, string) error { return syscall.EPERM } }

// RenamesExclusively tells whether the file system renames without replacing.
func RenamesExclusively(from, to string) bool { return renameNoReplace(from, to) == nil }
