package tds_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

// prelogin is a PRELOGIN message with the options VERSION and ENCRYPTION (Microsoft: [MS-TDS] PRELOGIN).
func prelogin(encryption byte) []byte {
	return packet(18, 1, []byte{0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xFF, 16, 0, 0, 0, 0, 0, encryption})
}

// encryptionOf is the option ENCRYPTION of the server's answer, which tells where in the message each option stands.
func encryptionOf(t testing.TB, b []byte) byte {
	t.Helper()
	for at := 0; at+5 <= len(b) && b[at] != 0xFF; at += 5 {
		if off := int(binary.BigEndian.Uint16(b[at+1:])); b[at] == 1 && off < len(b) {
			return b[off]
		}
	}
	t.Fatalf("no ENCRYPTION in % x", b)
	return 0
}

// The answer to each value of ENCRYPTION, by what the server has (Microsoft: [MS-TDS] PRELOGIN, ENCRYPTION). Where nothing is
// to be encrypted LOGIN7 follows as it is; where the client must encrypt and does not, the connection ends.
func TestSimulatorAnswersTheEncryptionThatIsAskedFor(t *testing.T) {
	t.Parallel()
	const off, on, none, required = 0, 1, 2, 3
	for _, server := range []struct {
		mode    mssqlsim.TLSMode
		answers map[byte]byte
		ends    byte // the client whose connection ends
	}{
		{mssqlsim.TLSOff, map[byte]byte{off: none, on: none, none: none, required: none}, 0xFF},
		{mssqlsim.TLSLogin, map[byte]byte{off: off, on: on, none: none, required: on}, 0xFF},
		{mssqlsim.TLSOn, map[byte]byte{off: required, on: on, none: required, required: on}, none},
	} {
		_, addr := newSimulator(t, mssqlsim.Options{TLS: server.mode})
		for client, want := range server.answers {
			c := dial(t, addr)
			c.send(prelogin(client))
			if got := encryptionOf(t, c.reply().data); got != want {
				t.Errorf("%s, client %d: %d, want %d", server.mode, client, got, want)
				continue
			}
			switch {
			case client == server.ends:
				c.ended()
			case want == none:
				c.send(packet(16, 1, login7(tds74, 0, "sa", password, "shop")))
				if got := show7(tokens(t, c.reply().data, tds74)); !strings.Contains(got, "LOGINACK") {
					t.Errorf("%s, client %d: %s", server.mode, client, got)
				}
			}
		}
	}
}

// TDS 8.0 begins with TLS, whose protocol is tds/8.0; PRELOGIN and LOGIN7 follow inside, and nothing is encrypted again
// (Microsoft: [MS-TDS] Transport; LOGINACK, TDSVersion).
func TestSimulatorSpeaksStrictEncryption(t *testing.T) {
	t.Parallel()
	for _, mode := range []mssqlsim.TLSMode{mssqlsim.TLSLogin, mssqlsim.TLSOn, mssqlsim.TLSStrict} {
		version := mssqlsim.V2022
		if mode == mssqlsim.TLSLogin {
			version = mssqlsim.Azure
		}
		s, addr := newSimulator(t, mssqlsim.Options{TLS: mode, Version: version})
		known := x509.NewCertPool()
		if !known.AppendCertsFromPEM(s.Certificate()) {
			t.Fatal("no certificate")
		}
		sock := dial(t, addr)
		secure := tls.Client(sock.Conn, &tls.Config{RootCAs: known, ServerName: "127.0.0.1", NextProtos: []string{"tds/8.0"}, MinVersion: tls.VersionTLS12})
		if err := secure.Handshake(); err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		if p := secure.ConnectionState().NegotiatedProtocol; p != "tds/8.0" {
			t.Errorf("%s: protocol %q", mode, p)
		}
		c := &rawConn{Conn: secure, t: t, version: tds74}
		c.send(prelogin(1))
		if got := encryptionOf(t, c.reply().data); got != 2 {
			t.Errorf("%s: ENCRYPTION %d inside TLS", mode, got)
		}
		c.send(packet(16, 1, login7(0x08000000, 0, "sa", password, "shop")))
		if got := show7(tokens(t, c.reply().data, tds74)); !strings.Contains(got, "LOGINACK interface=1 tds=08000000 ") {
			t.Errorf("%s: %s", mode, got)
		}
		assertTokens(t, c.batch("SELECT encrypt_option AS e FROM sys.dm_exec_connections WHERE session_id = @@SPID"), "COLMETADATA e type=e7/80 flags=08 user=0\nROW \"TRUE\"\nDONE status=10 cmd=c1 rows=1")
	}
}

