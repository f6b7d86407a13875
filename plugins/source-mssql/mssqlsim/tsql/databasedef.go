package tsql

import (
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// DatabaseOptions are what ALTER DATABASE ... SET changes; nil and "" leave an option as it is.
type DatabaseOptions struct {
	AllowSnapshot *bool
	Recovery      string // FULL, BULK_LOGGED or SIMPLE
}

// defineDatabase carries out the statements that make, change and drop databases. They are not allowed within a
// transaction (Microsoft: CREATE DATABASE, DROP DATABASE, "must run in autocommit mode").
func (x *executor) defineDatabase(st ast.Statement) (bool, error) {
	switch s := st.(type) {
	case *ast.CreateDatabaseStatement:
		if err := x.autocommit("CREATE DATABASE"); err != nil {
			return true, err
		}
		if len(s.Options) > 0 || s.AttachMode != "" && s.AttachMode != "None" || s.CopyOf != nil || len(s.FileGroups) > 0 || len(s.LogOn) > 0 || s.Containment != nil || s.DatabaseSnapshot != nil {
			return true, sqltype.Unsupported("files and options of CREATE DATABASE")
		}
		if s.Collation != nil && !strings.EqualFold(s.Collation.Value, sqltype.DefaultCollation) {
			return true, sqltype.Unsupported("a database with the collation %s", s.Collation.Value)
		}
		return true, x.sess.CreateDatabase(s.DatabaseName.Value)
	case *ast.AlterDatabaseCollateStatement:
		return true, sqltype.Unsupported("the COLLATE of ALTER DATABASE")
	case *ast.AlterDatabaseSetStatement:
		if err := x.autocommit("ALTER DATABASE"); err != nil {
			return true, err
		}
		if len(s.Options) == 0 {
			return true, sqltype.Unsupported("this form of ALTER DATABASE")
		}
		state, options, err := x.databaseState(s)
		if err != nil {
			return true, err
		}
		o, err := databaseOptions(options)
		if err != nil {
			return true, err
		}
		name := ""
		if s.DatabaseName != nil && !s.UseCurrent {
			name = s.DatabaseName.Value
		}
		// Which options go together, and with what termination (Microsoft: ALTER DATABASE SET options (Transact-SQL), Setting
		// options). What a server says of others is not on the page.
		alone := state.Offline != nil || state.SingleUser != nil || state.ReadCommittedSnapshot != nil
		switch {
		case alone && len(options) > 0, o.AllowSnapshot != nil && len(options) > 1, state.ReadCommittedSnapshot != nil && len(s.Options) > 1:
			return true, sqltype.Unsupported("ALTER DATABASE SET of the state, of ALLOW_SNAPSHOT_ISOLATION or of READ_COMMITTED_SNAPSHOT and other options at once")
		case alone:
			return true, x.sess.SetState(x.ctx, name, state)
		case s.Termination != nil:
			return true, sqltype.Unsupported("WITH of this ALTER DATABASE SET")
		}
		return true, x.sess.AlterDatabase(x.ctx, name, o)
	case *ast.DropDatabaseStatement:
		if err := x.autocommit("DROP DATABASE"); err != nil {
			return true, err
		}
		for _, n := range s.Databases {
			if err := x.sess.DropDatabase(n.Value, s.IsIfExists); err != nil {
				return true, err
			}
		}
		return true, nil
	}
	return false, nil
}

// quoteMaster puts the name of the database master into brackets behind ALTER DATABASE: the parser (teesql v1.1.0) leaves out
// all of the statement that follows the bare word.
func quoteMaster(sql string) string {
	if !hasWord(sql, "master") {
		return sql
	}
	var b strings.Builder
	var before [2]string // the words before
	for _, t := range tokens(sql) {
		if !t.blank {
			if strings.EqualFold(t.text, "master") && strings.EqualFold(before[0], "alter") && strings.EqualFold(before[1], "database") {
				t.text = "[" + t.text + "]"
			}
			before[0], before[1] = before[1], t.text
		}
		b.WriteString(t.text)
	}
	return b.String()
}

func (x *executor) autocommit(statement string) error {
	if x.sess.TranCount() == 0 {
		return nil
	}
	return sqltype.Errorf(226, "%s statement not allowed within multi-statement transaction.", statement)
}

// recoveryModels are the names of sys.databases (Microsoft: sys.databases, recovery_model_desc) for those of the parser.
var recoveryModels = map[string]string{"full": "FULL", "bulklogged": "BULK_LOGGED", "simple": "SIMPLE"}

func databaseOptions(list []ast.DatabaseOption) (o DatabaseOptions, err error) {
	for _, option := range list {
		switch d := option.(type) {
		case *ast.OnOffDatabaseOption:
			on := strings.EqualFold(d.OptionState, "on")
			switch strings.ToLower(strings.ReplaceAll(d.OptionKind, "_", "")) {
			case "allowsnapshotisolation":
				o.AllowSnapshot = &on
			default:
				return o, sqltype.Unsupported("ALTER DATABASE SET %s", optionWord(d.OptionKind))
			}
		case *ast.RecoveryDatabaseOption:
			model, ok := recoveryModels[strings.ToLower(strings.ReplaceAll(d.Value, "_", ""))]
			if !ok {
				return o, sqltype.Unsupported("ALTER DATABASE SET RECOVERY %s", optionWord(d.Value))
			}
			o.Recovery = model
		case *ast.SimpleDatabaseOption:
			return o, sqltype.Unsupported("ALTER DATABASE SET %s", optionWord(d.OptionKind))
		default:
			return o, sqltype.Unsupported("ALTER DATABASE SET %s", optionNode(option))
		}
	}
	return o, nil
}
