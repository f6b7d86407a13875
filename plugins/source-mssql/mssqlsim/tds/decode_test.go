package tds

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The table of Microsoft: [MS-TDS] PRELOGIN, ENCRYPTION.
func TestEncryptionIsNegotiatedByTheTable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		client         byte
		haveTLS, force bool
		answer         byte
		refuse         bool
	}{
		{encOff, false, false, encNotSupported, false},
		{encOn, false, false, encNotSupported, false},
		{encNotSupported, false, false, encNotSupported, false},
		{encOff, true, false, encOff, false},
		{encOn, true, false, encOn, false},
		{encRequired, true, false, encOn, false},
		{encNotSupported, true, false, encNotSupported, false},
		{encOff, true, true, encRequired, false},
		{encOn, true, true, encOn, false},
		{encNotSupported, true, true, encRequired, true},
	} {
		if a, r := encryption(c.client, c.haveTLS, c.force); a != c.answer || r != c.refuse {
			t.Errorf("client %d, TLS %v, forced %v: %d %v", c.client, c.haveTLS, c.force, a, r)
		}
	}
}

func TestFedAuthIsAnsweredOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	for _, asked := range [][]preOption{nil, {{preFedAuth, []byte{1}}}} {
		opts, err := parsePrelogin(preloginAnswer(encOff, asked))
		if err != nil {
			t.Fatal(err)
		}
		if got := option(opts, preFedAuth) != nil; got != (asked != nil) {
			t.Errorf("asked %v, answered %v", asked != nil, got)
		}
		if len(option(opts, preVersion)) != 6 || !bytes.Equal(option(opts, preEncryption), []byte{encOff}) {
			t.Errorf("% x", opts)
		}
	}
}

func TestTransactionManagerRequests(t *testing.T) {
	t.Parallel()
	const headers = "16000000 12000000 0200 0000000000000000 01000000"
	for _, c := range []struct {
		hex  string
		want []TranRequest
		err  string
	}{
		{"0500 05 00", []TranRequest{{Kind: TranBegin, Isolation: 5}}, ""},
		{"0500 00 04 61006200", []TranRequest{{Kind: TranBegin, Name: "ab"}}, ""},
		{"0700 00 00", []TranRequest{{Kind: TranCommit}}, ""},
		{"0800 00", []TranRequest{{Kind: TranRollback}}, ""},
		{"0800 02 7300 00", []TranRequest{{Kind: TranRollback, Name: "s"}}, ""},
		{"0800 00 01 02 00", []TranRequest{{Kind: TranRollback}, {Kind: TranBegin, Isolation: 2}}, ""},
		{"0900 02 7300", []TranRequest{{Kind: TranSave, Name: "s"}}, ""},
		{"0600", nil, "distributed transactions"}, {"4d00", nil, "request 77 is not known"},
		{"0500 06 00", nil, "isolation level 6"},
		{"0500 00 04 6100", nil, "4 bytes wanted where 2 are left"},
		{"0500 00 03 610062", nil, "UTF-16 text of 3 bytes"},
	} {
		got, err := parseTran(unhex(t, headers+c.hex), ver74)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v", c.hex, err)
			}
			continue
		}
		if err != nil || len(got) != len(c.want) {
			t.Errorf("%s: %v, %v", c.hex, got, err)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: %v, want %v", c.hex, got[i], c.want[i])
			}
		}
	}
}

