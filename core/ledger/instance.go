package ledger

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
)

// EventSwitched is the event of a source that goes on under another name: SQL
// Server's capture instances, of which the older one is dropped in time and is
// then listed nowhere else.
const EventSwitched = "capture_instance_switched"

// Instances lists, per bronze table, the names under which its rows came before
// the source went on under another, and those others: lower case, each once, in
// order. Facts keep them for good, so that rows of a name which the source no
// longer knows are still known to be the table's.
func (l *Ledger) Instances(ctx context.Context, targets ...string) (map[string][]string, error) {
	out := map[string][]string{}
	if len(targets) == 0 {
		return out, nil
	}
	filter := where(in("target", targets...), equal("event", EventSwitched))
	err := l.scan(ctx, l.facts, []string{"target", "event", "detail"}, filter, func(b batch) error {
		for i := range b.rows() {
			target := b.text("target", i)
			if b.text("event", i) != EventSwitched || !slices.Contains(targets, target) || !b.has("detail") {
				continue
			}
			for _, name := range switched(b.text("detail", i)) {
				if name = strings.ToLower(name); name != "" && !slices.Contains(out[target], name) {
					out[target] = append(out[target], name)
				}
			}
		}
		return nil
	})
	for _, names := range out {
		slices.Sort(names)
	}
	return out, err
}

// switched are the two names of a switch. Older writers have them only in the
// text for people, "old -> new" and what else there is to say after a semicolon,
// and the oldest wrote that text as it is.
func switched(detail string) []string {
	var d struct{ Old, New, Text string }
	if err := json.Unmarshal([]byte(detail), &d); err != nil {
		d.Text = detail
	}
	if d.Old != "" || d.New != "" {
		return []string{d.Old, d.New}
	}
	text, _, _ := strings.Cut(d.Text, "; no longer captured")
	older, newer, ok := strings.Cut(text, " -> ")
	if !ok || strings.Contains(newer, " -> ") {
		return nil
	}
	return []string{older, newer}
}
