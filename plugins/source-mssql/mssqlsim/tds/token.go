package tds

import "strconv"

// Tokens of an answer (Microsoft: [MS-TDS] Packet Data Token Stream Definition).
const (
	tokColMetadata  = 0x81
	tokReturnStatus = 0x79
	tokError        = 0xAA
	tokInfo         = 0xAB
	tokReturnValue  = 0xAC
	tokLoginAck     = 0xAD
	tokFeatureAck   = 0xAE
	tokEnvChange    = 0xE3
	tokDone         = 0xFD
	tokDoneProc     = 0xFE
	tokDoneInProc   = 0xFF
)

// Bits of the status of a DONE token (Microsoft: [MS-TDS] DONE).
const (
	doneMore        = 0x01
	doneError       = 0x02
	doneCount       = 0x10
	doneAttn        = 0x20
	doneServerError = 0x100 // severe enough to give the connection up
)

// Kinds of ENVCHANGE (Microsoft: [MS-TDS] ENVCHANGE).
const (
	envDatabase   = 1
	envLanguage   = 2
	envPacketSize = 4
	envCollation  = 7
	envBegin      = 8
	envCommit     = 9
	envRollback   = 10
	envReset      = 18
)

// Statement kinds as the CurCmd of DONE tokens names them. Microsoft: [MS-TDS] leaves the numbers to the server; these are
// those that Microsoft's clients know.
const (
	CmdSelect   = 0xC1
	CmdInsert   = 0xC3
	CmdDelete   = 0xC4
	CmdUpdate   = 0xC5
	CmdMerge    = 0x117
	CmdExecute  = 0xE0
	CmdRollback = 0xD2
	CmdBegin    = 0xD4
	CmdCommit   = 0xD5
)

// Error is a SQL Server error, or a message when it is given to Results.Info. A Handler returns it to fail a request.
type Error struct {
	Number int32
	State  byte
	// Class is the severity: up to 10 is a message, from 20 on SQL Server ends the connection (this package does not).
	Class byte
	Msg   string
	Proc  string
	Line  int32
	// First is an error of the same statement that is sent before this one.
	First *Error
	// Then is a message of the same statement that is sent behind this error.
	Then *Error
}

// Error is the text of the message, without its number.
func (e *Error) Error() string { return e.Msg }

// messageToken appends ERROR or INFO. The length of the token has two bytes, so that longer texts are cut.
func messageToken(b []byte, tok byte, e *Error, server string, ver uint32) []byte {
	const longest = 16_000
	text := e.Msg
	if len(text) > longest {
		text = text[:longest]
	}
	b = append(b, tok)
	at := len(b)
	b = append(b, 0, 0)
	b = u32(b, uint32(e.Number))
	b = append(b, e.State, e.Class)
	b = usVarChar(b, text)
	b = bVarChar(b, server)
	b = bVarChar(b, e.Proc)
	if ver >= ver72 {
		b = u32(b, uint32(e.Line))
	} else {
		b = u16(b, uint16(e.Line))
	}
	return tokenLength(b, at)
}

// tokenLength fills in the two bytes at b[at:] with the length of what follows them.
func tokenLength(b []byte, at int) []byte {
	n := len(b) - at - 2
	b[at], b[at+1] = byte(n), byte(n>>8)
	return b
}

func doneToken(b []byte, tok byte, status, cmd uint16, rows uint64, ver uint32) []byte {
	b = u16(u16(append(b, tok), status), cmd)
	if ver >= ver72 {
		return u64(b, rows)
	}
	return u32(b, uint32(rows))
}

// envText appends an ENVCHANGE of texts.
func envText(b []byte, typ byte, now, before string) []byte {
	b = append(b, tokEnvChange)
	at := len(b)
	b = append(b, 0, 0, typ)
	b = bVarChar(bVarChar(b, now), before)
	return tokenLength(b, at)
}

// envBytes appends an ENVCHANGE of bytes.
func envBytes(b []byte, typ byte, now, before []byte) []byte {
	b = append(b, tokEnvChange)
	at := len(b)
	b = append(b, 0, 0, typ, byte(len(now)))
	b = append(append(b, now...), byte(len(before)))
	return tokenLength(append(b, before...), at)
}

// loginAck appends LOGINACK with the TDS version that the client asked for, in network order.
func loginAck(b []byte, ver uint32) []byte {
	switch {
	case ver == ver71:
		ver |= 1 // what SQL Server calls 7.1
	case ver > ver74:
		ver = ver74
	}
	b = append(b, tokLoginAck)
	at := len(b)
	b = append(b, 0, 0, 1) // the interface is T-SQL
	b = append(b, byte(ver>>24), byte(ver>>16), byte(ver>>8), byte(ver))
	b = bVarChar(b, "Microsoft SQL Server")
	b = append(b, serverVersion[:]...)
	return tokenLength(b, at)
}

// serverVersion is what PRELOGIN and LOGINACK name: SQL Server 2022, build 4096.
var serverVersion = [4]byte{16, 0, 0x10, 0}

// featureAck answers the features the server has; the others stay unanswered, which every client takes as "not there".
func featureAck(b []byte, asked []Feature) []byte {
	any := false
	for _, f := range asked {
		if f.ID != featureUTF8 {
			continue
		}
		if !any {
			b = append(b, tokFeatureAck)
			any = true
		}
		b = append(u32(append(b, f.ID), 1), 1)
	}
	if any {
		b = append(b, 0xFF)
	}
	return b
}

// loginAnswer appends the tokens of a successful login. What clients need of it was found by leaving each out: LOGINACK,
// the packet size, the collation.
func loginAnswer(b []byte, s *Session, server string, size int) []byte {
	db := s.Login.Database
	b = envText(b, envDatabase, db, "master")
	b = messageToken(b, tokInfo, databaseMessage(db), server, s.Version)
	b = envBytes(b, envCollation, DefaultCollation[:], nil)
	b = envText(b, envLanguage, "us_english", "")
	b = messageToken(b, tokInfo, languageMessage("us_english"), server, s.Version)
	b = loginAck(b, s.Login.TDSVersion)
	b = envText(b, envPacketSize, strconv.Itoa(size), strconv.Itoa(defaultPacket))
	b = featureAck(b, s.Login.Features)
	return doneToken(b, tokDone, 0, 0, 0, s.Version)
}

func databaseMessage(name string) *Error {
	return &Error{Number: 5701, State: 2, Line: 1, Msg: "Changed database context to '" + name + "'."}
}

func languageMessage(name string) *Error {
	return &Error{Number: 5703, State: 1, Line: 1, Msg: "Changed language setting to " + name + "."}
}
