package view

import "github.com/pipectl/pipectl/core/diag"

// Acceptance is how far an apply came that did not end well: the addresses of
// the plan that a run carries out from now on, and those that are not accepted.
type Acceptance struct {
	Accepted, Not []string
	// Refused are accepted as well, and no run carries them out: their plan had an
	// error, or their table is still to be taken over.
	Refused []string
}

// Accepted tells what an apply that did not end well has accepted. fromFile
// tells that it carried out a saved plan, which what was done has overtaken.
func (r *Run) Accepted(a Acceptance, fromFile bool) {
	r.accepted = &a
	if !r.s.JSON {
		r.s.Logf("%s\n", acceptedText(a, fromFile))
	}
}

func acceptedText(a Acceptance, fromFile bool) string {
	again := "apply again"
	if fromFile {
		again = "make a new plan and apply it"
	}
	switch {
	case len(a.Refused) > 0:
		return refusedText(a, again)
	case len(a.Not) == 0:
		return "All of it is accepted: `pipectl run` goes on from here, and so does `pipectl apply`."
	case len(a.Accepted) == 0:
		return "Nothing of it is accepted. Once the cause is gone, " + again + ": what is done is not done again."
	}
	return "Accepted: " + diag.Listed(a.Accepted) + ". Not accepted: " + diag.Listed(a.Not) + ".\n" +
		"Once the cause is gone, " + again + ": it goes on from here. Meanwhile `pipectl run` carries out what is accepted."
}

// refusedText is of an apply that leaves something which was accepted before and
// which a run refuses, too.
func refusedText(a Acceptance, again string) string {
	text := "Accepted before, and refused by `pipectl run` as it is now: " + diag.Listed(a.Refused) + "."
	if len(a.Not) > 0 {
		text += " Not accepted: " + diag.Listed(a.Not) + "."
	}
	text += "\nOnce the cause is gone, " + again + ": what is done is not done again."
	if len(a.Accepted) > 0 {
		text += " Meanwhile `pipectl run` carries out " + diag.Listed(a.Accepted) + "."
	}
	return text
}
