package sqltype

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Microsoft: STGeomFromText (geometry Data Type), STAsText, AsTextZM; [MS-SSCLRT] GEOGRAPHY Structure.
func TestSpatialValues(t *testing.T) {
	t.Parallel()
	const one, two, three = "000000000000F03F", "0000000000000040", "0000000000000840"
	for _, tc := range []struct {
		kind      Kind
		srid      int64
		text      string
		want, hex string // hex is "" where only the text is of interest
		number    int32
	}{
		{Geometry, 0, "point(1 2)", "POINT (1 2)", "00000000010C" + one + two, 0},
		{Geography, 4326, "POINT(1 2)", "POINT (1 2)", "E6100000010C" + two + one, 0}, // latitude first
		{Geometry, 7, "POINT (1 2 3)", "POINT (1 2 3)", "07000000010D" + one + two + three, 0},
		{Geometry, 0, "POINT (1 2 NULL 3)", "POINT (1 2 NULL 3)", "00000000010E" + one + two + three, 0},
		{Geometry, 0, "LINESTRING (1 2, 3 1)", "LINESTRING (1 2, 3 1)", "000000000114" + one + two + three + one, 0},
		{Geometry, 0, "LINESTRING (100 100, 20 180, 180 180)", "LINESTRING (100 100, 20 180, 180 180)",
			"000000000104030000000000000000005940000000000000594000000000000034400000000000806640000000000080664000000000008066400100000001000000000100000" + "0FFFFFFFF0000000002", 0},
		{Geography, 4326, "LINESTRING(-122.360 47.656, -122.343 47.656 )", "LINESTRING (-122.36 47.656, -122.343 47.656)", "", 0},
		{Geometry, 0, "POLYGON ((0 0, 3 0, 3 3, 0 3, 0 0), (1 1, 1 2, 2 2, 2 1, 1 1))", "POLYGON ((0 0, 3 0, 3 3, 0 3, 0 0), (1 1, 1 2, 2 2, 2 1, 1 1))", "", 0},
		{Geometry, 0, "MULTIPOINT (1 2, (2 1))", "MULTIPOINT ((1 2), (2 1))",
			"00000000010402000000" + one + two + two + one + "02000000" + "0100000000" + "0101000000" + "03000000" + "FFFFFFFF0000000004" + "000000000000000001" + "000000000100000001", 0},
		{Geometry, 0, "MULTILINESTRING ((0 0, 1 1), (5 5, 6 6, 7 5))", "MULTILINESTRING ((0 0, 1 1), (5 5, 6 6, 7 5))", "", 0},
		{Geometry, 0, "MULTIPOLYGON (((0 0, 1 0, 0 1, 0 0)), ((5 5, 6 5, 5 6, 5 5)))", "MULTIPOLYGON (((0 0, 1 0, 0 1, 0 0)), ((5 5, 6 5, 5 6, 5 5)))", "", 0},
		{Geometry, 0, "GEOMETRYCOLLECTION (POINT EMPTY, POINT (1 2), GEOMETRYCOLLECTION (LINESTRING (1 2, 3 4)))", "GEOMETRYCOLLECTION (POINT EMPTY, POINT (1 2), GEOMETRYCOLLECTION (LINESTRING (1 2, 3 4)))", "", 0},
		{Geometry, 0, "POINT EMPTY", "POINT EMPTY", "000000000104" + "00000000" + "00000000" + "01000000" + "FFFFFFFFFFFFFFFF01", 0},
		{Geometry, 0, "POINT (1e20 -0.000001)", "POINT (1E+20 -1E-06)", "", 0},
		{Geometry, 0, "POINT (1)", "", "", 6522},
		{Geometry, 0, "POINT (1 2) x", "", "", 6522},
		{Geometry, 0, "POINTS (1 2)", "", "", 6522},
		{Geometry, -1, "POINT (1 2)", "", "", 6522},
		{Geometry, 0, "LINESTRING (1 2)", "", "", 6522},
		{Geometry, 0, "POLYGON ((0 0, 1 0, 0 1, 0 2))", "", "", 6522},
		{Geometry, 0, "POLYGON ((0 0, 1 0, 0 0))", "", "", 6522},
		{Geography, 4326, "POINT (1 91)", "", "", 6522},
		{Geography, 4326, "POINT (181 1)", "", "", NumberUnsupported},
		{Geography, 4269, "POINT (1 1)", "", "", NumberUnsupported},
		{Geography, 4326, "POLYGON ((0 0, 1 0, 0 1, 0 0))", "", "", NumberUnsupported},
		{Geometry, 0, "CIRCULARSTRING (0 0, 1 1, 2 0)", "", "", NumberUnsupported},
		// whether these are valid would be a guess
		{Geometry, 0, "POLYGON ((0 0, 2 2, 2 0, 0 2, 0 0))", "", "", NumberUnsupported},
		{Geometry, 0, "POLYGON ((0 0, 3 0, 3 3, 0 3, 0 0), (5 5, 6 5, 5 6, 5 5))", "", "", NumberUnsupported},
		{Geometry, 0, "MULTIPOLYGON (((0 0, 9 0, 0 9, 0 0)), ((1 1, 2 1, 1 2, 1 1)))", "", "", NumberUnsupported},
		{Geometry, 0, "LINESTRING (0 0, 2 0, 1 0)", "", "", NumberUnsupported},
	} {
		s, err := ParseSpatial(tc.text, tc.srid, tc.kind)
		var e *Error
		if errors.As(err, &e) {
			if e.Number != tc.number {
				t.Errorf("%s: error %d %s, want %d", tc.text, e.Number, e.Message, tc.number)
			}
			continue
		}
		bytes := s.Bytes(tc.kind == Geography)
		if got := strings.ToUpper(hex.EncodeToString([]byte(bytes))); tc.number != 0 || tc.hex != "" && got != tc.hex {
			t.Errorf("%s: 0x%s, want 0x%s (error %d)", tc.text, got, tc.hex, tc.number)
		}
		back, err := ReadSpatial(bytes, tc.kind == Geography)
		if err != nil || back.WKT(true) != tc.want || back.SRID != int32(tc.srid) || back.Points() != s.Points() || !back.Valid {
			t.Errorf("%s: %+v %v, want %s", tc.text, back, err, tc.want)
		}
	}
}

// Whatever bytes there are: they are read or refused, and what was read is written as it was.
func TestSpatialBytes(t *testing.T) {
	t.Parallel()
	s, err := ParseSpatial("GEOMETRYCOLLECTION (POLYGON ((0 0, 1 0, 0 1, 0 0)), MULTIPOINT ((1 2), (3 4)))", 5, Geometry)
	if err != nil {
		t.Fatal(err)
	}
	good := []byte(s.Bytes(false))
	rapid.Check(t, func(t *rapid.T) {
		b := append([]byte(nil), good...)
		for range rapid.IntRange(0, 4).Draw(t, "changes") {
			b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		b = b[:rapid.IntRange(0, len(b)).Draw(t, "length")]
		s, err := ReadSpatial(string(b), false)
		if err != nil {
			return
		}
		if again, err := ReadSpatial(s.Bytes(false), false); err != nil || again.WKT(true) != s.WKT(true) {
			t.Fatalf("%x: %s %v, want %s", b, again.WKT(true), err, s.WKT(true))
		}
	})
}
