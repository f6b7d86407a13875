package tsql

import (
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// clrMethod is a method or a property of a CLR type's value.
type clrMethod struct {
	geometry, geography bool // the types that have it
	property            bool
	returns             sqltype.Type
	call                func(s *sqltype.Spatial) sqltype.Value
}

var clrText = sqltype.Str(sqltype.NVarChar, sqltype.Max)

// clrMethods are those of the spatial types that are known (Microsoft: OGC Methods on Geometry Instances, OGC Methods on
// Geography Instances, Extended Methods on Geometry Instances, Extended Methods on Geography Instances).
var clrMethods = map[string]clrMethod{
	"STAsText":       {true, true, false, clrText, func(s *sqltype.Spatial) sqltype.Value { return sqltype.FromString(s.WKT(false)) }},
	"AsTextZM":       {true, true, false, clrText, func(s *sqltype.Spatial) sqltype.Value { return sqltype.FromString(s.WKT(true)) }},
	"ToString":       {true, true, false, clrText, func(s *sqltype.Spatial) sqltype.Value { return sqltype.FromString(s.WKT(true)) }},
	"STGeometryType": {true, true, false, sqltype.Str(sqltype.NVarChar, 4000), func(s *sqltype.Spatial) sqltype.Value { return sqltype.FromString(s.Root.Kind.String()) }},
	"STIsEmpty":      {true, true, false, sqltype.Of(sqltype.Bit), func(s *sqltype.Spatial) sqltype.Value { return sqltype.FromBool(s.Points() == 0) }},
	"STIsValid":      {true, true, false, sqltype.Of(sqltype.Bit), func(s *sqltype.Spatial) sqltype.Value { return sqltype.FromBool(s.Valid) }},
	"STNumPoints":    {true, true, false, sqltype.Of(sqltype.Int), func(s *sqltype.Spatial) sqltype.Value { return sqltype.FromInt(int64(s.Points())) }},
	"STSrid":         {true, true, true, sqltype.Of(sqltype.Int), func(s *sqltype.Spatial) sqltype.Value { return sqltype.FromInt(int64(s.SRID)) }},
	"HasZ":           {true, true, true, sqltype.Of(sqltype.Bit), func(s *sqltype.Spatial) sqltype.Value { return sqltype.FromBool(s.Z) }},
	"HasM":           {true, true, true, sqltype.Of(sqltype.Bit), func(s *sqltype.Spatial) sqltype.Value { return sqltype.FromBool(s.M) }},
	"STX":            {true, false, true, sqltype.Of(sqltype.Float), ofPoint(func(c sqltype.Coordinate) float64 { return c.X })},
	"STY":            {true, false, true, sqltype.Of(sqltype.Float), ofPoint(func(c sqltype.Coordinate) float64 { return c.Y })},
	"Long":           {false, true, true, sqltype.Of(sqltype.Float), ofPoint(func(c sqltype.Coordinate) float64 { return c.X })},
	"Lat":            {false, true, true, sqltype.Of(sqltype.Float), ofPoint(func(c sqltype.Coordinate) float64 { return c.Y })},
	"Z":              {true, true, true, sqltype.Of(sqltype.Float), ofPoint(func(c sqltype.Coordinate) float64 { return c.Z })},
	"M":              {true, true, true, sqltype.Of(sqltype.Float), ofPoint(func(c sqltype.Coordinate) float64 { return c.M })},
}

// ofPoint gives a number of a point; it is NULL of everything else, and where it is missing.
func ofPoint(get func(sqltype.Coordinate) float64) func(*sqltype.Spatial) sqltype.Value {
	return func(s *sqltype.Spatial) sqltype.Value {
		if s.Root.Kind != sqltype.PointShape || len(s.Root.Rings) == 0 {
			return sqltype.Value{}
		}
		f := get(s.Root.Rings[0][0])
		if f != f {
			return sqltype.Value{}
		}
		return sqltype.FromFloat(f)
	}
}

// member binds value.name and value.name(...). Names of CLR types keep their case.
func (b *binder) member(v expr, name string, args []ast.ScalarExpression, property bool) expr {
	kind := v.typ.Kind
	if kind == sqltype.HierarchyID && name == "ToString" && !property && len(args) == 0 {
		return b.cast(v, clrText, 0)
	}
	if kind != sqltype.Geometry && kind != sqltype.Geography {
		if v.typ.Class() != sqltype.ClassOther && kind != sqltype.XML {
			failf(258, "Cannot call methods on %s.", kind)
		}
		unsupported("%s of %s", name, kind)
	}
	m, ok := clrMethods[name]
	if !ok || kind == sqltype.Geometry && !m.geometry || kind == sqltype.Geography && !m.geography {
		unsupported("%s of %s", name, kind)
	}
	if m.property != property {
		what := map[bool]string{true: "property or field", false: "method"}[property]
		failf(6592, "Could not find %s '%s' for type 'Microsoft.SqlServer.Types.Sql%s' in assembly 'Microsoft.SqlServer.Types'.", what, name, strings.ToUpper(kind.String()[:1])+kind.String()[1:])
	}
	if len(args) > 0 {
		unsupported("arguments of %s of %s", name, kind)
	}
	return folded(expr{typ: m.returns, null: true, konst: v.konst, eval: func(f *frame) sqltype.Value {
		w := v.eval(f)
		if w.IsNull() || b.err != nil {
			return sqltype.Value{}
		}
		s, err := sqltype.ReadSpatial(w.Str(), kind == sqltype.Geography)
		if err != nil {
			b.fail(err)
			return sqltype.Value{}
		}
		return m.call(s)
	}})
}

// static binds type::name(...) (Microsoft: STGeomFromText, Parse, Point of both types).
func (b *binder) static(typ *ast.SchemaObjectName, name string, args []expr, property bool) expr {
	n := objectName(typ)
	t, err := sqltype.MakeType(lower(n.Object), nil)
	if err != nil || t.Class() != sqltype.ClassOther || t.Kind == sqltype.Variant || n.Schema != "" && !sqltype.EqualName(n.Schema, "sys") {
		failf(243, "Type %s is not a defined system type.", n)
	}
	switch {
	case property && name == "Null":
		return constant(t, sqltype.Value{})
	case property || t.Kind == sqltype.HierarchyID && name != "Parse":
		unsupported("%s::%s", t.Kind, name)
	case name == "Parse" && len(args) == 1:
		return b.cast(b.cast(args[0], clrText, 0), t, 0)
	case name == "STGeomFromText" && len(args) == 2:
		text, srid := b.cast(args[0], clrText, 0), b.cast(args[1], sqltype.Of(sqltype.Int), 0)
		return b.spatial(t, func(f *frame) (*sqltype.Spatial, error) {
			v, s := text.eval(f), srid.eval(f)
			if v.IsNull() || s.IsNull() || b.err != nil {
				return nil, nil
			}
			return sqltype.ParseSpatial(v.Str(), s.Int(), t.Kind)
		}, text, srid)
	case name == "Point" && len(args) == 3:
		x, y, srid := b.cast(args[0], sqltype.Of(sqltype.Float), 0), b.cast(args[1], sqltype.Of(sqltype.Float), 0), b.cast(args[2], sqltype.Of(sqltype.Int), 0)
		if t.Kind == sqltype.Geography { // latitude first
			x, y = y, x
		}
		return b.spatial(t, func(f *frame) (*sqltype.Spatial, error) {
			v, w, s := x.eval(f), y.eval(f), srid.eval(f)
			if v.IsNull() || w.IsNull() || s.IsNull() || b.err != nil {
				return nil, nil
			}
			return sqltype.SpatialPoint(v.Float(), w.Float(), s.Int(), t.Kind)
		}, x, y, srid)
	}
	unsupported("%s::%s with %d arguments", t.Kind, name, len(args))
	return expr{}
}

// spatial makes an expression of what gives a spatial value, or none for NULL.
func (b *binder) spatial(t sqltype.Type, value func(*frame) (*sqltype.Spatial, error), args ...expr) expr {
	konst := true
	for _, a := range args {
		konst = konst && a.konst
	}
	return folded(expr{typ: t, null: true, konst: konst, eval: func(f *frame) sqltype.Value {
		s, err := value(f)
		if err != nil {
			b.fail(err)
		}
		if s == nil || err != nil {
			return sqltype.Value{}
		}
		return sqltype.FromBytes(s.Bytes(t.Kind == sqltype.Geography))
	}})
}

// methodCall binds a call with something before its point, where it is one of a CLR type; ok is false for one of a schema.
func (b *binder) methodCall(e *ast.FunctionCall, sc *scope) (x expr, ok bool) {
	name := e.FunctionName.Value
	switch t := e.CallTarget.(type) {
	case *ast.UserDefinedTypeCallTarget:
		return b.static(t.SchemaObjectName, name, b.exprs(e.Parameters, sc), false), true
	case *ast.ExpressionCallTarget:
		return b.member(b.expr(t.Expression, sc), name, e.Parameters, false), true
	case *ast.MultiPartIdentifierCallTarget:
		if c := (&ast.ColumnReferenceExpression{ColumnType: "Regular", MultiPartIdentifier: t.MultiPartIdentifier}); sc.clrColumn(c) {
			return b.member(b.column(c, sc), name, e.Parameters, false), true
		}
	}
	return expr{}, false
}

// property binds value.name and type::name.
func (b *binder) property(e *ast.UserDefinedTypePropertyAccess, sc *scope) expr {
	switch t := e.CallTarget.(type) {
	case *ast.UserDefinedTypeCallTarget:
		return b.static(t.SchemaObjectName, ident(e.PropertyName), nil, true)
	case *ast.ExpressionCallTarget:
		return b.member(b.expr(t.Expression, sc), ident(e.PropertyName), nil, true)
	}
	unsupported("the property %s", ident(e.PropertyName))
	return expr{}
}

// columnProperty binds column.name, which is written as a column of a table; ok is false when it is one.
func (b *binder) columnProperty(c *ast.ColumnReferenceExpression, sc *scope) (x expr, ok bool) {
	ids := c.MultiPartIdentifier.Identifiers
	if len(ids) < 2 {
		return expr{}, false
	}
	of := &ast.ColumnReferenceExpression{ColumnType: "Regular", MultiPartIdentifier: &ast.MultiPartIdentifier{Identifiers: ids[:len(ids)-1]}}
	if !sc.clrColumn(of) {
		return expr{}, false
	}
	return b.member(b.column(of, sc), ids[len(ids)-1].Value, nil, true), true
}

// clrColumn tells whether a name means a column of a CLR type.
func (s *scope) clrColumn(c *ast.ColumnReferenceExpression) bool {
	for ; s != nil; s = s.outer {
		if t, ord := s.find(c); t != nil {
			return t.cols[ord].Type.Class() == sqltype.ClassOther && t.cols[ord].Type.Kind != sqltype.Variant
		}
	}
	return false
}
