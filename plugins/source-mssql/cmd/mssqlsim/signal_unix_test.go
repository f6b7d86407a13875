//go:build unix

package main

import (
	"os"
	"syscall"
)

// endSignal asks a program to end.
var endSignal os.Signal = syscall.SIGTERM
