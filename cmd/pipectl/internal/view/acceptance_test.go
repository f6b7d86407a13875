package view

import "testing"

// An apply that failed half says which half.
func TestWhatAFailedApplyHasAccepted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a    Acceptance
		file bool
		want string
	}{
		{Acceptance{Accepted: []string{"stream.a"}}, false,
			"All of it is accepted: `pipectl run` goes on from here, and so does `pipectl apply`."},
		{Acceptance{Not: []string{"stream.a"}}, false,
			"Nothing of it is accepted. Once the cause is gone, apply again: what is done is not done again."},
		{Acceptance{Accepted: []string{"stream.a", "silver.a"}, Not: []string{"stream.b"}}, false,
			"Accepted: stream.a, silver.a. Not accepted: stream.b.\nOnce the cause is gone, apply again: it goes on from here. Meanwhile `pipectl run` carries out what is accepted."},
		{Acceptance{Refused: []string{"stream.a"}}, false,
			"Accepted before, and refused by `pipectl run` as it is now: stream.a.\nOnce the cause is gone, apply again: what is done is not done again."},
		{Acceptance{Accepted: []string{"stream.a"}, Refused: []string{"silver.a"}, Not: []string{"check.a"}}, true,
			"Accepted before, and refused by `pipectl run` as it is now: silver.a. Not accepted: check.a.\nOnce the cause is gone, make a new plan and apply it: what is done is not done again. Meanwhile `pipectl run` carries out stream.a."},
		{Acceptance{Not: []string{"stream.a"}}, true,
			"Nothing of it is accepted. Once the cause is gone, make a new plan and apply it: what is done is not done again."},
	} {
		if got := acceptedText(c.a, c.file); got != c.want {
			t.Errorf("%+v: %s", c.a, got)
		}
	}
}
