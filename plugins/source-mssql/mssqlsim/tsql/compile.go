package tsql

import (
	"reflect"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// compiler looks a batch or the body of a procedure through before it begins: an error that it finds leaves nothing done,
// and no TRY sees it (Microsoft: TRY...CATCH (Transact-SQL), Errors unaffected by a TRY...CATCH construct). It knows
// variables and the places of statements, and binds those whose tables are there.
type compiler struct {
	x *executor
	// declared are the names that statements so far know, in lower case.
	declared map[string]bool
	// variables tells whether a statement may name a variable that is not there.
	variables bool
	// level is how many blocks, IF and WHILE are around a statement.
	level int
	// catching is how many CATCH blocks are.
	catching int
	// binding tells that names may be looked up; begun, that a statement was met that does something, and first is the first
	// of them where it is to be bound.
	binding, begun bool
	first          ast.Statement
}

// compiler makes a compiler. While another session changes the shape of the database, names are left to the statements,
// which wait for it.
func (x *executor) compiler(variables bool) *compiler {
	return &compiler{x: x, variables: variables, declared: map[string]bool{}, binding: x.sess.Steady()}
}

// compile declares the variables of a list of statements, wherever in it they are declared (Microsoft: Variables
// (Transact-SQL), Variable scope: from the point of the declaration to the end of the batch or procedure).
func (x *executor) compile(list []ast.Statement, source string) error {
	if x.unknownVariable(source) {
		return x.declareAll(list, true, false)
	}
	return x.compiler(false).batch(list)
}

// declareAll is compile of statements that do declare or name variables; look is false for those that were looked through
// before. With all, the first statement is bound as well: it is not going to run.
func (x *executor) declareAll(list []ast.Statement, look, all bool) error {
	c := x.compiler(look)
	c.begun = all
	for name := range x.batch.vars {
		c.declared[name] = true
	}
	return c.batch(list)
}

// batch compiles the statements of a batch or of the body of a procedure.
func (c *compiler) batch(list []ast.Statement) error {
	sess := c.x.sess
	defer func() { c.x.sess = sess }()
	return c.statements(list, false)
}

// unknownVariable tells whether a text holds a word like a variable that is none of those there, be it in a text or a
// comment. Most statements of readers have parameters alone, and are not looked through.
func (x *executor) unknownVariable(source string) bool {
	for i := 0; i < len(source); i++ {
		if source[i] != '@' || i > 0 && wordByte(source[i-1]) {
			continue
		}
		end := i + 1
		for end < len(source) && wordByte(source[end]) {
			end++
		}
		if name := source[i:end]; !strings.HasPrefix(name, "@@") && x.batch.vars[name] == nil && x.batch.vars[lower(name)] == nil {
			return true
		}
		i = end - 1
	}
	return hasWord(source, "declare")
}

func (c *compiler) statements(list []ast.Statement, loop bool) error {
	for _, st := range list {
		if err := c.statement(st, loop); err != nil {
			return c.x.located(err, st)
		}
	}
	return nil
}

// statement looks one statement through; loop tells that it is in a WHILE.
func (c *compiler) statement(st ast.Statement, loop bool) (err error) {
	defer func() { c.begun = c.begun || !quiet(st) }()
	defer catch(&err)
	switch s := st.(type) {
	case nil:
		return nil
	case *ast.BeginEndBlockStatement:
		return c.block(s.StatementList, loop)
	case *ast.TryCatchStatement:
		if err := c.block(s.TryStatements, loop); err != nil {
			return err
		}
		c.catching++
		defer func() { c.catching-- }()
		return c.block(s.CatchStatements, loop)
	case *ast.IfStatement:
		if err := c.names(s.Predicate); err != nil {
			return err
		}
		if err := c.bind(s); err != nil {
			return err
		}
		c.begun = true
		if err := c.inner([]ast.Statement{s.ThenStatement}, loop); err != nil || s.ElseStatement == nil {
			return err
		}
		return c.inner([]ast.Statement{s.ElseStatement}, loop)
	case *ast.WhileStatement:
		if err := c.names(s.Predicate); err != nil {
			return err
		}
		if err := c.bind(s); err != nil {
			return err
		}
		c.begun = true
		return c.inner([]ast.Statement{s.Statement}, true)
	case *ast.BreakStatement:
		if !loop {
			return sqltype.Errorf(135, "Cannot use a BREAK statement outside the scope of a WHILE statement.")
		}
	case *ast.ContinueStatement:
		if !loop {
			return sqltype.Errorf(136, "Cannot use a CONTINUE statement outside the scope of a WHILE statement.")
		}
	case *ast.CreateProcedureStatement, *ast.CreateOrAlterProcedureStatement, *ast.AlterProcedureStatement:
		if c.level > 0 {
			return sqltype.Errorf(156, "Incorrect syntax near the keyword 'PROCEDURE'.")
		}
		return nil // its body is looked through when it is made
	case *ast.CreateSchemaStatement:
		if c.level > 0 {
			return sqltype.Errorf(156, "Incorrect syntax near the keyword 'SCHEMA'.")
		}
	case *ast.DeclareVariableStatement:
		for _, d := range s.Declarations {
			if err := c.names(d.Value); err != nil {
				return err
			}
			if err := c.declare(d.VariableName); err != nil {
				return err
			}
			if err := c.x.plain(func(b *binder) { c.x.variable(b, d) }); err != nil {
				return err
			}
		}
		return c.bind(st)
	case *ast.DeclareTableVariableStatement:
		if err := c.declare(s.Body.VariableName); err != nil {
			return err
		}
		return c.x.plain(func(b *binder) {
			name := s.Body.VariableName.Value
			b.tables[lower(name)] = c.x.tableVariable(b, name, s.Body.Definition)
		})
	case *ast.UseStatement:
		return c.use(s)
	case *ast.ThrowStatement:
		if s.ErrorNumber == nil && c.catching == 0 {
			return nothingCaught()
		}
		return c.names(st)
	case *ast.ReturnStatement:
		if s.Expression != nil && c.x.batch.routine == nil {
			return sqltype.Errorf(178, "A RETURN statement with a return value cannot be used in this context.")
		}
		if err := c.names(st); err != nil {
			return err
		}
		return c.bind(st)
	case *ast.ExecuteStatement:
		if err := namedBehind(s.ExecuteSpecification); err != nil {
			return err
		}
		return c.names(st)
	default:
		if err := c.names(st); err != nil {
			return err
		}
		return c.bind(st)
	}
	return nil
}

// quiet tells that a statement does nothing that an error behind it would have to undo.
func quiet(st ast.Statement) bool {
	switch s := st.(type) {
	case *ast.DeclareVariableStatement:
		return !slices.ContainsFunc(s.Declarations, func(d *ast.DeclareVariableElement) bool { return d.Value != nil })
	case *ast.BeginEndBlockStatement, *ast.TryCatchStatement, *ast.DeclareTableVariableStatement, *ast.PredicateSetStatement, *ast.SetCommandStatement,
		*ast.SetTransactionIsolationLevelStatement:
		return true
	}
	return false
}

func (c *compiler) block(l *ast.StatementList, loop bool) error {
	if l == nil {
		return nil
	}
	return c.inner(l.Statements, loop)
}

func (c *compiler) inner(list []ast.Statement, loop bool) error {
	c.level++
	defer func() { c.level-- }()
	return c.statements(list, loop)
}

// declare takes a name; variables, tables and cursors share them (Microsoft: Database engine events and errors 0 to 999).
func (c *compiler) declare(n *ast.Identifier) (err error) {
	defer catch(&err)
	name := required(n)
	if c.declared[lower(name)] {
		return sqltype.Errorf(134, "The variable name '%s' has already been declared. Variable names must be unique within a query batch or stored procedure.", name)
	}
	c.declared[lower(name)] = true
	return nil
}

// names refuses variables of a statement that are not declared before it.
func (c *compiler) names(part any) error {
	if !c.variables {
		return nil
	}
	return c.walk(reflect.ValueOf(part))
}

func (c *compiler) walk(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Interface:
		return c.walk(v.Elem())
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		switch n := v.Interface().(type) {
		case *ast.VariableReference:
			return c.known(n, 137, "Must declare the scalar variable \"%s\".")
		case *ast.VariableTableReference:
			return c.known(n.Variable, 1087, "Must declare the table variable \"%s\".")
		case *ast.ExecuteParameter: // its name is the procedure's
			return c.names(n.ParameterValue)
		}
		return c.walk(v.Elem())
	case reflect.Struct:
		if v.Type() == fragment {
			return nil
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				if err := c.walk(v.Field(i)); err != nil {
					return err
				}
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := c.walk(v.Index(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *compiler) known(v *ast.VariableReference, number int32, text string) error {
	if v == nil || !strings.HasPrefix(v.Name, "@") || strings.HasPrefix(v.Name, "@@") || c.declared[lower(v.Name)] {
		return nil
	}
	return sqltype.Errorf(number, text, v.Name)
}

// variable makes a variable that has no value yet.
func (x *executor) variable(b *binder, d *ast.DeclareVariableElement) {
	if d.Nullable != nil { // of natively compiled procedures alone (Microsoft: DECLARE @local_variable (Transact-SQL))
		unsupported("NULL and NOT NULL of the variable %s", d.VariableName.Value)
	}
	if !x.declareCursorVariable(d) {
		x.batch.vars[lower(d.VariableName.Value)] = &variable{typ: b.declaredType(d.DataType, "parameter", d.VariableName.Value, 1)}
	}
}

// initialize gives the variables of a DECLARE their values, each time that it is reached. Those without one keep theirs.
func (x *executor) initialize(s *ast.DeclareVariableStatement) error {
	return x.plain(func(b *binder) {
		for _, d := range s.Declarations {
			if d.Value == nil {
				continue
			}
			v := b.variable(d.VariableName.Value)
			w := b.givenOf(d.Value, v.typ)
			if b.compiling {
				continue
			}
			if b.err != nil {
				return
			}
			v.val = w
		}
	})
}

// namedBehind refuses an argument without a name behind one that has one.
func namedBehind(spec *ast.ExecuteSpecification) error {
	e, ok := spec.ExecutableEntity.(*ast.ExecutableProcedureReference)
	if !ok {
		return nil
	}
	named := false
	for i, p := range e.Parameters {
		if p.Variable == nil && named {
			return sqltype.Errorf(119, "Must pass parameter number %d and subsequent parameters as '@name = value'. After the form '@name = value' has been used, all subsequent parameters must be passed in the form '@name = value'.", i+1)
		}
		named = named || p.Variable != nil
	}
	return nil
}

// fromBelow tells whether the error of a statement is that of what it calls, or of one before it.
func fromBelow(st ast.Statement, err error) bool {
	switch s := st.(type) {
	case *ast.ExecuteStatement, *ast.ThrowStatement:
		return true
	case *ast.InsertStatement:
		_, ok := s.InsertSpecification.InsertSource.(*ast.ExecuteInsertSource)
		e := asError(err)
		return ok && e != nil && !unresolved(e.Number)
	}
	return false
}

// blocksEnd refuses BEGIN without END, TRY without CATCH and what is between them, which the parser (teesql v1.1.0) lets pass
// (Microsoft: BEGIN...END (Transact-SQL), TRY...CATCH (Transact-SQL)).
func blocksEnd(sql string) error {
	if !hasWord(sql, "begin") {
		return nil
	}
	words := places(sql)
	word := func(i int) string {
		if i < len(words) {
			return lower(words[i].text)
		}
		return ""
	}
	var open []string
	for i := 0; i < len(words); i++ {
		switch word(i) {
		case "case":
			open = append(open, "case")
		case "begin":
			switch next := word(i + 1); next {
			case "tran", "transaction", "distributed", "dialog", "conversation":
			case "try", "catch":
				open = append(open, next)
				i++
			default:
				open = append(open, "begin")
			}
		case "end":
			if word(i+1) == "conversation" {
				continue
			}
			if len(open) == 0 {
				return near(sql, words, i)
			}
			kind := open[len(open)-1]
			open = open[:len(open)-1]
			if kind != "try" && kind != "catch" {
				continue
			}
			if i++; word(i) != kind {
				return near(sql, words, i)
			}
			if kind == "try" && (word(i+1) != "begin" || word(i+2) != "catch") {
				return near(sql, words, i+1)
			}
		}
	}
	if len(open) > 0 {
		return near(sql, words, len(words))
	}
	return nil
}
