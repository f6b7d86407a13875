package tds

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Feature is one entry of the FEATUREEXT block of LOGIN7 (Microsoft: [MS-TDS] LOGIN7, FeatureExt).
type Feature struct {
	ID   byte
	Data []byte
}

// featureUTF8 is UTF8_SUPPORT, the only feature the server has.
const featureUTF8 = 10

func (f Feature) name() string {
	switch f.ID {
	case 1:
		return "SESSIONRECOVERY"
	case 2:
		return "FEDAUTH"
	case 4:
		return "COLUMNENCRYPTION"
	case 5:
		return "GLOBALTRANSACTIONS"
	case 8:
		return "AZURESQLSUPPORT"
	case 9:
		return "DATACLASSIFICATION"
	case featureUTF8:
		return "UTF8_SUPPORT"
	case 11:
		return "AZURESQLDNSCACHING"
	case 13:
		return "JSONSUPPORT"
	case 14:
		return "VECTORSUPPORT"
	case 15:
		return "ENHANCEDROUTING"
	case 16:
		return "USERAGENT"
	}
	return fmt.Sprintf("feature 0x%02x", f.ID)
}

// String names the feature; its data may hold a token of an identity provider and is left out.
func (f Feature) String() string { return fmt.Sprintf("%s (%d bytes)", f.name(), len(f.Data)) }

// Login is the LOGIN7 record of a connection.
type Login struct {
	// NewPassword is what a client wants to log in with from now on; "" changes nothing.
	NewPassword                                                    string
	User, Password, App, Host, Server, Library, Language, Database string
	// Process is the number of the client's process.
	Process uint32
	// TDSVersion is the version the client asks for, 0x74000004 and so on; 0x08000000 with strict encryption.
	TDSVersion uint32
	// PacketSize is what the client asks for; 0 leaves it to the server.
	PacketSize                        int
	Flags1, Flags2, TypeFlags, Flags3 byte
	// Integrated: the client sent SSPI data in place of a password.
	Integrated bool
	Features   []Feature
}

// ReadOnlyIntent tells whether the client declared ApplicationIntent=ReadOnly (Microsoft: [MS-TDS] LOGIN7, TypeFlags).
func (l Login) ReadOnlyIntent() bool { return l.TypeFlags&0x20 != 0 }

// String is the login in readable form, without its password.
func (l Login) String() string {
	return fmt.Sprintf("user %q database %q app %q host %q library %q tds %08x packet %d", l.User, l.Database, l.App, l.Host, l.Library, l.TDSVersion, l.PacketSize)
}

// GoString keeps the password out of %#v too.
func (l Login) GoString() string { return "tds.Login{" + l.String() + "}" }

// loginSize is the length of the fixed part of LOGIN7 up to TDS 7.1; later ones are longer.
const loginSize = 86

// parseLogin reads LOGIN7 (Microsoft: [MS-TDS] LOGIN7).
func parseLogin(b []byte) (l Login, err error) {
	if len(b) < loginSize {
		return l, fmt.Errorf("tds: a LOGIN7 of %d bytes, at least %d are needed", len(b), loginSize)
	}
	l.TDSVersion = binary.LittleEndian.Uint32(b[4:])
	l.PacketSize = int(binary.LittleEndian.Uint32(b[8:]))
	l.Process = binary.LittleEndian.Uint32(b[16:])
	l.Flags1, l.Flags2, l.TypeFlags, l.Flags3 = b[24], b[25], b[26], b[27]
	for _, f := range []struct {
		at   int
		name string
		to   *string
	}{
		{36, "host name", &l.Host}, {40, "user name", &l.User}, {44, "password", &l.Password}, {48, "application name", &l.App},
		{52, "server name", &l.Server}, {60, "library name", &l.Library}, {64, "language", &l.Language}, {68, "database", &l.Database},
	} {
		p, err := loginField(b, f.at, f.name)
		if err != nil {
			return l, err
		}
		if f.to == &l.Password {
			p = unscramble(p)
		}
		*f.to = fromUTF16(p)
	}
	if l.Flags3&0x01 != 0 && len(b) >= loginSize+8 { // fChangePassword, from 7.2 on
		p, err := loginField(b, 86, "new password")
		if err != nil {
			return l, err
		}
		l.NewPassword = fromUTF16(unscramble(p))
	}
	l.Integrated = binary.LittleEndian.Uint16(b[80:]) > 0
	if l.Flags3&0x10 != 0 { // fExtension
		l.Features, err = parseFeatures(b)
	}
	return l, err
}

// loginField is the text whose offset and length stand at b[at:].
func loginField(b []byte, at int, name string) ([]byte, error) {
	off, n := int(binary.LittleEndian.Uint16(b[at:])), 2*int(binary.LittleEndian.Uint16(b[at+2:]))
	if n == 0 {
		return nil, nil
	}
	if off+n > len(b) {
		return nil, fmt.Errorf("tds: LOGIN7 of %d bytes: %s is said to be at %d, %d bytes", len(b), name, off, n)
	}
	return b[off : off+n], nil
}

// unscramble undoes what clients do to a password (Microsoft: [MS-TDS] LOGIN7, Password).
func unscramble(p []byte) []byte {
	d := make([]byte, len(p))
	for i, x := range p {
		x ^= 0xA5
		d[i] = x<<4 | x>>4
	}
	return d
}

// parseFeatures reads the FEATUREEXT block, to which the extension field points.
func parseFeatures(b []byte) (fs []Feature, err error) {
	at := int(binary.LittleEndian.Uint16(b[56:]))
	if at+4 > len(b) {
		return nil, errors.New("tds: LOGIN7: the extension is outside the record")
	}
	off := binary.LittleEndian.Uint32(b[at:])
	if uint64(off) > uint64(len(b)) {
		return nil, errors.New("tds: LOGIN7: the features are outside the record")
	}
	d := &decoder{b: b[off:]}
	for d.err == nil && len(d.b) > 0 {
		id := d.u8()
		if id == 0xFF {
			break
		}
		fs = append(fs, Feature{id, append([]byte{}, d.take(int(d.u32()))...)})
	}
	if d.err != nil {
		return nil, fmt.Errorf("tds: LOGIN7: features: %w", d.err)
	}
	return fs, nil
}

// detail is what an event tells of the login: all but the password.
func (l Login) detail() map[string]any {
	features := make([]string, 0, len(l.Features))
	for _, f := range l.Features {
		features = append(features, f.String())
	}
	return map[string]any{
		"tds": fmt.Sprintf("%08x", l.TDSVersion), "packet": l.PacketSize, "flags": fmt.Sprintf("%02x %02x %02x %02x", l.Flags1, l.Flags2, l.TypeFlags, l.Flags3),
		"user": l.User, "app": l.App, "host": l.Host, "server": l.Server, "library": l.Library, "language": l.Language, "database": l.Database,
		"sspi": l.Integrated, "features": features,
	}
}

// packetSize is the size the server uses from now on.
func (l Login) packetSize(configured int) int {
	switch {
	case configured > 0:
		return configured
	case l.PacketSize < 512 || l.PacketSize > 32767: // the range of Microsoft: [MS-TDS] LOGIN7, PacketSize
		return defaultPacket
	}
	return l.PacketSize
}

// version is the TDS version that requests of the session have.
func (l Login) version(strict bool) (uint32, error) {
	switch {
	case strict, l.TDSVersion == ver80, l.TDSVersion > ver74:
		return ver74, nil
	case l.TDSVersion < ver71:
		return 0, fmt.Errorf("tds: version %08x; 7.1 and later are spoken", l.TDSVersion)
	}
	return l.TDSVersion, nil
}