func TestDamagedRequestsAreErrors(t *testing.T) {
	t.Parallel()
	rpc := func(b []byte) error { _, err := parseRPC(b, ver74); return err }
	old := func(b []byte) error { _, err := parseRPC(b, 0x71000001); return err }
	batch := func(b []byte) error { _, err := parseBatch(b, ver74); return err }
	login := func(b []byte) error { _, err := parseLogin(b); return err }
	prelogin := func(b []byte) error { _, err := parsePrelogin(b); return err }
	for _, c := range []struct {
		name  string
		parse func([]byte) error
		hex   string
		want  string
	}{
		{"batch without headers", batch, "7300", "bytes wanted where"},
		{"headers shorter than their length field", batch, "03000000", "headers of 3 bytes"},
		{"headers beyond the message", batch, "ff000000", "bytes wanted where"},
		{"a header beyond the headers", batch, "0a000000 ff000000 0200", "bytes wanted where"},
		{"a header shorter than itself", batch, "0a000000 05000000 0200", "a header of 5 bytes"},
		{"a transaction descriptor without its bytes", batch, "0a000000 06000000 0200", "8 bytes wanted where 0"},
		{"half a code unit", batch, "04000000 61", "UTF-16 text of 1 bytes"},
		{"no call", rpc, "04000000", "without a call"},
		{"an unknown procedure", rpc, "04000000 ffff 6300 0000", "procedure number 99"},
		{"a name beyond the message", rpc, "04000000 ff00 6100", "bytes wanted where"},
		{"an unknown type", old, "ffff 0a00 0000 00 00 99", "0x99 is not known"},
		{"an encrypted parameter", old, "ffff 0a00 0000 00 08 26 04 00", "encrypted values"},
		{"int of three bytes", old, "ffff 0a00 0000 00 00 26 03", "of 3 bytes"},
		{"int with three bytes", old, "ffff 0a00 0000 00 00 26 04 03 000000", "a value of 3 bytes"},
		{"decimal of precision 39", old, "ffff 0a00 0000 00 00 6a 11 27 00", "decimal(39,0)"},
		{"time of scale 8", old, "ffff 0a00 0000 00 00 29 08", "0 to 7"},
		{"a time of day of 25 hours", old, "ffff 0a00 0000 00 00 29 00 03 905f01", "time of day"},
		{"the day after 9999-12-31", old, "ffff 0a00 0000 00 00 28 03 dbb937", "day 3652059"},
		{"a chunked value of another length than announced", old, "ffff 0a00 0000 00 00 a5 ffff 0200000000000000 01000000 ff 00000000", "2 bytes announced, 1 sent"},
		{"a chunked value without an end", old, "ffff 0a00 0000 00 00 a5 ffff feffffffffffffff 01000000 ff", "4 bytes wanted where 0"},
		{"a value beyond the message", old, "ffff 0a00 0000 00 00 a5 401f ffef 00", "bytes wanted where"},
		{"sql_variant of an unknown base type", old, "ffff 0a00 0000 00 00 62 49000000 02000000 9900", "base type 0x99"},
		{"a short LOGIN7", login, "00", "LOGIN7 of 1 bytes"},
		{"a user name beyond the record", login, strings.Repeat("00", 40) + "f0ff ff00" + strings.Repeat("00", 50), "user name is said to be at 65520"},
		{"features beyond the record", login, strings.Repeat("00", 27) + "10" + strings.Repeat("00", 28) + "f0ff" + strings.Repeat("00", 40), "outside the record"},
		{"PRELOGIN without an end", prelogin, "00 0000 0000 00", "ends inside its list"},
		{"a PRELOGIN option beyond the message", prelogin, "00 0006 00ff ff", "option 0 is said to be at 6"},
	} {
		if err := c.parse(unhex(t, c.hex)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Microsoft: [MS-TDS] RPC Request, BatchFlag and NoExecFlag.
func TestSeparatorsOfCallsFollowTheVersion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ver  uint32
		hex  string
		want []bool // noExec of each call
	}{
		{0x71000001, "ffff 0f00 0000 80 ffff 0f00 0000", []bool{false, false}},
		{ver74, "04000000 ffff 0f00 0000 ff ffff 0f00 0000", []bool{false, false}},
		{ver74, "04000000 ffff 0f00 0000 fe ffff 0f00 0000 ff", []bool{true, false}},
	} {
		calls, err := parseRPC(unhex(t, c.hex), c.ver)
		if err != nil || len(calls) != len(c.want) {
			t.Errorf("%s: %d calls, %v", c.hex, len(calls), err)
			continue
		}
		for i := range calls {
			if calls[i].noExec != c.want[i] || calls[i].proc != "sp_unprepare" {
				t.Errorf("%s: call %d is %+v", c.hex, i, calls[i])
			}
		}
	}
}

func TestOldParameterTypes(t *testing.T) { // jTDS
	t.Parallel()
	calls, err := parseRPC(unhex(t, "ffff 0a00 0000 0000 27 05 02 6180 0000 2f 05 00 0000 2d 05 01 ff 0000 6c 11 0902 03 00 3930"), 0x71000001)
	if err != nil {
		t.Fatal(err)
	}
	p := calls[0].params
	if p[0].Value != "a€" || p[1].Value != nil || !bytes.Equal(p[2].Value.([]byte), []byte{0xFF}) || p[3].Value.(Dec).String() != "-123.45" {
		t.Errorf("%v", p)
	}
}

func TestNamesOfDeclarations(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                   "",
		"@a int":                             "@a",
		"@p0 int,@p1 decimal(9,2) output":    "@p0 @p1",
		" @a\tnvarchar(max) , @b int OUTPUT": "@a @b",
		"@a int = '@x', @b int":              "@a @b",
	} {
		if got := strings.Join(declaredNames(in), " "); got != want {
			t.Errorf("%q: %s", in, got)
		}
	}
}

