package sqltype

import (
	"encoding/binary"
	"math"
	"strings"
)

// Spatial is a value of geometry or geography.
type Spatial struct {
	SRID int32
	Root Shape
	Z, M bool // some point has one
	// Valid is what STIsValid says.
	Valid bool
}

// ShapeKind is what a shape is, as OGC numbers it.
type ShapeKind uint8

// The kinds of shapes that are known. Circular ones and FULLGLOBE are not.
const (
	PointShape ShapeKind = iota + 1
	LineShape
	PolygonShape
	MultiPointShape
	MultiLineShape
	MultiPolygonShape
	CollectionShape
)

// Shape is a shape: lists of points, of a polygon the exterior ring first; or further shapes.
type Shape struct {
	Kind  ShapeKind
	Rings [][]Coordinate
	Parts []Shape
}

// Coordinate is a point. In geography X is the longitude and Y the latitude. What is missing is NaN.
type Coordinate struct{ X, Y, Z, M float64 }

// Properties of a value, and attributes of its figures (Microsoft: [MS-SSCLRT] GEOGRAPHY Structure).
const (
	propZ     = 0x01
	propM     = 0x02
	propValid = 0x04
	propPoint = 0x08
	propLine  = 0x10

	figureHole   = 0
	figureStroke = 1
	figureRing   = 2
)

// figure is a run of points, placed is a shape among others: what the format lists.
type figure struct {
	attribute byte
	point     int32
}

type placed struct {
	parent, figure int32
	kind           ShapeKind
}

// Bytes gives the value as it is stored and sent (Microsoft: [MS-SSCLRT] GEOGRAPHY Structure, which geometry has too).
func (s *Spatial) Bytes(geography bool) string {
	var points []Coordinate
	var figures []figure
	var shapes []placed
	var add func(sh *Shape, parent int32)
	add = func(sh *Shape, parent int32) {
		at := len(shapes)
		shapes = append(shapes, placed{parent, int32(len(figures)), sh.Kind})
		for i, ring := range sh.Rings {
			f := figure{figureStroke, int32(len(points))}
			if sh.Kind == PolygonShape {
				f.attribute = figureRing
				if i > 0 {
					f.attribute = figureHole
				}
			}
			figures, points = append(figures, f), append(points, ring...)
		}
		for i := range sh.Parts {
			add(&sh.Parts[i], int32(at))
		}
		if int(shapes[at].figure) == len(figures) {
			shapes[at].figure = -1 // it has none
		}
	}
	add(&s.Root, -1)
	props := byte(0)
	for bit, on := range map[byte]bool{propZ: s.Z, propM: s.M, propValid: s.Valid} {
		if on {
			props |= bit
		}
	}
	simple := true
	switch {
	case s.Root.Kind == PointShape && len(points) == 1:
		props |= propPoint
	case s.Root.Kind == LineShape && len(points) == 2:
		props |= propLine
	default:
		simple = false
	}
	b := binary.LittleEndian.AppendUint32(nil, uint32(s.SRID))
	b = append(b, 1, props)
	count := func(n int) { b = binary.LittleEndian.AppendUint32(b, uint32(n)) }
	number := func(f float64) { b = binary.LittleEndian.AppendUint64(b, math.Float64bits(f)) }
	if !simple {
		count(len(points))
	}
	for _, p := range points {
		if geography { // latitude first
			p.X, p.Y = p.Y, p.X
		}
		number(p.X)
		number(p.Y)
	}
	for _, p := range points {
		if s.Z {
			number(p.Z)
		}
	}
	for _, p := range points {
		if s.M {
			number(p.M)
		}
	}
	if simple {
		return string(b)
	}
	count(len(figures))
	for _, f := range figures {
		b = append(b, f.attribute)
		count(int(f.point))
	}
	count(len(shapes))
	for _, sh := range shapes {
		count(int(sh.parent))
		count(int(sh.figure))
		b = append(b, byte(sh.kind))
	}
	return string(b)
}

