package sqltype

import (
	"math"
	"strconv"
	"strings"
)

// shapeNames are the names of shapes in text, and as STGeometryType gives them.
var shapeNames = [...]string{PointShape: "Point", LineShape: "LineString", PolygonShape: "Polygon", MultiPointShape: "MultiPoint", MultiLineShape: "MultiLineString",
	MultiPolygonShape: "MultiPolygon", CollectionShape: "GeometryCollection"}

func (k ShapeKind) String() string { return shapeNames[k] }

// WKT gives the well-known text; Z and M are written only when they are asked for (Microsoft: STAsText, AsTextZM).
func (s *Spatial) WKT(zm bool) string {
	w := wktWriter{z: zm && s.Z, m: zm && s.M}
	w.tagged(&s.Root)
	return w.String()
}

type wktWriter struct {
	strings.Builder
	z, m bool
}

func (w *wktWriter) tagged(s *Shape) {
	w.WriteString(strings.ToUpper(s.Kind.String()))
	w.WriteByte(' ')
	w.body(s)
}

func (w *wktWriter) body(s *Shape) {
	if len(s.Rings) == 0 && len(s.Parts) == 0 {
		w.WriteString("EMPTY")
		return
	}
	if s.Kind == PointShape || s.Kind == LineShape {
		w.points(s.Rings[0])
		return
	}
	w.WriteByte('(')
	for i, ring := range s.Rings {
		w.comma(i)
		w.points(ring)
	}
	for i := range s.Parts {
		w.comma(i)
		if s.Kind == CollectionShape {
			w.tagged(&s.Parts[i])
		} else {
			w.body(&s.Parts[i])
		}
	}
	w.WriteByte(')')
}

func (w *wktWriter) comma(i int) {
	if i > 0 {
		w.WriteString(", ")
	}
}

func (w *wktWriter) points(ps []Coordinate) {
	w.WriteByte('(')
	for i, p := range ps {
		w.comma(i)
		w.WriteString(spatialNumber(p.X) + " " + spatialNumber(p.Y))
		if w.z || w.m {
			w.WriteString(" " + spatialNumber(p.Z))
		}
		if w.m {
			w.WriteString(" " + spatialNumber(p.M))
		}
	}
	w.WriteByte(')')
}

// spatialNumber writes a number as .NET's round-trip format does.
func spatialNumber(f float64) string {
	if math.IsNaN(f) {
		return "NULL"
	}
	if a := math.Abs(f); a == 0 || a >= 1e-5 && a < 1e15 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'E', -1, 64), "E")
	return mantissa + "E" + exponent
}

// ParseSpatial reads well-known text, as STGeomFromText does (Microsoft: STGeomFromText (geometry Data Type), (geography Data
// Type)).
func ParseSpatial(text string, srid int64, kind Kind) (*Spatial, error) {
	if err := checkSRID(srid, kind); err != nil {
		return nil, err
	}
	p := wktReader{rest: text, s: &Spatial{SRID: int32(srid)}, kind: kind}
	root, err := p.tagged(0)
	if err != nil {
		return nil, err
	}
	if p.word() != "" || p.rest != "" {
		return nil, p.wrong()
	}
	p.s.Root = root
	if p.s.Valid, err = valid(&root, kind); err != nil {
		return nil, err
	}
	return p.s, nil
}

// checkSRID holds that a geometry's identifier is in its range. Those of geography are a long list, of which the simulator
// knows the one that everybody uses.
func checkSRID(srid int64, kind Kind) error {
	switch {
	case kind == Geography && srid != 4326:
		return Unsupported("geography of the spatial reference %d: 4326 is known", srid)
	case srid < 0 || srid > 999999:
		return spatialError(kind, "24100", "The spatial reference identifier (SRID) is not valid. SRIDs must be between 0 and 999999.")
	}
	return nil
}

// spatialError is an error of the library of spatial types, which comes as one of .NET.
func spatialError(kind Kind, number, message string) error {
	return Errorf(6522, "A .NET Framework error occurred during execution of user-defined routine or aggregate \"%s\": System.FormatException: %s: %s", kind, number, message)
}

type wktReader struct {
	rest string
	s    *Spatial
	kind Kind
}

func (p *wktReader) wrong() error {
	return spatialError(p.kind, "24114", "The label "+p.rest+" in the input well-known text (WKT) is not valid.")
}

func (p *wktReader) blanks() { p.rest = strings.TrimLeft(p.rest, " \t\r\n") }

// word reads letters.
func (p *wktReader) word() string {
	p.blanks()
	n := 0
	for n < len(p.rest) && p.rest[n]|0x20 >= 'a' && p.rest[n]|0x20 <= 'z' {
		n++
	}
	w := p.rest[:n]
	p.rest = p.rest[n:]
	return strings.ToUpper(w)
}

