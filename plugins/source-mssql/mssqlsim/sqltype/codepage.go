package sqltype

// The characters of code page 1252 at 0x80 to 0x9F; 0 is undefined.
var cp1252 = [32]rune{0x20AC, 0, 0x201A, 0x192, 0x201E, 0x2026, 0x2020, 0x2021, 0x2C6, 0x2030, 0x160, 0x2039, 0x152, 0, 0x17D, 0, 0,
	0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x2DC, 0x2122, 0x161, 0x203A, 0x153, 0, 0x17E, 0x178}

// Encode1252 gives text in code page 1252; what it lacks becomes a question mark.
func Encode1252(s string) string {
	b := make([]byte, 0, len(s))
next:
	for _, r := range s {
		if r < 0x80 || r >= 0xA0 && r < 0x100 {
			b = append(b, byte(r))
			continue
		}
		for i, c := range cp1252 {
			if c == r && c != 0 {
				b = append(b, byte(0x80+i))
				continue next
			}
		}
		b = append(b, '?')
	}
	return string(b)
}

// Decode1252 reads text of code page 1252.
func Decode1252(s string) string {
	u := make([]rune, len(s))
	for i := range len(s) {
		c := s[i]
		u[i] = rune(c)
		if c >= 0x80 && c < 0xA0 && cp1252[c-0x80] != 0 {
			u[i] = cp1252[c-0x80]
		}
	}
	return string(u)
}