func TestAMessageBeyondItsLimitIsRefusedBeforeItIsKept(t *testing.T) {
	t.Parallel()
	one := append([]byte{1, 0, 0, 108, 0, 0, 1, 0}, make([]byte, 100)...)
	tr := &transport{rw: struct {
		io.Reader
		io.Writer
	}{bytes.NewReader(bytes.Repeat(one, 100)), io.Discard}}
	if m, err := tr.readMessage(1000); err == nil || !strings.Contains(err.Error(), "longer than 1000 bytes") || len(m.data) > 1000 {
		t.Errorf("%d bytes, %v", len(m.data), err)
	}
}

func TestMoneyHasItsHalvesHighFirst(t *testing.T) {
	t.Parallel()
	b, err := appendScalar(nil, Money, Dec{big.NewInt(1<<32 + 2), 4})
	if err != nil || !bytes.Equal(b, []byte{1, 0, 0, 0, 2, 0, 0, 0}) {
		t.Errorf("% x, %v", b, err)
	}
}

func TestDatetimeRoundsTo300thsAndCarriesIntoTheNextDay(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"2026-03-04T05:06:07.998":     "2026-03-04T05:06:07.996666666Z",
		"2026-03-04T23:59:59.9990000": "2026-03-05T00:00:00Z",
	} {
		at, err := time.Parse("2006-01-02T15:04:05", in)
		if err != nil {
			t.Fatal(err)
		}
		b, err := appendScalar(nil, DateTime, at)
		if err != nil {
			t.Fatal(err)
		}
		d := decoder{}
		if got := d.scalar(DateTime, b).(time.Time); got.Format(time.RFC3339Nano) != strings.ReplaceAll(want, "996666666", "9966666") {
			t.Errorf("%s: %s", in, got.Format(time.RFC3339Nano))
		}
	}
}

