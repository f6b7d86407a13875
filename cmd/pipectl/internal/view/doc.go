// Package view is what a person or a program sees of pipectl: each result has
// a human and a JSON form. Views get values and write text; they call nothing
// and decide nothing.
package view
