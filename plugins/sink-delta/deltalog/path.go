package deltalog

import (
	"fmt"
	"net/url"
	"strings"
)

// EncodePath turns an object path relative to the table into the form that the
// log keeps: a URI reference, percent-encoded, slashes left alone.
func EncodePath(path string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		c := path[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9',
			// RFC 2396 unreserved marks and what Hadoop's Path leaves as it is
			// in a path. A colon could be read as a scheme, so it is not here.
			strings.IndexByte("-_.!~*'()/=+,&@$", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
	return b.String()
}

// decodePath splits a path of the log into the location of a folder elsewhere
// (empty for a relative path) and an object path in it.
func decodePath(path string) (location, object string, err error) {
	if i := strings.IndexByte(path, ':'); i > 0 && isScheme(path[:i]) {
		u, err := url.Parse(path)
		if err != nil || u.Path == "" {
			return "", "", fmt.Errorf("%w: the path %q is no URI", ErrCorrupt, path)
		}
		slash := strings.LastIndexByte(u.Path, '/')
		folder := &url.URL{Scheme: u.Scheme, User: u.User, Host: u.Host, Path: u.Path[:slash+1]}
		return folder.String(), u.Path[slash+1:], nil
	}
	object, err = url.PathUnescape(path)
	if err != nil {
		return "", "", fmt.Errorf("%w: the path %q is not percent-encoded: %v", ErrCorrupt, path, err)
	}
	if strings.HasPrefix(object, "/") {
		slash := strings.LastIndexByte(object, '/')
		return (&url.URL{Scheme: "file", Path: object[:slash+1]}).String(), object[slash+1:], nil
	}
	return "", object, nil
}

// isScheme follows RFC 2396: a letter, then letters, digits, +, - and dots. A
// partition folder such as ts=12:30 has other characters in front of its colon.
func isScheme(s string) bool {
	for i, c := range []byte(s) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || !('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.')) {
			return false
		}
	}
	return s != ""
}