func (p *wktReader) sign(c byte) bool {
	p.blanks()
	if p.rest == "" || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

func (p *wktReader) tagged(depth int) (s Shape, err error) {
	before := p.rest
	w := p.word()
	switch w {
	case "CIRCULARSTRING", "COMPOUNDCURVE", "CURVEPOLYGON", "FULLGLOBE":
		return s, Unsupported("the shape %s of %s", w, p.kind)
	}
	for k := PointShape; k <= CollectionShape; k++ {
		if strings.ToUpper(k.String()) == w {
			s.Kind = k
		}
	}
	if s.Kind == 0 {
		p.rest = before
		return s, p.wrong()
	}
	return s, p.body(&s, depth)
}

func (p *wktReader) body(s *Shape, depth int) error {
	if depth > maxShapeDepth {
		return Unsupported("shapes of %s that lie more than %d deep in each other", p.kind, maxShapeDepth)
	}
	if before := p.rest; p.word() == "EMPTY" {
		return nil
	} else {
		p.rest = before
	}
	switch s.Kind {
	case PointShape, LineShape:
		ring, err := p.points()
		if err != nil {
			return err
		}
		if s.Kind == PointShape && len(ring) != 1 {
			return p.wrong()
		}
		if s.Kind == LineShape && len(ring) < 2 {
			return spatialError(p.kind, "24117", "The LineString input is not valid because it does not have enough distinct points. A LineString must have at least two distinct points.")
		}
		s.Rings = [][]Coordinate{ring}
		return nil
	}
	if !p.sign('(') {
		return p.wrong()
	}
	for {
		if err := p.part(s, depth); err != nil {
			return err
		}
		if !p.sign(',') {
			break
		}
	}
	if !p.sign(')') {
		return p.wrong()
	}
	return nil
}

// part reads a ring or a further shape.
func (p *wktReader) part(s *Shape, depth int) error {
	if s.Kind == PolygonShape {
		ring, err := p.points()
		if err != nil {
			return err
		}
		if len(ring) < 4 {
			return spatialError(p.kind, "24305", "The Polygon input is not valid because the ring does not have enough distinct points. Each ring of a polygon must contain at least three distinct points.")
		}
		if first, last := ring[0], ring[len(ring)-1]; first.X != last.X || first.Y != last.Y {
			return spatialError(p.kind, "24306", "The Polygon input is not valid because the start and end points of the ring are not the same. Each ring of a polygon must have the same start and end points.")
		}
		s.Rings = append(s.Rings, ring)
		return nil
	}
	if s.Kind == CollectionShape {
		part, err := p.tagged(depth + 1)
		s.Parts = append(s.Parts, part)
		return err
	}
	part := Shape{Kind: s.Kind - MultiPointShape + PointShape}
	p.blanks()
	if part.Kind == PointShape && p.rest != "" && p.rest[0] != '(' && p.rest[0]|0x20 != 'e' { // MULTIPOINT (1 2, 3 4)
		c, err := p.point()
		if err != nil {
			return err
		}
		part.Rings = [][]Coordinate{{c}}
	} else if err := p.body(&part, depth+1); err != nil {
		return err
	}
	s.Parts = append(s.Parts, part)
	return nil
}

func (p *wktReader) points() (out []Coordinate, err error) {
	if !p.sign('(') {
		return nil, p.wrong()
	}
	for {
		c, err := p.point()
		if err != nil {
			return nil, err
		}
		out = append(out, c)
		if !p.sign(',') {
			break
		}
	}
	if !p.sign(')') {
		return nil, p.wrong()
	}
	return out, nil
}

// point reads two to four numbers; the third and the fourth may be NULL.
func (p *wktReader) point() (c Coordinate, err error) {
	c = Coordinate{math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	for i, to := range []*float64{&c.X, &c.Y, &c.Z, &c.M} {
		p.blanks()
		if i >= 2 && (p.rest == "" || p.rest[0] == ',' || p.rest[0] == ')') {
			break
		}
		if i >= 2 && len(p.rest) >= 4 && strings.EqualFold(p.rest[:4], "null") {
			p.rest = p.rest[4:]
			continue
		}
		n := strings.IndexFunc(p.rest, func(r rune) bool { return !strings.ContainsRune("0123456789+-.eE", r) })
		if n < 0 {
			n = len(p.rest)
		}
		f, err := strconv.ParseFloat(p.rest[:n], 64)
		if err != nil || math.IsInf(f, 0) {
			return c, spatialError(p.kind, "24141", "A number is expected at the input \""+p.rest+"\".")
		}
		*to, p.rest = f, p.rest[n:]
	}
	p.s.Z, p.s.M = p.s.Z || !math.IsNaN(c.Z), p.s.M || !math.IsNaN(c.M)
	if p.kind == Geography {
		if c.Y < -90 || c.Y > 90 {
			return c, spatialError(p.kind, "24201", "Latitude values must be between -90 and 90 degrees.")
		}
		if c.X < -180 || c.X > 180 {
			return c, Unsupported("the longitude %v: those between -180 and 180 degrees are known", c.X)
		}
	}
	return c, nil
}
