package mssql

import (
	"net/url"
	"regexp"
	"sort"
	"strings"
)

// masker replaces secrets in what a driver or server says.
type masker struct {
	secrets []string
	words   []*regexp.Regexp
	users   []string
}

const masked = "***"

func newMasker(user, password, token, url string) masker {
	return masker{}.hide(url, token).with(user, password)
}

// with also hides a login's name and password.
func (m masker) with(user, password string) masker {
	m = m.hide(password)
	if user != "" {
		m.users = append(append([]string(nil), m.users...), user)
		m.words = append(append([]*regexp.Regexp(nil), m.words...), wholeWord(user))
	}
	return m
}

func wholeWord(s string) *regexp.Regexp {
	return regexp.MustCompile(`(^|[^\pL\pN_])` + regexp.QuoteMeta(s) + `($|[^\pL\pN_])`)
}

// hide hides texts in the forms in which they may be quoted.
func (m masker) hide(texts ...string) masker {
	m.secrets = append([]string(nil), m.secrets...)
	for _, s := range texts {
		if s == "" {
			continue
		}
		m.secrets = append(m.secrets, s)
		for _, form := range []string{strings.ReplaceAll(s, "}", "}}"), url.QueryEscape(s), url.PathEscape(s)} {
			if form != s {
				m.secrets = append(m.secrets, form)
			}
		}
	}
	// The longest first: a password may be part of the url.
	sort.SliceStable(m.secrets, func(i, j int) bool { return len(m.secrets[i]) > len(m.secrets[j]) })
	return m
}

// text is s without secrets.
func (m masker) text(s string) string {
	for _, secret := range m.secrets {
		if len(secret) < 4 {
			// A very short one is part of many words.
			s = wholeWord(secret).ReplaceAllString(s, "${1}"+masked+"${2}")
			continue
		}
		s = strings.ReplaceAll(s, secret, masked)
	}
	for _, w := range m.words {
		s = w.ReplaceAllString(s, "${1}"+masked+"${2}")
	}
	return s
}
