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
		if name = x.SqlDataTypeOption; name == "" {
			name = writtenType(sourceText(b.declaring(), x))
		}
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

// declaring gives the text that the declarations being read are written in.
func (b *binder) declaring() string {
	if b.declarations != "" {
		return b.declarations
	}
	return b.batch.source
}

// writtenType gives the name of a type as it is written, such as [sys].[geometry]: the parser (teesql v1.1.0) keeps none
// behind DECLARE but those of the types it knows.
func writtenType(text string) string {
	var parts []string
	for _, t := range tokens(text) {
		if t.text != "." && !t.blank {
			parts = append(parts, strings.ReplaceAll(strings.Trim(t.text, "[]\""), "]]", "]"))
		}
	}
	switch {
	case len(parts) == 1, len(parts) == 2 && sqltype.EqualName(parts[0], "sys"):
		return parts[len(parts)-1]
	}
	failf(243, "Type %s is not a defined system type.", strings.TrimSpace(text))
	return ""
}
