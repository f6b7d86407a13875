// Package collation holds the collations of SQL Server: their names, locales, code pages and how they are written on the wire.
// It knows what a code page keeps of a text; in which order texts are, package sqltype knows.
package collation

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Collation is one collation.
type Collation struct {
	Name    string
	LCID    uint32 // with the sort in the bits from 16 (Microsoft: [MS-LCID])
	Page    Page   // of char, varchar and text
	Version uint8  // 0, 1 for _90, 2 for _100, 3 for _140 (Microsoft: COLLATIONPROPERTY (Transact-SQL))
	SortID  uint8  // of SQL collations
	Flags   Flags
	base    string // the designator, with hyphens
}

// Flags are what a comparison ignores, and more.
type Flags uint16

// The flags, the first seven as they are on the wire (Microsoft: [MS-TDS] Collation Rule Definition).
const (
	IgnoreCase Flags = 1 << iota
	IgnoreAccent
	IgnoreKana
	IgnoreWidth
	Binary
	Binary2
	WithUTF8
	Supplementary
	VariationSelectors

	wireFlags = 1<<7 - 1
)

// Has tells whether all of the flags are set.
func (c *Collation) Has(f Flags) bool { return c.Flags&f == f }

// Bytes are the collation as it is on the wire (Microsoft: [MS-TDS] Collation Rule Definition).
func (c *Collation) Bytes() [5]byte {
	info := c.LCID&0xFFFFF | uint32(c.Flags&wireFlags)<<20 | uint32(c.Version)<<28
	return [5]byte{byte(info), byte(info >> 8), byte(info >> 16), byte(info >> 24), c.SortID}
}

// Style is the ComparisonStyle of COLLATIONPROPERTY: the flags of Windows for case, accents, kana and width (Microsoft:
// COLLATIONPROPERTY (Transact-SQL)).
func (c *Collation) Style() int {
	style := 0
	for f, n := range map[Flags]int{IgnoreCase: 1, IgnoreAccent: 2, IgnoreKana: 0x10000, IgnoreWidth: 0x20000} {
		if c.Has(f) {
			style |= n
		}
	}
	return style
}

// Description is that of fn_helpcollations (Microsoft: sys.fn_helpcollations (Transact-SQL)).
func (c *Collation) Description() string {
	sensitive := func(f Flags, what string) string {
		if c.Has(f) {
			return ", " + what + "-insensitive"
		}
		return ", " + what + "-sensitive"
	}
	s := c.base
	switch {
	case c.Has(Binary):
		s += ", binary sort"
	case c.Has(Binary2):
		s += ", binary code point comparison sort"
	default:
		s += sensitive(IgnoreCase, "case") + sensitive(IgnoreAccent, "accent") + sensitive(IgnoreKana, "kanatype") + sensitive(IgnoreWidth, "width")
		if c.Has(Supplementary) {
			s += ", supplementary characters"
			if c.Version == 3 && c.Has(VariationSelectors) {
				s += ", variation selector sensitive"
			} else if c.Version == 3 {
				s += ", variation selector insensitive"
			}
		}
	}
	if c.Has(WithUTF8) {
		s += ", UTF8"
	}
	if c.SortID != 0 {
		s += " for Unicode Data, SQL Server Sort Order " + strconv.Itoa(int(c.SortID)) + " on Code Page " + strconv.Itoa(int(c.Page)) + " for non-Unicode Data"
	}
	return s
}

// Find gives a collation by its name, in whatever case.
func Find(name string) (*Collation, bool) {
	i, ok := Index(name)
	if !ok {
		return nil, false
	}
	return At(i), true
}

// Index gives the place of a collation among all of them, which is a shorter name for it.
func Index(name string) (int, bool) {
	a := all()
	i, ok := a.byName[name]
	if !ok {
		i, ok = a.byFold[strings.ToLower(name)]
	}
	return i, ok
}

// At gives the collation at a place that Index gave.
func At(i int) *Collation { return &all().list[i] }

// Hidden tells whether a name is one of a collation that exists but is not here: nobody may call it unknown.
func Hidden(name string) bool {
	return slices.ContainsFunc(hidden, func(h string) bool {
		if len(name) < len(h) || !strings.EqualFold(name[:len(h)], h) {
			return false
		}
		_, known := flagsOf(name[len(h):])
		return known || len(name) == len(h)
	})
}

// All gives every collation, in the order of their names.
func All() iter.Seq[*Collation] {
	return func(yield func(*Collation) bool) {
		a := all()
		for i := range a.list {
			if !yield(&a.list[i]) {
				return
			}
		}
	}
}

