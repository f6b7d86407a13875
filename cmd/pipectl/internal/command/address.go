package command

import (
	"fmt"
	"strings"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/nearest"
)

// resolveAll turns names of the command line into addresses.
func (w *workspace) resolveAll(names []string) ([]addr.Address, error) {
	var out []addr.Address
	for _, name := range names {
		a, err := w.resolve(name)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// resolve finds what a name means: an address, or the name of a declared
// table, of which several sinks may have one each.
func (w *workspace) resolve(name string) (addr.Address, error) {
	var byTable []addr.Address
	for _, s := range w.config.Streams {
		if s.Target == name {
			byTable = append(byTable, s.Addr)
		}
	}
	for _, v := range w.config.Silvers {
		if v.Target == name {
			byTable = append(byTable, v.Addr)
		}
	}
	a, err := addr.Parse(name)
	declared := err == nil && w.declares(a)
	switch {
	case declared: // a table that something else is addressed as is refused with the text
		return a, nil
	case len(byTable) == 1:
		return byTable[0], nil
	case len(byTable) > 1:
		// Sinks of one configuration may each have a table of this name.
		return a, diag.Errorf(diag.KindConfiguration, "address.ambiguous", fmt.Sprintf("Name the one that is meant by its address: %s.", listed(byTable)),
			"%d tables are called %s, one in each of several sinks", len(byTable), name).Err()
	}
	return a, diag.Errorf(diag.KindConfiguration, "address.unknown", likeIt(name, w.addresses(), w.tables()), "Nothing is called %s", name).Err()
}

// resolveOne is resolve for what has to be one thing: a block with for_each stands
// for all its instances.
func (w *workspace) resolveOne(name string) (addr.Address, error) {
	a, err := w.resolve(name)
	if err != nil {
		return a, err
	}
	if _, declared := w.config.OriginOf(a); declared {
		return a, nil
	}
	var instances []addr.Address
	for _, i := range w.config.Addresses() {
		if i.Block() == a {
			instances = append(instances, i)
		}
	}
	return a, diag.Errorf(diag.KindConfiguration, "address.instances", fmt.Sprintf("It has %s.", listed(instances)), "%s has for_each: name one of its instances", a).Err()
}

func listed(addresses []addr.Address) string {
	texts := make([]string, len(addresses))
	for i, a := range addresses {
		texts[i] = a.String()
	}
	return diag.Listed(texts)
}

// likeIt says for a name that nothing has what there is, and what is like it.
func likeIt(name string, addresses, tables []string) string {
	sentences := func(parts ...string) string { return strings.TrimSpace(strings.Join(parts, " ")) }
	head, rest, _ := strings.Cut(name, ".")
	for _, candidates := range [][]string{addresses, tables} {
		// Names of one kind, or of tables in one place, are told apart by what follows.
		var same, ends []string
		for _, c := range candidates {
			if h, end, _ := strings.Cut(c, "."); h == head {
				same, ends = append(same, c), append(ends, end)
			}
		}
		if len(same) > 0 {
			return sentences("This configuration declares: "+diag.Listed(same)+".", nearest.DidYouMean(rest, head+".", ends))
		}
	}
	declared := "This configuration declares: " + diag.Listed(addresses) + "."
	var named []string
	for _, text := range addresses {
		if a, err := addr.Parse(text); err == nil && a.Name == name {
			named = append(named, text)
		}
	}
	if len(named) > 0 {
		return "Say which one: " + diag.Listed(named) + "."
	}
	return sentences(declared, nearest.DidYouMean(name, "", append(addresses, tables...)))
}

// tables lists the names of the tables that are declared.
func (w *workspace) tables() []string {
	var out []string
	for _, s := range w.config.Streams {
		out = append(out, s.Target)
	}
	for _, v := range w.config.Silvers {
		out = append(out, v.Target)
	}
	return out
}

// declares reports whether an address, or the block of instances that it
// names, is declared.
func (w *workspace) declares(a addr.Address) bool {
	if _, ok := w.config.OriginOf(a); ok {
		return true
	}
	for _, text := range w.addresses() {
		if b, err := addr.Parse(text); err == nil && b.Block() == a {
			return true
		}
	}
	return false
}

// addresses lists what commands can name.
func (w *workspace) addresses() []string {
	var out []string
	for _, a := range w.config.Addresses() {
		out = append(out, a.String())
	}
	return out
}
