package stream

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/core/plugin"
)

// eventWords is what an event says, for people. The facts keep its detail as it
// is, which for some events is JSON.
func eventWords(e plugin.Event) string {
	var switched struct {
		Old, New    string
		NotCaptured []string `json:"not_captured"`
	}
	if json.Unmarshal([]byte(e.Detail), &switched) == nil && switched.Old != "" && switched.New != "" {
		text := fmt.Sprintf("The stream goes on from %s in %s.", switched.Old, switched.New)
		if len(switched.NotCaptured) > 0 {
			text += fmt.Sprintf(" %s does not have %s, which is NULL from there on.", switched.New, strings.Join(switched.NotCaptured, ", "))
		}
		return text
	}
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(e.Detail), &members) != nil || len(members) == 0 {
		return e.Detail
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value, text := string(members[name]), ""
		if json.Unmarshal(members[name], &text) == nil {
			value = text
		}
		parts = append(parts, strings.ReplaceAll(name, "_", " ")+": "+value)
	}
	return strings.Join(parts, ", ")
}
