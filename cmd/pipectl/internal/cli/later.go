package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/core/nearest"
)

// Words of commands and flags that a later release gives a meaning.
var (
	laterCommands = []string{
		"audit", "backfill", "console", "daemon", "doctor", "drop", "erase", "forget", "import", "maintain", "new", "pause", "rebuild", "resnapshot",
		"resume", "rewind", "runs", "schedule", "schema", "seed", "sql", "state",
	}
	laterFlags = map[string][]string{
		"apply": {"retype"},
		"plan":  {"source-file"},
		"run":   {"schedule", "shard"},
	}
	laterVerbs = map[string][]string{"plugins": {"test"}}
)

// NoCommand is the error for a name that is no command of this release.
func NoCommand(name string) error {
	if slices.Contains(laterCommands, name) {
		return &UsageError{Problem: notBuilt("The command " + name)}
	}
	var names []string
	for _, c := range Commands() {
		names = append(names, c.Name)
	}
	return &UsageError{Problem: strings.TrimSpace("There is no command " + name + ". " + nearest.DidYouMean(name, "", names))}
}

// notBuilt says that something waits for a later release.
func notBuilt(what string) string {
	return fmt.Sprintf("%s is not built yet: the word is reserved for a later release.", what)
}
