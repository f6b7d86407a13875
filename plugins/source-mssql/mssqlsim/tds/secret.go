package tds

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// What a trace does not show: the passwords of statements and calls (Microsoft: CREATE LOGIN, ALTER LOGIN, CREATE USER, CREATE
// CREDENTIAL, OPEN SYMMETRIC KEY, CREATE SYMMETRIC KEY, ENCRYPTBYPASSPHRASE; sp_addlogin, sp_password, sp_setapprole and their
// like). Too much is hidden rather than too little: of a statement with one of these calls no text is shown at all.
var (
	secretCall = pattern{regexp.MustCompile(`(?i)(sp_addlogin|sp_password|sp_addapprole|sp_approlepassword|sp_setapprole|sp_addlinkedsrvlogin|sp_change_users_login|sp_control_dbmasterkey_password|cryptbypassphrase)`)}
	secretWord = pattern{regexp.MustCompile(`(?i)password|passphrase|^@?pwd$|^@?secret$|^key_source$|^identity_value$`)}
)

// pattern is looked for in texts that may have it alone: nearly none has, and a regular expression takes long to find none.
type pattern struct{ expression *regexp.Regexp }

func (p pattern) in(text string) bool { return !harmless(text) && p.expression.MatchString(text) }

const hiddenText = "'***'"

// secretSigns are in every text that has a secretCall or a secretWord: without one it need not be taken apart.
var secretSigns = []string{"pass", "pwd", "secret", "key_source", "identity_value", "sp_addlogin", "approle", "sp_addlinkedsrvlogin", "sp_change_users_login"}

// harmless tells that a text has none of secretSigns. Letters beyond ASCII may be other forms of their letters.
func harmless(sql string) bool {
	for i := range len(sql) {
		if sql[i] >= utf8.RuneSelf {
			return false
		}
	}
	lower := strings.ToLower(sql)
	return !slices.ContainsFunc(secretSigns, func(sign string) bool { return strings.Contains(lower, sign) })
}

// lexeme is a part of a statement: a text with its quotation marks, a number, a name, blanks and comments, or one sign.
var lexeme = regexp.MustCompile(`(?is)[Nn]?'(?:[^']|'')*(?:'|$)|/\*.*?(?:\*/|$)|--[^\n]*|\s+|0x[0-9a-f]*|\[[^\]]*(?:\]|$)|"[^"]*(?:"|$)|[\p{L}\p{Nd}_@#$]+|.`)

// hiding takes the passwords out of one text.
type hiding struct {
	parts []string
	// within: the text is in quotation marks, where a connection string may have a password without any.
	within bool
	// found: something was hidden; elsewhere: a password is in a parameter, or may be; open: where the password ends is not known.
	found, elsewhere, open bool
}

// hide takes passwords out of a statement.
func hide(sql string) string {
	s, _ := hidden(sql, false)
	return s
}

func hidden(sql string, within bool) (string, *hiding) {
	if harmless(sql) {
		return sql, &hiding{within: within}
	}
	h := &hiding{parts: lexeme.FindAllString(sql, -1), within: within}
	all := secretCall.in(sql)
	for i := 0; i < len(h.parts); i++ {
		switch p := h.parts[i]; {
		case isText(p) && (all || h.open), isBinary(p) && (all || h.open):
			h.conceal(i)
		case isText(p):
			h.inside(i)
		case h.open:
			h.parts[i] = ""
		case secretWord.in(strings.Trim(p, `[]"`)) && !isBlank(p):
			i = h.value(i)
		}
	}
	h.elsewhere = h.elsewhere || all
	return strings.Join(h.parts, ""), h
}

func isText(p string) bool {
	return strings.HasPrefix(p, "'") || len(p) > 1 && (p[0] == 'N' || p[0] == 'n') && p[1] == '\''
}

func isBinary(p string) bool { return len(p) > 1 && strings.EqualFold(p[:2], "0x") }

func isBlank(p string) bool {
	return strings.TrimSpace(p) == "" || strings.HasPrefix(p, "--") || strings.HasPrefix(p, "/*")
}

func (h *hiding) conceal(i int) {
	h.parts[i], h.found = hiddenText, true
}

