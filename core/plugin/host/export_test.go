package host

// Masked is a text as it is printed when the values are sensitive.
func Masked(text string, values ...string) string {
	h := New(Options{})
	h.Mask(values...)
	return h.mask.text(text)
}