// PageOf gives the code page of a collation as it is on the wire. A locale that no collation has, as clients send their own
// machine's, has the page of its language, or 1252.
func PageOf(wire [5]byte) Page {
	a := all()
	info := uint32(wire[0]) | uint32(wire[1])<<8 | uint32(wire[2])<<16 | uint32(wire[3])<<24
	if info>>20&uint32(WithUTF8) != 0 {
		return UTF8
	}
	if p, ok := a.bySort[wire[4]]; ok {
		return p
	}
	if p, ok := a.byLocale[info&0xFFFF]; ok {
		return p
	}
	if p, ok := a.byLanguage[info&0x3FF]; ok {
		return p
	}
	return Western
}

// index is all collations and the ways to find them.
type index struct {
	list                 []Collation
	byName, byFold       map[string]int
	bySort               map[uint8]Page
	byLocale, byLanguage map[uint32]Page
}

var all = sync.OnceValue(func() *index {
	a := &index{byName: map[string]int{}, byFold: map[string]int{}, bySort: map[uint8]Page{}, byLocale: map[uint32]Page{}, byLanguage: map[uint32]Page{}}
	base := map[string]designator{}
	for _, d := range designators {
		base[d.name] = d
		if d.page != Unicode {
			a.byLocale[d.lcid&0xFFFF] = d.page
			if _, ok := a.byLanguage[d.lcid&0x3FF]; !ok || d.lcid&0xFC00 == 0x0400 { // of several countries the first speaks for the language
				a.byLanguage[d.lcid&0x3FF] = d.page
			}
		}
		for _, v := range d.versions {
			a.version(d, v)
		}
	}
	for _, s := range sqlCollations {
		rest := s.name[strings.Index(s.name, "_CP")+1:]
		flags, _ := flagsOf(rest[strings.IndexByte(rest, '_'):])
		a.bySort[s.sortID] = s.page
		a.list = append(a.list, Collation{Name: s.name, LCID: base[s.windows].lcid, Page: s.page, SortID: s.sortID, Flags: flags, base: strings.ReplaceAll(s.windows, "_", "-")})
	}
	slices.SortFunc(a.list, func(x, y Collation) int { return strings.Compare(strings.ToLower(x.Name), strings.ToLower(y.Name)) })
	for i, c := range a.list {
		a.byName[c.Name], a.byFold[strings.ToLower(c.Name)] = i, i
	}
	return a
})

// version adds the collations of one version of a designator. (Microsoft: Collation and Unicode Support: Supplementary
// characters, Variation selectors and UTF-8 support say from which version on there is what.)
func (a *index) version(d designator, v int) {
	name, number := d.name, map[int]uint8{90: 1, 100: 2, 140: 3}[v]
	if v != 0 {
		name += "_" + strconv.Itoa(v)
	}
	tails := []string{""}
	switch v {
	case 90, 100:
		tails = append(tails, "_SC", "_SC_UTF8")
	case 140:
		tails = append(tails, "_VSS", "_UTF8", "_VSS_UTF8")
	}
	add := func(style string) {
		flags, ok := flagsOf(style)
		if !ok {
			return
		}
		if v == 140 && flags&(Binary|Binary2) == 0 {
			flags |= Supplementary
		}
		c := Collation{Name: name + style, LCID: d.lcid, Page: d.page, Version: number, Flags: flags, base: strings.ReplaceAll(name, "_", "-")}
		if flags&WithUTF8 != 0 {
			c.Page = UTF8
		}
		a.list = append(a.list, c)
	}
	add("_BIN")
	add("_BIN2")
	if name == "Latin1_General_100" {
		add("_BIN2_UTF8")
	}
	for _, letters := range []string{"_CI_AI", "_CI_AS", "_CS_AI", "_CS_AS"} {
		for _, more := range []string{"", "_WS", "_KS", "_KS_WS"} {
			for _, tail := range tails {
				add(letters + more + tail)
			}
		}
	}
}

// flagsOf reads the style at the end of a name (Microsoft: Windows Collation Name (Transact-SQL), ComparisonStyle).
func flagsOf(style string) (f Flags, ok bool) {
	parts := strings.Split(strings.TrimPrefix(strings.ToUpper(style), "_"), "_")
	f = IgnoreKana | IgnoreWidth
	for _, p := range parts {
		switch p {
		case "BIN":
			f = f&WithUTF8 | Binary
		case "BIN2":
			f = f&WithUTF8 | Binary2
		case "CI":
			f |= IgnoreCase
		case "AI":
			f |= IgnoreAccent
		case "CS", "AS":
		case "KS":
			f &^= IgnoreKana
		case "WS":
			f &^= IgnoreWidth
		case "SC":
			f |= Supplementary
		case "VSS":
			f |= Supplementary | VariationSelectors
		case "UTF8":
			f |= WithUTF8
		default:
			return 0, false
		}
	}
	return f, true
}
