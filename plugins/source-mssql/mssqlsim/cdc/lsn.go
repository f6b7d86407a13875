package cdc

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// LSN is a log sequence number: ten bytes that order as numbers.
type LSN [10]byte

// ParseLSN reads 20 hexadecimal digits with or without 0x.
func ParseLSN(s string) (l LSN, err error) {
	d := strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(s), "0x"), "0X")
	b, err := hex.DecodeString(d)
	if err != nil || len(b) != 10 {
		return l, fmt.Errorf("reading the LSN %q: want 20 hexadecimal digits", s)
	}
	return LSN(b), nil
}

// String gives the canonical form: 0x and 20 upper-case digits.
func (l LSN) String() string { return "0x" + strings.ToUpper(hex.EncodeToString(l[:])) }

// IsZero tells whether this is the zero LSN, which stands for "none".
func (l LSN) IsZero() bool { return l == LSN{} }

// Less orders LSNs.
func (l LSN) Less(m LSN) bool { return string(l[:]) < string(m[:]) }

// Add gives the LSN n further on, as 80-bit numbers; it stays at the ends of the range.
func (l LSN) Add(n int64) LSN {
	x := new(big.Int).SetBytes(l[:])
	x.Add(x, big.NewInt(n))
	switch {
	case x.Sign() < 0:
		return LSN{}
	case x.BitLen() > 80:
		var m LSN
		for i := range m {
			m[i] = 0xFF
		}
		return m
	}
	var m LSN
	x.FillBytes(m[:])
	return m
}

// Value gives the LSN as binary(10).
func (l LSN) Value() sqltype.Value { return sqltype.FromBytes(string(l[:])) }

// lsnOf reads a binary(10) value; NULL is not ok.
func lsnOf(v sqltype.Value) (l LSN, ok bool) {
	if v.IsNull() {
		return l, false
	}
	copy(l[:], v.Str())
	return l, true
}
