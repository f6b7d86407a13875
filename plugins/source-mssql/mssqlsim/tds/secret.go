package tds

import (
	"errors"
	"regexp"
)

// What a trace does not show: the passwords of statements and calls (Microsoft: CREATE LOGIN, ALTER LOGIN, CREATE USER,
// OPEN SYMMETRIC KEY; sp_addlogin, sp_password, sp_setapprole and their like). A password whose quotation marks are doubled
// is within a text, where its end is not known: what follows it is not shown either.
var (
	passwordText  = regexp.MustCompile(`(?i)(password\s*=\s*)(n?''(?s:.*)|n?'(?:[^']|'')*'?|0x[0-9a-f]*)`)
	secretCall    = regexp.MustCompile(`(?i)\b(sp_addlogin|sp_password|sp_addapprole|sp_approlepassword|sp_setapprole|sp_addlinkedsrvlogin)\b`)
	anyText       = regexp.MustCompile(`'(?:[^']|'')*'?`)
	hiddenText    = "'***'"
	hiddenByWords = "${1}" + hiddenText
)

// hide takes passwords out of a statement.
func hide(sql string) string {
	if secretCall.MatchString(sql) {
		return anyText.ReplaceAllLiteralString(sql, hiddenText)
	}
	return passwordText.ReplaceAllString(sql, hiddenByWords)
}

// shown gives the parameters of a call as a trace shows them: none of a call that has a password among them.
func (c rpcCall) shown() (out []string) {
	secret := secretCall.MatchString(c.proc)
	for _, p := range c.params {
		if s, ok := p.Value.(string); ok {
			secret = secret || secretCall.MatchString(s)
		}
	}
	for _, p := range c.params {
		if s, ok := p.Value.(string); ok && (!secret || secretCall.MatchString(s)) {
			p.Value = hide(s)
		} else if secret && p.Value != nil {
			p.Value = "***"
		}
		out = append(out, p.String())
	}
	return out
}

// unclosedText is the number of the error that quotes the end of a statement (Microsoft: Database engine events and
// errors 0 to 999), which may be a password.
const unclosedText = 105

// traced is the text of an error in a trace.
func traced(err error) string {
	var e *Error
	if errors.As(err, &e) && e.Number == unclosedText {
		return "Unclosed quotation mark (105)"
	}
	return hide(err.Error())
}