// next gives the place of the next part behind i that says something.
func (h *hiding) next(i int) int {
	for i++; i < len(h.parts) && isBlank(h.parts[i]); i++ {
	}
	return i
}

func (h *hiding) at(i int) string {
	if i < len(h.parts) {
		return h.parts[i]
	}
	return ""
}

// value hides what stands behind the word at i and gives the place of what was looked at last. Between the two there may be a
// type, as in DECLARE, and an equals sign.
func (h *hiding) value(i int) int {
	last, equals := i, false
	for j, words := h.next(i), 0; ; j = h.next(j) {
		p := h.at(j)
		switch {
		case p == "":
			h.open = h.open || equals && h.within
			return last
		case isText(p):
			h.open = h.open || h.within // quotation marks within a text may be those of its end
			h.conceal(j)
		case isBinary(p):
			h.conceal(j)
		case p == "=":
			equals, last = true, j
			continue
		case p == "+" && last > i && equals:
			continue
		case equals && strings.HasPrefix(p, "@"):
			h.elsewhere = true
		case equals && h.within: // up to the end of this part of a connection string
			for ; h.at(j) != "" && h.at(j) != ";"; j++ {
				h.parts[j] = ""
			}
			h.parts[j-1], h.found = "***", true
			return j - 1
		case !equals && words < 6 && !strings.ContainsAny(p, ",;'"):
			words++ // of a type, perhaps
			continue
		default:
			return last
		}
		last = j
		if n := h.next(j); h.at(n) != "+" {
			return last
		}
	}
}

// inside hides what a text has of passwords, which may be a statement of its own.
func (h *hiding) inside(i int) {
	p := h.parts[i]
	from := strings.IndexByte(p, '\'') + 1
	to := len(p)
	closed := to > from && strings.HasSuffix(p, "'") && strings.Count(p, "'")%2 == 0
	if closed {
		to--
	}
	text, inner := hidden(strings.ReplaceAll(p[from:to], "''", "'"), true)
	h.elsewhere, h.open = h.elsewhere || inner.elsewhere, h.open || inner.open
	if !inner.found {
		return
	}
	h.found = true
	h.parts[i] = p[:from] + strings.ReplaceAll(text, "'", "''")
	if closed {
		h.parts[i] += "'"
	}
}

// shown gives the parameters of a call as a trace shows them: none of a call that has a password among them.
func (c rpcCall) shown() (out []string) {
	secret := secretCall.in(c.proc)
	for _, p := range c.params {
		if s, ok := textOf(p.Value); ok {
			_, h := hidden(s, false)
			secret = secret || h.elsewhere
		}
	}
	for _, p := range c.params {
		s, ok := textOf(p.Value)
		switch {
		case p.Value == nil:
		case ok && (!secret || secretWord.in(s) || secretCall.in(s)) && !secretWord.in(p.Name):
			p.Value = hide(s)
		case secret || secretWord.in(p.Name):
			p.Value = "***"
		}
		out = append(out, p.String())
	}
	return out
}

// textOf gives the text of a parameter, that of a sql_variant too.
func textOf(v any) (string, bool) {
	if t, ok := v.(Typed); ok {
		v = t.Value
	}
	s, ok := v.(string)
	return s, ok
}

// secretive tells whether a call has a password among its parameters.
func (c rpcCall) secretive() bool {
	if secretCall.in(c.proc) {
		return true
	}
	for _, p := range c.params {
		if s, ok := textOf(p.Value); secretWord.in(p.Name) || ok && (secretWord.in(s) || secretCall.in(s)) {
			return true
		}
	}
	return false
}

// unclosedText is the number of the error that quotes the end of a statement (Microsoft: Database engine events and errors 0 to
// 999).
const unclosedText = 105

// traced is the text of an error in a trace. Errors quote what they do not understand, which may be a password: of a request that has
// one, only the number is shown.
func traced(err error, secretive bool) string {
	var e *Error
	if errors.As(err, &e) && (secretive || e.Number == unclosedText) {
		return fmt.Sprintf("error %d, whose text may quote a password", e.Number)
	}
	return hide(err.Error())
}
