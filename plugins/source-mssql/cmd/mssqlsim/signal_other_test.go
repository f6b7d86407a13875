//go:build !unix

package main

import "os"

// endSignal is nil: there is no way to ask a program to end.
var endSignal os.Signal
