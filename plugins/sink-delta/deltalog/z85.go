package deltalog

import "fmt"

// z85Alphabet is that of ZeroMQ RFC 32.
const z85Alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"

var z85Values = func() (v [256]int16) {
	for i := range v {
		v[i] = -1
	}
	for i, c := range []byte(z85Alphabet) {
		v[c] = int16(i)
	}
	return v
}()

// encodeZ85 turns bytes, a multiple of four of them, into text of five
// characters for each four.
func encodeZ85(data []byte) string {
	out := make([]byte, 0, len(data)/4*5)
	for i := 0; i+4 <= len(data); i += 4 {
		n := uint32(data[i])<<24 | uint32(data[i+1])<<16 | uint32(data[i+2])<<8 | uint32(data[i+3])
		var group [5]byte
		for j := 4; j >= 0; j-- {
			group[j] = z85Alphabet[n%85]
			n /= 85
		}
		out = append(out, group[:]...)
	}
	return string(out)
}

// decodeZ85 is the reverse of encodeZ85.
func decodeZ85(text string) ([]byte, error) {
	if len(text)%5 != 0 {
		return nil, fmt.Errorf("z85 text of %d characters; it must be a multiple of 5", len(text))
	}
	out := make([]byte, 0, len(text)/5*4)
	for i := 0; i < len(text); i += 5 {
		var n uint64
		for j := i; j < i+5; j++ {
			v := z85Values[text[j]]
			if v < 0 {
				return nil, fmt.Errorf("z85 text holds %q at %d", text[j], j)
			}
			n = n*85 + uint64(v)
		}
		if n > 1<<32-1 {
			return nil, fmt.Errorf("z85 group %q at %d is above 32 bits", text[i:i+5], i)
		}
		out = append(out, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	return out, nil
}
