package tsql

import (
	goast "go/ast"
	"go/build"
	"go/importer"
	goparser "go/parser"
	gotoken "go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// unreadFields are the fields of the parser's tree that this package need not read, of the types that it reads something of, with the
// reason.
var unreadFields = map[string]string{
	"AlterDatabaseSetStatement.WithManualCutover":        "the parser does not read MANUAL_CUTOVER where SET is carried out",
	"AlterIndexStatement.PromotedPaths":                  "ALTER INDEX ... FOR is refused",
	"AlterIndexStatement.XmlNamespaces":                  "ALTER INDEX ... FOR is refused",
	"AlterTableAlterColumnStatement.Options":             "ONLINE says how long others wait, and the change is made at once",
	"BackupOption.Value":                                 "the options whose value counts are refused",
	"BeginTransactionStatement.MarkDefined":              "a mark in the log is for RESTORE ... STOPATMARK, which is refused",
	"BeginTransactionStatement.MarkDescription":          "a mark in the log is for RESTORE ... STOPATMARK, which is refused",
	"BinaryLiteral.IsLargeObject":                        "the length tells it",
	"BooleanInExpression.SubqueryFragment":               "a place in the text",
	"BooleanLikeExpression.OdbcEscape":                   "{escape} and ESCAPE are the same",
	"ColumnDefinition.MaskingFunction":                   "a masked column is refused",
	"CreateIndexStatement.Translated80SyntaxTo90":        "how options are written",
	"CreateTableStatement.CtasColumns":                   "a list of names without types is no table and is told as wrong",
	"DataCompressionOption.OptionKind":                   "the type says it",
	"DbccStatement.OptionsUseJoin":                       "how options are written",
	"DbccStatement.ParenthesisRequired":                  "how arguments are written",
	"DeclareTableVariableBody.AsDefined":                 "AS may be left out",
	"DefaultSchemaPrincipalOption.OptionKind":            "the type says it",
	"DeviceInfo.LogicalDevice":                           "a backup that is not in one DISK is refused",
	"DeviceInfo.PhysicalDeviceType":                      "of no device but DISK",
	"FunctionCall.AbsentOrNullOnNull":                    "of functions of JSON, which are refused",
	"FunctionCall.WithArrayWrapper":                      "of functions of JSON, which are refused",
	"GeneralSetCommandRestoreOption.OptionValue":         "the options whose value counts are refused",
	"Identifier.IsSqlCmd":                                "variables of sqlcmd are no T-SQL",
	"IdentifierLiteral.QuoteType":                        "a bare word is a text, however it is quoted",
	"IgnoreDupKeyIndexOption.OptionKind":                 "the type says it",
	"IgnoreDupKeyIndexOption.SuppressMessagesOption":     "IGNORE_DUP_KEY = ON is refused",
	"InsertSpecification.InsertOption":                   "INTO may be left out",
	"MergeSpecification.OutputClause":                    "the parser puts OUTPUT elsewhere",
	"MoveRestoreOption.OptionKind":                       "the type says it",
	"MultiPartIdentifier.Count":                          "the length of a list beside it",
	"OdbcLiteral.IsNational":                             "a date is one in any text",
	"PartitionSpecifier.Number":                          "a partition other than ALL is refused",
	"PartitionSpecifier.Numbers":                         "a partition other than ALL is refused",
	"PasswordAlterPrincipalOption.OptionKind":            "the type says it",
	"PasswordAlterPrincipalOption.Unlock":                "no login is locked for wrong passwords, which UNLOCK would undo",
	"QualifiedJoin.JoinHint":                             "LOOP, HASH, MERGE and REMOTE change the plan, not the rows",
	"RecoveryDatabaseOption.OptionKind":                  "the type says it",
	"SchemaObjectName.Count":                             "the length of a list beside it",
	"SchemaObjectName.Identifiers":                       "the parts have fields of their own",
	"SetVariableStatement.Identifier":                    "a property or method of a variable is refused",
	"SetVariableStatement.Parameters":                    "a method of a variable is refused",
	"SqlDataTypeReference.Name":                          "the option beside it names the type",
	"StringLiteral.IsLargeObject":                        "the length tells it",
	"UpdateStatisticsStatement.StatisticsOptions":        "how statistics are made: there are none to be made",
	"UserDataTypeReference.Parameters":                   "types of users are refused",
	"WaitForStatement.Statement":                         "WAITFOR of a statement is refused",
	"WaitForStatement.Timeout":                           "WAITFOR of a statement is refused",
	"CreateOrAlterProcedureStatement.IsForReplication":   "it is read as a CREATE PROCEDURE",
	"CreateOrAlterProcedureStatement.MethodSpecifier":    "it is read as a CREATE PROCEDURE",
	"CreateOrAlterProcedureStatement.Options":            "it is read as a CREATE PROCEDURE",
	"CreateOrAlterProcedureStatement.Parameters":         "it is read as a CREATE PROCEDURE",
	"CreateOrAlterProcedureStatement.ProcedureReference": "it is read as a CREATE PROCEDURE",
}

// unreadEverywhere are such fields of whatever type.
var unreadEverywhere = map[string]string{
	"LiteralType": "the type says it",
	"Collation":   "COLLATE is taken out of the text before the parser reads it",
}

// exportData opens what the compiler wrote of the packages that this one imports: it is there since the test was built,
// where checking their sources takes half a minute with -race.
func exportData(t *testing.T) importer.Lookup {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", ".")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal("asking go for compiled packages:", err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[path] = file
	}
	return func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }
}

// What the parser reads and this package does not is dropped without a word, unless there is a reason why it may be. A field that a new
// version of the parser adds fails here.
func TestNoFieldOfTheTreeIsDropped(t *testing.T) {
	t.Parallel()
	p, err := build.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	set := gotoken.NewFileSet()
	var files []*goast.File
	for _, name := range p.GoFiles {
		f, err := goparser.ParseFile(set, name, nil, goparser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	info := &types.Info{Selections: map[*goast.SelectorExpr]*types.Selection{}}
	pkg, err := (&types.Config{Importer: importer.ForCompiler(set, "gc", exportData(t))}).Check("tsql", set, files, info)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(pkg.Imports(), func(i *types.Package) bool { return i.Path() == "github.com/sqlc-dev/teesql/ast" })
	if at < 0 {
		t.Fatal("the parser's tree is not imported")
	}
	tree := pkg.Imports()[at].Scope()
	read := map[types.Object]bool{}
	for _, s := range info.Selections {
		read[s.Obj()] = true
	}
	reasons, all := maps.Clone(unreadFields), 0
	for _, name := range tree.Names() {
		st, ok := tree.Lookup(name).Type().Underlying().(*types.Struct)
		if !ok || name == "Fragment" {
			continue
		}
		var unread []string
		some := false
		for f := range st.Fields() {
			switch {
			case f.Embedded():
			case read[f]:
				some = true
			default:
				unread = append(unread, f.Name())
			}
		}
		if !some {
			continue
		}
		all++
		for _, field := range unread {
			full := name + "." + field
			if reasons[full] == "" && unreadEverywhere[field] == "" {
				t.Errorf("nothing reads %s: what it says is to be done or refused, or unreadFields is to say why not", full)
			}
			delete(reasons, full)
		}
	}
	if all < 200 {
		t.Errorf("of %d types alone something is read: the test looks at the wrong thing", all)
	}
	for full := range reasons {
		t.Errorf("%s is read, or there is none: unreadFields need not have it", strings.TrimSpace(full))
	}
}