// Values that go out as a column and come back as a parameter are the same.
func TestValuesSurviveTheWayThereAndBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		scale := byte(rapid.IntRange(0, 7).Draw(t, "scale"))
		unit := tickDivisor[scale]
		ticks := rapid.Int64Range(15*36_000_000_000, maxTicks-15*36_000_000_000).Draw(t, "ticks") / unit * unit
		minutes := rapid.IntRange(-840, 840).Draw(t, "offset")
		digits := rapid.StringMatching(`-?[1-9][0-9]{0,37}`).Draw(t, "digits")
		u, _ := new(big.Int).SetString(digits, 10)
		text := rapid.String().Draw(t, "text")
		for _, c := range []struct {
			t Type
			v any
		}{
			{BigInt, rapid.Int64().Draw(t, "bigint")},
			{Int, int64(rapid.Int32().Draw(t, "int"))},
			{SmallInt, int64(rapid.Int16().Draw(t, "smallint"))},
			{TinyInt, int64(rapid.Uint8().Draw(t, "tinyint"))},
			{Decimal(38, 5), Dec{u, 5}},
			{Money, Dec{big.NewInt(rapid.Int64().Draw(t, "money")), 4}},
			{DateTime2(scale), TimeOf(ticks)},
			{DTOffset(scale), TimeOf(ticks).In(time.FixedZone("", minutes*60))},
			{Date, TimeOf(ticks / ticksPerDay * ticksPerDay)},
			{Time(scale), TimeOf(ticks % ticksPerDay)},
			{NVarChar(-1), text},
			{VarBinary(-1), []byte(text)},
			{Variant, text},
			{Variant, rapid.Int64().Draw(t, "variant")},
			{Variant, Typed{SmallInt, int64(rapid.Int16().Draw(t, "variant smallint"))}},
			{Variant, Typed{Numeric(38, 5), Dec{u, 5}}},
			{Variant, Typed{DTOffset(scale), TimeOf(ticks).In(time.FixedZone("", minutes*60))}},
			{Variant, Typed{Time(scale), TimeOf(ticks % ticksPerDay)}},
			{Variant, Typed{Date, TimeOf(ticks / ticksPerDay * ticksPerDay)}},
			{Variant, Typed{Bit, rapid.Bool().Draw(t, "variant bit")}},
			{Variant, GUID{1, 2, 3, 4, 5, 6, 7, 8, 9}},
			{Variant, Typed{Binary(3), []byte{1, 2, 3}}},
			{Variant, TimeOf(ticks / unit * unit)},
			{Variant, rapid.Float64Range(-1e300, 1e300).Draw(t, "variant float")},
			{UniqueID, GUID{1, 2, 3, 4, 5, 6, 7, 8, 9}},
			{Float, rapid.Float64Range(-1e300, 1e300).Draw(t, "float")},
			{Bit, rapid.Bool().Draw(t, "bit")},
			{SmallMoney, Dec{big.NewInt(int64(rapid.Int32().Draw(t, "smallmoney"))), 4}},
			{Image, []byte(text)},
		} {
			if s, ok := c.v.(string); ok && c.t == Variant && len(s) > 2000 {
				continue
			}
			b, err := appendValue(nil, c.t, c.v)
			if err != nil {
				t.Fatalf("%s of %v: %v", c.t, c.v, err)
			}
			if c.t == Variant { // it comes back with its base type
				c.v, _ = variantBase(c.v)
			}
			if c.t == Image { // of a column; a parameter has no text pointer
				b = b[25:]
			}
			d := decoder{b: b, ver: ver74}
			got := d.value(c.t)
			if d.err != nil || len(d.b) != 0 || !same(got, c.v) {
				t.Fatalf("%s: %v came back as %v (%d bytes left, %v)", c.t, c.v, got, len(d.b), d.err)
			}
		}
	})
}

func same(a, b any) bool {
	switch x := a.(type) {
	case Typed:
		y, ok := b.(Typed)
		return ok && x.Type == y.Type && same(x.Value, y.Value)
	case []byte:
		return bytes.Equal(x, b.([]byte))
	case Dec:
		return x.Scale == b.(Dec).Scale && x.Unscaled.Cmp(b.(Dec).Unscaled) == 0
	case time.Time:
		return x.Format(time.RFC3339Nano) == b.(time.Time).Format(time.RFC3339Nano)
	}
	return a == b
}

func TestAWriterCutsAMessageIntoPackets(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var out bytes.Buffer
		tr := &transport{size: rapid.IntRange(512, 4096).Draw(t, "size"), rw: &out, spid: 7}
		w := tr.writer(pktReply)
		var want []byte
		for range rapid.IntRange(1, 20).Draw(t, "writes") {
			p := rapid.SliceOfN(rapid.Byte(), 1, 9000).Draw(t, "data")
			want = append(want, p...)
			if _, err := w.Write(p); err != nil {
				t.Fatal(err)
			}
			if rapid.Bool().Draw(t, "flush") {
				if err := w.flush(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
		for b := out.Bytes(); len(b) > 0; { // no packet is larger than agreed
			n := int(binary.BigEndian.Uint16(b[2:]))
			if n > tr.size || n > len(b) {
				t.Fatalf("a packet of %d bytes of %d, size %d", n, len(b), tr.size)
			}
			b = b[n:]
		}
		m, err := tr.readMessage(1 << 20)
		if err != nil || !bytes.Equal(m.data, want) {
			t.Fatalf("%d bytes of %d, %v", len(m.data), len(want), err)
		}
		if _, err := tr.readMessage(1); !errors.Is(err, io.EOF) {
			t.Fatalf("after the message: %v", err)
		}
	})
}
