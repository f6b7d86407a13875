package tsql

import (
	"reflect"
	"strings"

	"github.com/sqlc-dev/teesql/ast"
)

// sameTree compares two parts of a tree without their positions; names compare without case.
func sameTree(a, b any) bool { return sameValue(reflect.ValueOf(a), reflect.ValueOf(b)) }

var fragment = reflect.TypeOf(ast.Fragment{})

func sameValue(a, b reflect.Value) bool {
	if a.IsValid() != b.IsValid() {
		return false
	}
	if !a.IsValid() {
		return true
	}
	if a.Type() != b.Type() {
		return false
	}
	switch a.Kind() {
	case reflect.Interface, reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return sameValue(a.Elem(), b.Elem())
	case reflect.Struct:
		if a.Type() == fragment {
			return true
		}
		for i := range a.NumField() {
			if !a.Type().Field(i).IsExported() || a.Type().Field(i).Name == "QuoteType" {
				continue
			}
			if !sameValue(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !sameValue(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.String:
		return strings.EqualFold(a.String(), b.String())
	}
	return a.Equal(b)
}

// hasAggregate tells whether a part of a query computes an aggregate over its own rows.
func hasAggregate(x any) bool {
	return visit(reflect.ValueOf(x), func(f *ast.FunctionCall) bool {
		return f.OverClause == nil && f.CallTarget == nil && aggregateNames[strings.ToUpper(ident(f.FunctionName))]
	})
}

// hasSubquery tells whether an expression holds a query.
func hasSubquery(x any) bool {
	found := false
	walkTree(reflect.ValueOf(x), func(node any) bool {
		_, is := node.(*ast.QuerySpecification)
		found = found || is
		return !found
	})
	return found
}

// hasWindow tells whether a select list holds a function with OVER.
func hasWindow(x any) bool {
	return visit(reflect.ValueOf(x), func(f *ast.FunctionCall) bool { return f.OverClause != nil })
}

// visit looks for a function call outside of subqueries.
func visit(v reflect.Value, match func(*ast.FunctionCall) bool) bool {
	if !v.IsValid() {
		return false
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return false
		}
		if v.Kind() == reflect.Pointer {
			switch x := v.Interface().(type) {
			case *ast.FunctionCall:
				if match(x) {
					return true
				}
			case *ast.ScalarSubquery, *ast.ExistsPredicate:
				return false
			case ast.QueryExpression:
				return false
			}
		}
		return visit(v.Elem(), match)
	case reflect.Struct:
		if v.Type() == fragment {
			return false
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && visit(v.Field(i), match) {
				return true
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if visit(v.Index(i), match) {
				return true
			}
		}
	}
	return false
}
