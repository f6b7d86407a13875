package mssqlsim

import "testing"

// Microsoft: Spatial Data Types Overview, STGeomFromText, Parse, Point, STAsText, STSrid, Lat, Long.
func TestMethodsOfSpatialTypes(t *testing.T) {
	t.Parallel()
	_, pool := newDatabase(t)
	runBatches(t, pool, "CREATE TABLE dbo.places (id int NOT NULL PRIMARY KEY, place geography NULL, shape geometry NULL)",
		"INSERT dbo.places VALUES (1, geography::Point(47.656, -122.36, 4326), 'POINT (3 4)'), (2, NULL, geometry::STGeomFromText('LINESTRING (0 0, 1 1, 2 1)', 7))")
	for _, tc := range []struct{ name, batch, want string }{
		{"bytes", "SELECT geometry::STGeomFromText('POINT (1 2)', 0)", "0x00000000010C000000000000F03F0000000000000040"},
		{"text", "SELECT geometry::STGeomFromText('LINESTRING(1 2,3 4)', 0).STAsText(), geography::Parse('POINT (1 2 3)').ToString(), geometry::Parse('POINT (1 2 3)').STAsText()", "LINESTRING (1 2, 3 4)|POINT (1 2 3)|POINT (1 2)"},
		{"of a variable", "DECLARE @g geography = geography::STGeomFromText('POINT(-122.36 47.656)', 4326); SELECT @g.Lat, @g.Long, @g.STSrid, @g.STGeometryType(), @g.STNumPoints(), @g.Z", "47.656|-122.36|4326|Point|1|NULL"},
		{"of a column", "SELECT place.Lat, p.place.Long, shape.STX, p.shape.STAsText() FROM dbo.places p WHERE p.shape.STSrid = 0", "47.656|-122.36|3|POINT (3 4)"},
		{"of NULL", "SELECT place.Lat, place.ToString(), shape.STX FROM dbo.places WHERE id = 2; SELECT geometry::[Null].STAsText(), geometry::Parse('Null').STSrid", "NULL|NULL|NULL,NULL|NULL"},
		{"of a subquery", "SELECT (SELECT shape FROM dbo.places WHERE id = 2).STAsText()", "LINESTRING (0 0, 1 1, 2 1)"},
		{"in CASTs", "SELECT CAST(CAST('point (1 2)' AS geometry) AS nvarchar(max)), CAST(0x00000000010C000000000000F03F0000000000000040 AS geometry).ToString()", "POINT (1 2)|POINT (1 2)"},
		{"empty", "SELECT geometry::Parse('POINT EMPTY').STIsEmpty(), geometry::Parse('POINT EMPTY').STX, geometry::Parse('POINT (1 2)').STIsValid()", "true|NULL|true"},
		{"hierarchyid", "SELECT hierarchyid::Parse('/1/3/').ToString()", "/1/3/"},
		{"no shape", "SELECT geometry::STGeomFromText('PONT (1 2)', 0)", "6522"},
		{"no bytes", "SELECT CAST(0x0102 AS geometry).ToString()", "50001"},
		{"a method that is not known", "SELECT geometry::Parse('POINT (1 2)').STBuffer(1)", "50001"},
		{"a name in other letters", "SELECT geometry::Parse('POINT (1 2)').stastext()", "50001"},
		{"of the other type", "SELECT geometry::Parse('POINT (1 2)').Lat", "50001"},
		{"a property as a method", "SELECT geometry::Parse('POINT (1 2)').STSrid()", "6592"},
		{"a number has none", "DECLARE @n int = 1; SELECT @n.ToString()", "258"},
		{"no type", "SELECT nothing::Parse('a')", "243"},
		{"a shape that is not known", "SELECT geometry::Parse('CIRCULARSTRING (0 0, 1 1, 2 0)')", "50001"},
	} {
		batchAnswers(t, pool, tc.name, tc.batch, tc.want)
	}
}
