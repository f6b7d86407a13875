package tsql

import (
	"strconv"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// converted gives the type of CAST and CONVERT.
func (b *binder) converted(d ast.DataTypeReference) sqltype.Type {
	t, err := b.dataType(d, 30)
	if e := asError(err); e != nil {
		switch e.Number {
		case 2716:
			fail(sqltype.Errorf(291, "CAST or CONVERT: invalid attributes specified for type '%s'", e.Message[strings.LastIndexByte(e.Message, ' ')+1:len(e.Message)-1]))
		case 2717:
			fail(sqltype.Errorf(131, "%s exceeds the maximum allowed for any data type (4000).", strings.Replace(before(e.Message, " exceeds"), "the type", "the convert specification", 1)))
		}
	}
	if err != nil {
		fail(err)
	}
	return t
}

func before(text, sep string) string {
	first, _, _ := strings.Cut(text, sep)
	return first
}

// declaredType gives the type of a column, a parameter or a variable, the ordinal-th of its statement.
func (b *binder) declaredType(d ast.DataTypeReference, what, name string, ordinal int) sqltype.Type {
	t, err := b.dataType(d, 1)
	e := asError(err)
	if e == nil {
		if err != nil {
			fail(err)
		}
		return t
	}
	switch number := "#" + strconv.Itoa(ordinal) + ":"; {
	case e.Number == 243:
		_, word, _ := strings.Cut(before(e.Message, " is not a defined"), " ")
		e = sqltype.Errorf(2715, "Column, parameter, or variable %s Cannot find data type %s.", number, word)
	case e.Number == 2717, e.Number == 131 && what == "column":
		e.Message = before(e.Message, " the type ") + " the " + what + " '" + name + "' exceeds" + strings.SplitN(e.Message, " exceeds", 2)[1]
	default:
		e.Message = strings.Replace(e.Message, "#1:", number, 1)
	}
	fail(e)
	return t
}

// dataType gives the type of a declaration. length is that of character and binary types without one: 30 in CAST
// and CONVERT, 1 in DECLARE and CREATE TABLE ("Microsoft: char and varchar (Transact-SQL)").
func (b *binder) dataType(d ast.DataTypeReference, length int) (sqltype.Type, error) {
	var name string
	var args []int
	switch x := d.(type) {
	case nil:
		unsupported("a definition without a type")
	case *ast.XmlDataTypeReference:
		return sqltype.Of(sqltype.XML), nil
	case *ast.UserDataTypeReference:
		name = ident(x.Name.BaseIdentifier)
	case *ast.SqlDataTypeReference:
		if name = x.SqlDataTypeOption; name == "" {
			var err error
			if name, err = writtenType(sourceText(b.declaring(), x)); err != nil {
				return sqltype.Type{}, err
			}
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
	return sqltype.MakeType(name, args)
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
func writtenType(text string) (string, error) {
	var parts []string
	for _, t := range tokens(text) {
		if t.text != "." && !t.blank {
			parts = append(parts, strings.ReplaceAll(strings.Trim(t.text, "[]\""), "]]", "]"))
		}
	}
	switch {
	case len(parts) == 1, len(parts) == 2 && sqltype.EqualName(parts[0], "sys"):
		return parts[len(parts)-1], nil
	}
	return "", sqltype.Errorf(243, "Type %s is not a defined system type.", strings.TrimSpace(text))
}