// Force Strict Encryption lets nobody in but clients of TDS 8.0, whatever others would encrypt (Microsoft: TDS 8.0, Features that
// don't support forcing strict encryption).
func TestSimulatorThatForcesStrictEncryptionTakesNobodyElse(t *testing.T) {
	t.Parallel()
	_, addr := newSimulator(t, mssqlsim.Options{TLS: mssqlsim.TLSStrict})
	for name, first := range map[string][]byte{
		"off": prelogin(0), "on": prelogin(1), "not supported": prelogin(2), "required": prelogin(3),
		"no PRELOGIN": packet(16, 1, login7(tds74, 0, "sa", password, "shop")), "TDS 7.1": packet(16, 1, login7(tds71, 0, "sa", password, "shop")),
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, addr)
			c.send(first)
			c.ended()
		})
	}
}

// TDS 8.0 came with SQL Server 2022 (Microsoft: TDS 8.0): TLS at the beginning is nothing that an earlier one could read.
func TestSimulatorOfAnEarlierVersionDoesNotKnowStrictEncryption(t *testing.T) {
	t.Parallel()
	for _, version := range []mssqlsim.Version{mssqlsim.V2016, mssqlsim.V2017, mssqlsim.V2019} {
		for _, mode := range []mssqlsim.TLSMode{mssqlsim.TLSLogin, mssqlsim.TLSOn} {
			_, addr := newSimulator(t, mssqlsim.Options{TLS: mode, Version: version})
			secure := tls.Client(dial(t, addr).Conn, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"tds/8.0"}, MinVersion: tls.VersionTLS12})
			if err := secure.Handshake(); err == nil {
				t.Errorf("%s %s: a handshake", version, mode)
			}
			c := dial(t, addr)
			c.send(prelogin(1))
			if got := encryptionOf(t, c.reply().data); got != 1 {
				t.Errorf("%s %s: ENCRYPTION %d", version, mode, got)
			}
		}
		if s, err := mssqlsim.Start(t.Context(), mssqlsim.Options{TLS: mssqlsim.TLSStrict, Version: version}); err == nil {
			s.Close()
			t.Errorf("%s starts with strict encryption", version)
		}
	}
}

// The size of packets is what the client asks for, from 512 to 32767, and 4096 otherwise (Microsoft: [MS-TDS] LOGIN7,
// PacketSize; Configure the network packet size Server Configuration Option). The answers are cut to it.
func TestSimulatorCutsAnswersToTheSizeOfPackets(t *testing.T) {
	t.Parallel()
	_, addr := newSimulator(t, mssqlsim.Options{})
	for asked, want := range map[uint32]int{512: 512, 4096: 4096, 32767: 32767, 8192: 8192, 0: 4096, 511: 4096, 32768: 4096, 1 << 31: 4096} {
		c := dial(t, addr)
		c.send(packet(16, 1, login7(tds74, asked, "sa", password, "shop")))
		if got := show7(tokens(t, c.reply().data, tds74)); !strings.Contains(got, fmt.Sprintf("ENVCHANGE 4 \"%d\" \"4096\"", want)) {
			t.Errorf("%d: %s", asked, got)
		}
		c.send(rawBatch("SELECT REPLICATE(CAST('x' AS varchar(max)), 100000) AS v"))
		sizes := c.reply().packets
		for i, n := range sizes {
			if last := i == len(sizes)-1; n != want && !last || n > want {
				t.Errorf("%d: packet %d of %d has %d bytes", asked, i+1, len(sizes), n)
				break
			}
		}
		if at := 100000/want + 1; len(sizes) < at {
			t.Errorf("%d: %d packets, at least %d", asked, len(sizes), at)
		}
	}
}
