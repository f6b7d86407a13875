// Package addr names the things a configuration declares: source.shop,
// stream.orders, silver.erp["eu"]. It parses, prints and orders addresses and
// knows nothing of what stands behind them.
package addr

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Kind is the first word of an address: the kind of block it names.
type Kind string

// The kinds of blocks that have addresses.
const (
	Source   Kind = "source"
	Sink     Kind = "sink"
	Table    Kind = "table"
	Stream   Kind = "stream"
	Silver   Kind = "silver"
	Check    Kind = "check"
	Schedule Kind = "schedule"
)

// Kinds lists every kind in the order in which blocks may refer back:
// a block refers only to kinds that stand before its own.
func Kinds() []Kind {
	return []Kind{Source, Sink, Table, Stream, Silver, Check, Schedule}
}

// Address names one instance of one block. The zero Address names nothing.
type Address struct {
	Kind Kind
	Name string
	// Key is the instance key of a block with for_each; Keyed tells an empty
	// key from no key.
	Key   string
	Keyed bool
}

// New returns the address of a block without for_each.
func New(kind Kind, name string) Address { return Address{Kind: kind, Name: name} }

// Instance returns the address of one for_each instance of a block.
func Instance(kind Kind, name, key string) Address {
	return Address{Kind: kind, Name: name, Key: key, Keyed: true}
}

// Block returns the address without its instance key.
func (a Address) Block() Address { return Address{Kind: a.Kind, Name: a.Name} }

// IsZero reports whether a names nothing.
func (a Address) IsZero() bool { return a == Address{} }

// String prints the address as it is written in HCL: kind.name or
// kind.name["key"].
func (a Address) String() string {
	if a.IsZero() {
		return ""
	}
	s := string(a.Kind) + "." + a.Name
	if a.Keyed {
		s += "[" + quote(a.Key) + "]"
	}
	return s
}

// Compare orders addresses by kind (in the order of Kinds), name and key; an
// address without key stands before those with one.
func Compare(a, b Address) int {
	if c := cmp.Compare(rank(a.Kind), rank(b.Kind)); c != 0 {
		return c
	}
	if c := cmp.Compare(a.Name, b.Name); c != 0 {
		return c
	}
	if a.Keyed != b.Keyed {
		if b.Keyed {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.Key, b.Key)
}

func rank(k Kind) int {
	for i, known := range Kinds() {
		if k == known {
			return i
		}
	}
	return len(Kinds())
}

// Parse reads an address in the form that String prints.
func Parse(s string) (Address, error) {
	kind, rest, ok := strings.Cut(s, ".")
	if !ok {
		return Address{}, fmt.Errorf("address %q: want KIND.NAME, for example stream.orders", s)
	}
	a := Address{Kind: Kind(kind)}
	if rank(a.Kind) == len(Kinds()) {
		return Address{}, fmt.Errorf("address %q: no kind %q; kinds are %s", s, kind, kindList())
	}
	name, key, keyed := strings.Cut(rest, "[")
	if !ValidName(name) {
		return Address{}, fmt.Errorf("address %q: %q is no name", s, name)
	}
	a.Name = name
	if keyed {
		text, closed := strings.CutSuffix(key, "]")
		if !closed {
			return Address{}, fmt.Errorf("address %q: the instance key lacks its closing ]", s)
		}
		value, err := unquote(text)
		if err != nil {
			return Address{}, fmt.Errorf("address %q: the instance key must be quoted, as in %s[\"eu\"]", s, a.Block())
		}
		a.Key, a.Keyed = value, true
	}
	return a, nil
}

// ValidName reports whether s may be the label of a block: a letter or
// underscore, then letters, digits, underscores and hyphens.
func ValidName(s string) bool {
	for i, r := range s {
		switch {
		case r == '_' || unicode.IsLetter(r):
		case i > 0 && (r == '-' || unicode.IsDigit(r)):
		default:
			return false
		}
	}
	return s != ""
}

func kindList() string {
	names := make([]string, 0, len(Kinds()))
	for _, k := range Kinds() {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

func quote(s string) string            { return strconv.Quote(s) }
func unquote(s string) (string, error) { return strconv.Unquote(s) }
