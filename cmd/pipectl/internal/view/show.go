package view

import "fmt"

// Item is one declared thing with its arguments.
type Item struct {
	Address   string
	File      string
	Line      int
	Digest    string
	Arguments []Argument
}

// Argument is one argument; Value is "" when it has none.
type Argument struct{ Name, Value, Default, Description string }

// Show writes an item.
func (s *Streams) Show(i Item) error {
	if s.JSON {
		type argument struct {
			Name        string  `json:"name"`
			Value       *string `json:"value"`
			Default     *string `json:"default"`
			Description string  `json:"description"`
		}
		out := struct {
			Address   string     `json:"address"`
			File      string     `json:"file"`
			Line      int        `json:"line"`
			Digest    string     `json:"digest"`
			Arguments []argument `json:"arguments"`
		}{i.Address, i.File, i.Line, i.Digest, []argument{}}
		for _, a := range i.Arguments {
			out.Arguments = append(out.Arguments, argument{a.Name, filledText(a.Value), filledText(a.Default), a.Description})
		}
		return s.WriteJSON(out)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.answer(), "%s  (%s line %d)\n", printable(i.Address), printable(i.File), i.Line)
	var rows [][]string
	for _, a := range i.Arguments {
		value := a.Value
		switch {
		case value == "":
			value = "-"
		case value == a.Default:
			value += " (default)"
		}
		rows = append(rows, []string{a.Name, value, a.Description})
	}
	columns(s.answer(), "  ", rows)
	return nil
}
