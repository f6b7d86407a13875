package tsql

import (
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// pattern is one of LIKE and PATINDEX: each token takes one character, but % takes any number ("Microsoft: LIKE
// (Transact-SQL)").
type pattern struct {
	tokens []patternToken
	t      sqltype.Type
}

type patternToken struct {
	kind   patternKind
	char   rune
	ranges [][2]rune
}

type patternKind uint8

const (
	oneOf   patternKind = iota // the character itself
	anyOne                     // _
	anyMany                    // %
	inSet                      // [abc]
	notIn                      // [^abc]
	never                      // a set that is not closed
)

func newPattern(s string, escape rune, t sqltype.Type) *pattern {
	p := &pattern{t: t}
	rs := []rune(s)
	for i := 0; i < len(rs); i++ {
		switch c := rs[i]; {
		case escape != 0 && c == escape && i+1 < len(rs):
			i++
			p.tokens = append(p.tokens, patternToken{char: rs[i]})
		case c == '%':
			p.tokens = append(p.tokens, patternToken{kind: anyMany})
		case c == '_':
			p.tokens = append(p.tokens, patternToken{kind: anyOne})
		case c == '[':
			var tok patternToken
			tok, i = set(rs, i+1, escape)
			p.tokens = append(p.tokens, tok)
		default:
			p.tokens = append(p.tokens, patternToken{char: c})
		}
	}
	return p
}

// set reads what stands between brackets; it gives the place of the closing one.
func set(rs []rune, i int, escape rune) (patternToken, int) {
	tok := patternToken{kind: inSet}
	if i < len(rs) && rs[i] == '^' {
		tok.kind = notIn
		i++
	}
	take := func() rune {
		if escape != 0 && rs[i] == escape && i+1 < len(rs) {
			i++
		}
		c := rs[i]
		i++
		return c
	}
	for i < len(rs) && rs[i] != ']' {
		low := take()
		high := low
		if i+1 < len(rs) && rs[i] == '-' && rs[i+1] != ']' {
			i++
			high = take()
		}
		tok.ranges = append(tok.ranges, [2]rune{low, high})
	}
	if i >= len(rs) {
		return patternToken{kind: never}, i
	}
	return tok, i
}

func (tok *patternToken) takes(c rune, t sqltype.Type) bool {
	switch tok.kind {
	case oneOf:
		return t.CompareRune(c, tok.char) == 0
	case anyOne:
		return true
	case inSet, notIn:
		for _, r := range tok.ranges {
			if t.CompareRune(r[0], c) <= 0 && t.CompareRune(c, r[1]) <= 0 {
				return tok.kind == inSet
			}
		}
		return tok.kind == notIn
	}
	return false
}

// matches tells whether the whole text is what the pattern says. Blanks at the end of the text do not count, unless one of
// the two is Unicode.
func (p *pattern) matches(s string) bool {
	rs := []rune(s)
	if p.run(rs) {
		return true
	}
	if !p.t.Unicode() {
		for len(rs) > 0 && rs[len(rs)-1] == ' ' {
			rs = rs[:len(rs)-1]
			if p.run(rs) {
				return true
			}
		}
	}
	return false
}

// run goes back to the last % when a token does not fit: each of the others takes exactly one character.
func (p *pattern) run(rs []rune) bool {
	i, k := 0, 0
	star, mark := -1, 0
	for i < len(rs) {
		switch {
		case k < len(p.tokens) && p.tokens[k].kind == anyMany:
			star, mark = k, i
			k++
		case k < len(p.tokens) && p.tokens[k].takes(rs[i], p.t):
			i++
			k++
		case star >= 0:
			mark++
			i, k = mark, star+1
		default:
			return false
		}
	}
	for k < len(p.tokens) && p.tokens[k].kind == anyMany {
		k++
	}
	return k == len(p.tokens)
}

// patternCache keeps the last pattern: it is mostly the same for all rows.
type patternCache struct {
	t      sqltype.Type
	escape rune
	text   string
	last   *pattern
}

func (c *patternCache) of(text string) *pattern {
	if c.last == nil || c.text != text {
		c.text, c.last = strings.Clone(text), newPattern(text, c.escape, c.t)
	}
	return c.last
}

// patIndex is PATINDEX: where the first text begins that the pattern takes, 0 when there is none (Microsoft: PATINDEX
// (Transact-SQL)).
func patIndex(p *pattern, s string) int64 {
	rs := []rune(s)
	toks := p.tokens
	if len(toks) == 0 || toks[0].kind != anyMany {
		if p.run(rs) && len(rs) > 0 {
			return 1
		}
		return 0
	}
	rest := &pattern{tokens: toks[1:], t: p.t}
	for i := range len(rs) + 1 {
		if rest.run(rs[i:]) {
			if i == len(rs) && len(rs) > 0 {
				return int64(units(rs[:i-1])) + 1
			}
			return int64(units(rs[:i])) + 1
		}
	}
	return 0
}

// units counts characters as positions do: one above U+FFFF is two.
func units(rs []rune) int {
	n := len(rs)
	for _, r := range rs {
		if r > 0xFFFF {
			n++
		}
	}
	return n
}
