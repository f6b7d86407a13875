package tsql

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// maintain carries out statements that put storage in order. There is none here that could be out of it: what they name
// must be there, and that is all (Microsoft: CHECKPOINT (Transact-SQL), UPDATE STATISTICS (Transact-SQL), ALTER INDEX
// (Transact-SQL)).
func (x *executor) maintain(st ast.Statement) (bool, error) {
	switch s := st.(type) {
	case *ast.CheckpointStatement:
		return true, x.plain(func(b *binder) {
			if s.Duration != nil && b.valueOf(s.Duration, sqltype.Of(sqltype.Int)).Int() <= 0 {
				unsupported("CHECKPOINT of a duration that is not above zero")
			}
		})
	case *ast.UpdateStatisticsStatement:
		return true, x.scoped(false, func(*binder) error {
			for _, e := range s.SubElements { // an index has statistics of its name, others are not known here
				if e := asError(x.sess.MaintainIndex(objectName(s.SchemaObjectName), ident(e), IndexOptions{})); e != nil && e.Number == 2727 {
					return sqltype.Unsupported("UPDATE STATISTICS of what is no index")
				}
			}
			err := x.sess.MaintainIndex(objectName(s.SchemaObjectName), "", IndexOptions{})
			if e := asError(err); e != nil && e.Number == 1088 {
				return sqltype.Errorf(2706, "Table '%s' does not exist.", objectName(s.SchemaObjectName).Object)
			}
			return err
		})
	case *ast.AlterIndexStatement:
		return true, x.scoped(true, func(*binder) error {
			switch s.AlterIndexType {
			case "Rebuild", "Reorganize", "Set":
			default:
				unsupported("ALTER INDEX ... %s", kindWords(s.AlterIndexType))
			}
			if s.Partition != nil && !s.Partition.All {
				unsupported("partitions of an index")
			}
			o := maintenanceOptions(s.IndexOptions)
			name := ident(s.Name)
			if s.All {
				name = ""
			}
			return x.sess.MaintainIndex(objectName(s.OnName), name, o)
		})
	}
	return false, nil
}

// maintenanceOptions is indexOptions with those of REORGANIZE.
func maintenanceOptions(list []ast.IndexOption) IndexOptions {
	var others []ast.IndexOption
	for _, o := range list {
		if s, ok := o.(*ast.IndexStateOption); !ok || s.OptionKind != "LobCompaction" && s.OptionKind != "CompressAllRowGroups" {
			others = append(others, o)
		}
	}
	return indexOptions(others)
}