// ReadSpatial reads what Bytes wrote. Other versions of the format are refused.
func ReadSpatial(bytes string, geography bool) (*Spatial, error) {
	r := spatialReader{b: []byte(bytes)}
	s := &Spatial{SRID: int32(r.u32())}
	version, props := r.u8(), r.u8()
	if r.bad || version != 1 || props&^(propZ|propM|propValid|propPoint|propLine) != 0 {
		return nil, Unsupported("this form of a %s", map[bool]string{true: "geography", false: "geometry"}[geography])
	}
	s.Z, s.M, s.Valid = props&propZ != 0, props&propM != 0, props&propValid != 0
	n := 0
	switch {
	case props&propPoint != 0:
		n = 1
	case props&propLine != 0:
		n = 2
	default:
		n = r.count(16)
	}
	points := make([]Coordinate, n)
	for i := range points {
		p := Coordinate{r.number(), r.number(), math.NaN(), math.NaN()}
		if geography {
			p.X, p.Y = p.Y, p.X
		}
		points[i] = p
	}
	for i := range points {
		if s.Z {
			points[i].Z = r.number()
		}
	}
	for i := range points {
		if s.M {
			points[i].M = r.number()
		}
	}
	figures, shapes := []figure{{figureStroke, 0}}, []placed{{-1, 0, PointShape}}
	switch {
	case props&propPoint != 0:
	case props&propLine != 0:
		shapes[0].kind = LineShape
	default:
		figures = make([]figure, r.count(5))
		for i := range figures {
			figures[i] = figure{r.u8(), int32(r.u32())}
		}
		shapes = make([]placed, r.count(9))
		for i := range shapes {
			shapes[i] = placed{int32(r.u32()), int32(r.u32()), ShapeKind(r.u8())}
		}
	}
	if r.bad || len(r.b) > 0 || len(shapes) == 0 || !s.assemble(points, figures, shapes) {
		return nil, Errorf(6522, "A .NET Framework error occurred during execution of user-defined routine or aggregate \"%s\": System.FormatException: One of the identified items was in an invalid format.",
			map[bool]string{true: "geography", false: "geometry"}[geography])
	}
	return s, nil
}

// assemble puts the lists of the format together; ok is false when they do not fit each other.
func (s *Spatial) assemble(points []Coordinate, figures []figure, shapes []placed) (ok bool) {
	at := 0
	var build func(depth int) (Shape, bool)
	build = func(depth int) (Shape, bool) {
		me := at
		sh := Shape{Kind: shapes[me].kind}
		at++
		if sh.Kind < PointShape || sh.Kind > CollectionShape || depth > maxShapeDepth {
			return sh, false
		}
		if sh.Kind >= MultiPointShape {
			for at < len(shapes) && shapes[at].parent == int32(me) {
				part, ok := build(depth + 1)
				if !ok {
					return sh, false
				}
				sh.Parts = append(sh.Parts, part)
			}
			return sh, true
		}
		first := int(shapes[me].figure)
		if first < 0 {
			return sh, true
		}
		end := len(figures)
		for _, next := range shapes[me+1:] {
			if next.figure >= 0 {
				end = int(next.figure)
				break
			}
		}
		if first > end || end > len(figures) || sh.Kind != PolygonShape && end-first != 1 {
			return sh, false
		}
		for i := first; i < end; i++ {
			from, to := int(figures[i].point), len(points)
			if i+1 < len(figures) {
				to = int(figures[i+1].point)
			}
			if from < 0 || from >= to || to > len(points) {
				return sh, false
			}
			sh.Rings = append(sh.Rings, points[from:to])
		}
		return sh, true
	}
	if shapes[0].parent != -1 {
		return false
	}
	s.Root, ok = build(0)
	return ok && at == len(shapes)
}

// maxShapeDepth is how deep collections may lie in each other.
const maxShapeDepth = 64

type spatialReader struct {
	b   []byte
	bad bool
}

func (r *spatialReader) take(n int) []byte {
	if len(r.b) < n {
		r.bad, r.b = true, nil
		return make([]byte, n)
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *spatialReader) u8() byte    { return r.take(1)[0] }
func (r *spatialReader) u32() uint32 { return binary.LittleEndian.Uint32(r.take(4)) }
func (r *spatialReader) number() float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(r.take(8)))
}

// count reads the length of a list, which the bytes that follow must have room for.
func (r *spatialReader) count(size int) int {
	n := int64(r.u32())
	if n*int64(size) > int64(len(r.b)) {
		r.bad, r.b = true, nil
		return 0
	}
	return int(n)
}

// Points counts the points.
func (s *Spatial) Points() int { return s.Root.points() }

func (s *Shape) points() (n int) {
	for _, r := range s.Rings {
		n += len(r)
	}
	for i := range s.Parts {
		n += s.Parts[i].points()
	}
	return n
}

// SpatialPoint gives a point; of geography x is the longitude (Microsoft: Point (geometry Data Type), (geography Data Type)).
func SpatialPoint(x, y float64, srid int64, kind Kind) (*Spatial, error) {
	return ParseSpatial("POINT ("+spatialNumber(x)+" "+spatialNumber(y)+")", srid, kind)
}

// toSpatial is what Parse does of a text.
func toSpatial(v Value, kind Kind) (Value, error) {
	if strings.EqualFold(strings.TrimSpace(v.s), "null") {
		return Value{}, nil
	}
	srid := int64(0)
	if kind == Geography {
		srid = 4326
	}
	s, err := ParseSpatial(v.s, srid, kind)
	if err != nil {
		return Value{}, err
	}
	return FromBytes(s.Bytes(kind == Geography)), nil
}
