package tsql

import (
	"strconv"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// dataType gives the type of a declaration. length is that of character and binary types without one: 30 in CAST
// and CONVERT, 1 in DECLARE and CREATE TABLE ("Microsoft: char and varchar (Transact-SQL)").
func (b *binder) dataType(d ast.DataTypeReference, length int) sqltype.Type {
	var name string
	var args []int
	switch x := d.(type) {
	case *ast.XmlDataTypeReference:
		return sqltype.Of(sqltype.XML)
	case *ast.UserDataTypeReference:
		name = ident(x.Name.BaseIdentifier)
	case *ast.SqlDataTypeReference:
		name = x.SqlDataTypeOption
		for _, p := range x.Parameters {
			switch l := p.(type) {
			case *ast.IntegerLiteral:
				n, err := strconv.Atoi(l.Value)
				if err != nil {
					failf(102, "Incorrect syntax near '%s'.", l.Value)
				}
				args = append(args, n)
			case *ast.MaxLiteral:
				args = append(args, sqltype.Max)
			default:
				unsupported("the type argument %s", nodeName(p))
			}
		}
	default:
		unsupported("the type %s", nodeName(d))
	}
	name = strings.ToLower(strings.ReplaceAll(name, "_", ""))
	if name == "sqlvariant" {
		name = "sql_variant"
	}
	if len(args) == 0 {
		switch name {
		case "char", "varchar", "nchar", "nvarchar", "binary", "varbinary":
			args = []int{length}
		}
	}
	t, err := sqltype.MakeType(name, args)
	if err != nil {
		fail(err)
	}
	return t
}
