package tds

import (
	"encoding/binary"
	"fmt"
)

// Options of PRELOGIN (Microsoft: [MS-TDS] PRELOGIN).
const (
	preVersion    = 0
	preEncryption = 1
	preInstance   = 2
	preThread     = 3
	preMARS       = 4
	preFedAuth    = 6
	preEnd        = 0xFF
)

// Values of the ENCRYPTION option.
const (
	encOff          = 0 // the login only
	encOn           = 1
	encNotSupported = 2
	encRequired     = 3
)

// preOption is one option of a PRELOGIN message.
type preOption struct {
	id   byte
	data []byte
}

// parsePrelogin reads the options. Offsets count from the beginning of the message.
func parsePrelogin(b []byte) ([]preOption, error) {
	var opts []preOption
	for i := 0; ; i += 5 {
		if i < len(b) && b[i] == preEnd {
			return opts, nil
		}
		if i+5 > len(b) {
			return nil, fmt.Errorf("tds: PRELOGIN of %d bytes ends inside its list of options", len(b))
		}
		off, n := int(binary.BigEndian.Uint16(b[i+1:])), int(binary.BigEndian.Uint16(b[i+3:]))
		if off+n > len(b) {
			return nil, fmt.Errorf("tds: PRELOGIN of %d bytes: option %d is said to be at %d, %d bytes", len(b), b[i], off, n)
		}
		opts = append(opts, preOption{b[i], b[off : off+n]})
	}
}

// option is the data of an option, nil when it is not there.
func option(opts []preOption, id byte) []byte {
	for _, o := range opts {
		if o.id == id {
			return o.data
		}
	}
	return nil
}

// encryption answers the client's wish by the table of Microsoft: [MS-TDS] PRELOGIN, ENCRYPTION. The connection ends
// after the answer when refuse is true; a client that requires what the server has not ends it by itself.
func encryption(client byte, haveTLS, force bool) (answer byte, refuse bool) {
	switch {
	case !haveTLS:
		return encNotSupported, false
	case client == encOn, client == encRequired:
		return encOn, false
	case client == encOff && force:
		return encRequired, false
	case client == encOff:
		return encOff, false
	case force:
		return encRequired, true
	}
	return encNotSupported, false
}

// preloginAnswer is the server's message. FEDAUTHREQUIRED is answered only to those who asked.
func preloginAnswer(enc byte, asked []preOption) []byte {
	opts := []preOption{
		{preVersion, append(serverVersion[:], 0, 0)}, {preEncryption, []byte{enc}}, {preInstance, []byte{0}}, {preThread, nil}, {preMARS, []byte{0}},
	}
	if len(option(asked, preFedAuth)) > 0 {
		opts = append(opts, preOption{preFedAuth, []byte{0}})
	}
	off := 5*len(opts) + 1
	var list, data []byte
	for _, o := range opts {
		list = append(list, o.id)
		list = binary.BigEndian.AppendUint16(list, uint16(off+len(data)))
		list = binary.BigEndian.AppendUint16(list, uint16(len(o.data)))
		data = append(data, o.data...)
	}
	return append(append(list, preEnd), data...)
}

// preloginDetail is what an event tells of the message.
func preloginDetail(opts []preOption, strict bool) map[string]any {
	d := map[string]any{"strict": strict}
	for _, o := range opts {
		name := map[byte]string{preVersion: "VERSION", preEncryption: "ENCRYPTION", preInstance: "INSTOPT", preThread: "THREADID", preMARS: "MARS", 5: "TRACEID", preFedAuth: "FEDAUTHREQUIRED", 7: "NONCEOPT"}[o.id]
		if name == "" {
			name = fmt.Sprintf("option 0x%02x", o.id)
		}
		d[name] = fmt.Sprintf("%x", o.data)
	}
	return d
}
