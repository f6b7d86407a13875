package view

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/quantity"
)

// Plan writes a plan in human form, or as one JSON document. apply is the
// command that carries it out, "" when this one is about to.
func (s *Streams) Plan(p *plan.Plan, apply string) error {
	if s.JSON {
		return s.WriteJSON(p)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var places []string
	for _, place := range p.Places {
		places = append(places, fmt.Sprintf("%s (%s)", place.Sink, place.Display))
	}
	into := ""
	if len(places) > 0 {
		into = " into " + strings.Join(places, ", ")
	}
	fmt.Fprintf(s.answer(), "Plan for %s%s\n", printable(p.Config), printable(into))
	for _, place := range p.Places {
		if place.NoState != "" {
			fmt.Fprintf(s.answer(), "Nothing was accepted there yet: %s.\n", printable(place.NoState))
		}
	}
	s.planTables(p)
	s.planWork(p)
	s.planRemoved(p)
	fmt.Fprintf(s.answer(), "\n%s\n", planSummary(p))
	switch {
	case len(p.Errors()) > 0 && apply == "":
		fmt.Fprintln(s.answer(), "Steps with errors, and those that wait for them, are left out.")
	case len(p.Errors()) > 0:
		fmt.Fprintln(s.answer(), "Nothing has been changed. Steps with errors cannot be carried out.")
	case apply == "":
	case p.Undecided():
		fmt.Fprintln(s.answer(), "Nothing has been changed. A decision may be pending: see the warnings.")
	case p.Changed():
		fmt.Fprintf(s.answer(), "Nothing has been changed. To carry this out: %s\n", printable(apply))
	default:
		fmt.Fprintln(s.answer(), "Nothing has been changed, and no table would be.")
	}
	return nil
}

var signs = map[plugin.TableAction]string{plugin.TableCreate: "+", plugin.TableAlter: "~", plugin.TableNone: " "}

func (s *Streams) planTables(p *plan.Plan) {
	var rows [][]string
	same := 0
	for _, t := range p.Tables {
		if t.Action == plugin.TableNone {
			same++
			continue
		}
		rows = append(rows, []string{s.sign(signs[t.Action]) + " " + printable(t.Ref.Name), string(t.Action), printable(describeTable(t))})
	}
	if len(p.Tables) == 0 {
		return
	}
	fmt.Fprintln(s.answer(), "\nTables")
	aligned(s.answer(), "  ", rows)
	if same > 0 {
		fmt.Fprintf(s.answer(), "    %s\n", quantity.Of(same, "table is as it should be", "tables are as they should be"))
	}
}

func (s *Streams) sign(sign string) string {
	switch sign {
	case "+":
		return s.paint(green, sign)
	case "~", "-/+":
		return s.paint(yellow, sign)
	case "!", "-":
		return s.paint(red, sign)
	}
	return sign
}

func describeTable(t plan.Table) string {
	if t.Action == plugin.TableAlter {
		text := strings.Join(t.Changes, ", ")
		if t.Class != "" {
			text += " (" + string(t.Class) + ")"
		}
		return text
	}
	text := quantity.Of(t.Extra, "column", "columns")
	if t.Captured > 0 {
		text = fmt.Sprintf("%s + %d of the pipeline", quantity.Of(t.Captured, "column", "columns"), t.Extra)
	}
	if len(t.Key) > 0 && t.Owner.Kind == addr.Silver {
		text += ", key " + diag.Columns(t.Key)
	}
	return text
}

func (s *Streams) planWork(p *plan.Plan) {
	if len(p.Steps) == 0 {
		return
	}
	fmt.Fprintln(s.answer(), "\nWork")
	width := 0
	for _, step := range p.Steps {
		width = max(width, len([]rune(step.Address.String())))
	}
	for _, step := range p.Steps {
		s.planStep(s.answer(), step, width)
	}
}

func (s *Streams) planStep(w io.Writer, step plan.Step, width int) {
	sign := ">"
	if step.Address.Kind == addr.Check {
		sign = "?"
	}
	kind, lines := string(step.Kind), slices.Clone(step.Detail)
	switch {
	case step.Diagnostics.HasErrors():
		sign, kind, lines = "!", "cannot run", []string{step.Diagnostics.Errors()[0].Summary}
	case !step.Blocked.IsZero():
		sign, kind, lines = "!", "waits", []string{"for " + step.Blocked.String() + ", which cannot run"}
	case step.Kind == plan.FullSnapshot || step.Kind == plan.Start || step.Kind == plan.Rebuild:
		lines = append(lines, "because "+step.Reason)
	}
	for _, c := range step.Changes {
		if !c.Refused { // a refused one is the error
			lines = append(lines, c.String())
		}
	}
	if !step.Accepted && step.NotAccepted != "" && sign != "!" {
		lines = append(lines, "not accepted yet: "+step.NotAccepted)
	}
	if len(lines) == 0 {
		lines = []string{""}
	}
	for i, line := range lines {
		lines[i] = printable(line)
	}
	head := fmt.Sprintf("  %s %-*s  %-13s  ", sign, width, step.Address, kind)
	indent := strings.Repeat(" ", len([]rune(head)))
	fmt.Fprintln(w, strings.TrimRight(strings.Replace(head, sign, s.sign(sign), 1)+lines[0], " "))
	for _, line := range lines[1:] {
		fmt.Fprintln(w, indent+line)
	}
}

func (s *Streams) planRemoved(p *plan.Plan) {
	if len(p.Removed) == 0 {
		return
	}
	fmt.Fprintln(s.answer(), "\nNo longer declared (data is kept)")
	for _, r := range p.Removed {
		text := r.Address.String()
		if r.Target != "" {
			text += "  " + r.Target
		}
		fmt.Fprintf(s.answer(), "  %s %s\n", s.sign("-"), printable(text))
	}
}

func planSummary(p *plan.Plan) string {
	kinds := map[addr.Kind]int{}
	snapshots, rebuilds := 0, 0
	for _, step := range p.Steps {
		kinds[step.Address.Kind]++
		switch step.Kind {
		case plan.FullSnapshot:
			snapshots++
		case plan.Rebuild:
			rebuilds++
		}
	}
	text := fmt.Sprintf("%s to create, %d to change. %s, %s and %s to run.",
		quantity.Of(p.Count(plugin.TableCreate), "table", "tables"), p.Count(plugin.TableAlter),
		quantity.Of(kinds[addr.Stream], "stream", "streams"), quantity.Of(kinds[addr.Silver], "silver", "silvers"), quantity.Of(kinds[addr.Check], "check", "checks"))
	if snapshots+rebuilds > 0 {
		text += fmt.Sprintf(" %s read whole, %s.", quantity.Of(snapshots, "table is", "tables are"), quantity.Of(rebuilds, "rebuild", "rebuilds"))
	}
	if n := len(p.Errors()); n > 0 {
		text += fmt.Sprintf(" %s.", quantity.Of(n, "error", "errors"))
	}
	return text
}
