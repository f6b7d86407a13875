package sqltype

// valid tells whether a shape is valid (Microsoft: STIsValid (geometry Data Type); Spatial Data Types Overview). What needs more
// of computational geometry than lines that are apart is refused: its answer would be a guess, and it is stored in each value.
func valid(s *Shape, kind Kind) (bool, error) {
	unclear := Unsupported("a %s of %s whose lines touch, cross or lie on each other: whether it is valid would be a guess", s.Kind, kind)
	switch s.Kind {
	case PointShape, MultiPointShape:
		return true, nil
	case LineShape:
		if len(s.Rings) > 0 && overlaps(s.Rings[0]) {
			return false, unclear
		}
		return true, nil
	case PolygonShape, MultiPolygonShape:
		if kind == Geography && (len(s.Rings) > 0 || len(s.Parts) > 0) {
			return false, Unsupported("the shape %s of geography", s.Kind)
		}
		polygons := s.Parts
		if s.Kind == PolygonShape {
			polygons = []Shape{*s}
		}
		if !apart(polygons) {
			return false, unclear
		}
		return true, nil
	}
	for i := range s.Parts {
		if ok, err := valid(&s.Parts[i], kind); err != nil || !ok {
			return ok, err
		}
	}
	if s.Kind == MultiLineShape && len(s.Parts) > 1 {
		var all [][]Coordinate
		for _, p := range s.Parts {
			all = append(all, p.Rings...)
		}
		for i := range all {
			for _, o := range all[i+1:] {
				if meet(all[i], o) {
					return false, unclear
				}
			}
		}
	}
	return true, nil
}

// overlaps tells whether a line has a point twice, other than as its end, or a segment that touches another.
func overlaps(line []Coordinate) bool {
	for i := range len(line) - 1 {
		if line[i].X == line[i+1].X && line[i].Y == line[i+1].Y {
			return true
		}
		for j := i + 1; j < len(line)-1; j++ {
			a, b, c, d := line[i], line[i+1], line[j], line[j+1]
			if j == i+1 { // they share b; the next may not go back
				if side(a, b, d) == 0 && within(a, b, d) || side(b, d, a) == 0 && within(b, d, a) {
					return true
				}
				continue
			}
			closes := i == 0 && j == len(line)-2 && a.X == d.X && a.Y == d.Y
			if closes {
				if side(a, b, c) == 0 && within(a, b, c) || side(c, d, b) == 0 && within(c, d, b) {
					return true
				}
				continue
			}
			if cross(a, b, c, d) {
				return true
			}
		}
	}
	return false
}

// apart tells that all rings of polygons are simple, that none meets another, and that holes lie in their exterior ring and
// nothing else lies in anything.
func apart(polygons []Shape) bool {
	type ring struct {
		points  []Coordinate
		polygon int
		hole    bool
	}
	var rings []ring
	for i, p := range polygons {
		for k, r := range p.Rings {
			if overlaps(r) {
				return false
			}
			rings = append(rings, ring{r, i, k > 0})
		}
	}
	for i, a := range rings {
		for j, b := range rings {
			if i == j {
				continue
			}
			if i < j && meet(a.points, b.points) {
				return false
			}
			if inside(b.points[0], a.points) != (b.hole && !a.hole && a.polygon == b.polygon) {
				return false
			}
		}
	}
	return true
}

// meet tells whether two lines have a point in common.
func meet(p, q []Coordinate) bool {
	for i := range len(p) - 1 {
		for j := range len(q) - 1 {
			if cross(p[i], p[i+1], q[j], q[j+1]) {
				return true
			}
		}
	}
	return false
}

// side tells on which side of a line a point lies, 0 on it.
func side(a, b, p Coordinate) int {
	v := (b.X-a.X)*(p.Y-a.Y) - (b.Y-a.Y)*(p.X-a.X)
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}

// within tells whether a point on the line of a segment lies in the segment.
func within(a, b, p Coordinate) bool {
	return min(a.X, b.X) <= p.X && p.X <= max(a.X, b.X) && min(a.Y, b.Y) <= p.Y && p.Y <= max(a.Y, b.Y)
}

// cross tells whether two segments have a point in common.
func cross(a, b, c, d Coordinate) bool {
	s1, s2, s3, s4 := side(a, b, c), side(a, b, d), side(c, d, a), side(c, d, b)
	return s1*s2 < 0 && s3*s4 < 0 || s1 == 0 && within(a, b, c) || s2 == 0 && within(a, b, d) || s3 == 0 && within(c, d, a) || s4 == 0 && within(c, d, b)
}

// inside tells whether a point lies in a ring.
func inside(p Coordinate, ring []Coordinate) (in bool) {
	for i := range len(ring) - 1 {
		a, b := ring[i], ring[i+1]
		if (a.Y > p.Y) != (b.Y > p.Y) && p.X < (b.X-a.X)*(p.Y-a.Y)/(b.Y-a.Y)+a.X {
			in = !in
		}
	}
	return in
}
