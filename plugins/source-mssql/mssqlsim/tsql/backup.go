package tsql

import (
	"context"
	"strings"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// Restore is a RESTORE DATABASE.
type Restore struct {
	Database, Device string
	Set              int // of the device, from 1
	Replace, KeepCDC bool
	Moves            []Move
}

// Move is WITH MOVE: where a file of a backup set, by its logical name, is to be.
type Move struct{ Logical, Path string }

// StateSession backs databases up and takes them and sessions away.
type StateSession interface {
	// Backup adds a backup set of a database to a device, or begins the device anew.
	Backup(database, device string, anew bool) error
	RestoreDatabase(r Restore) error
	// SetState changes who may use a database.
	SetState(ctx context.Context, database string, s DatabaseState) error
	// Kill ends the session of a SPID.
	Kill(spid int64) error
}

// DatabaseState is what ALTER DATABASE ... SET changes when nobody else is in a database; nil leaves it.
type DatabaseState struct {
	Offline, SingleUser, ReadCommittedSnapshot *bool
	Rollback, NoWait                           bool          // others are ended, or are an error; else they are waited for
	After                                      time.Duration // before others are ended
}

// harmlessBackup are the options of backups that change nothing of what is in one (Microsoft: BACKUP (Transact-SQL)).
var harmlessBackup = map[string]bool{"copyonly": true, "compression": true, "nocompression": true, "checksum": true, "nochecksum": true, "name": true, "description": true,
	"stats": true, "skip": true, "noskip": true, "noinit": true, "noformat": true, "stoponerror": true, "medianame": true, "mediadescription": true, "nounload": true, "unload": true, "norewind": true, "rewind": true}

// harmlessRestore are those of restores (Microsoft: RESTORE Arguments (Transact-SQL)).
var harmlessRestore = map[string]bool{"recovery": true, "stats": true, "checksum": true, "nochecksum": true, "stoponerror": true, "nounload": true, "unload": true, "norewind": true, "rewind": true}

func optionName(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }

// backup carries out BACKUP DATABASE, RESTORE DATABASE and KILL.
func (x *executor) backup(st ast.Statement) (bool, error) {
	switch s := st.(type) {
	case *ast.BackupDatabaseStatement:
		return true, x.terminates("BACKUP", func(b *binder) error {
			if len(s.Files) > 0 || len(s.MirrorToClauses) > 0 {
				return sqltype.Unsupported("files and mirrors of BACKUP DATABASE")
			}
			anew := false
			for _, o := range s.Options {
				p, ok := o.(*ast.BackupOption)
				switch {
				case ok && (optionName(p.OptionKind) == "init" || optionName(p.OptionKind) == "format"):
					anew = true
				case !ok || !harmlessBackup[optionName(p.OptionKind)]:
					return sqltype.Unsupported("this option of BACKUP DATABASE: %s", optionNode(o))
				}
			}
			device, err := b.device(s.Devices)
			if err != nil {
				return err
			}
			return x.sess.Backup(b.named(s.DatabaseName), device, anew)
		})
	case *ast.RestoreStatement:
		if s.Kind != "Database" || len(s.Files) > 0 {
			return true, sqltype.Unsupported("RESTORE of another kind than DATABASE")
		}
		return true, x.terminates("RESTORE", func(b *binder) error {
			r := Restore{Set: 1}
			for _, o := range s.Options {
				kind, value := restoreOption(o)
				switch {
				case kind == "replace":
					r.Replace = true
				case kind == "keepcdc":
					r.KeepCDC = true
				case kind == "move":
					m := o.(*ast.MoveRestoreOption)
					name := sqltype.Str(sqltype.NVarChar, 260)
					r.Moves = append(r.Moves, Move{b.valueOf(m.LogicalFileName, name).Str(), b.valueOf(m.OSFileName, name).Str()})
				case kind == "file" && value != nil:
					r.Set = int(b.valueOf(value, sqltype.Of(sqltype.BigInt)).Int())
				case !harmlessRestore[kind]:
					return sqltype.Unsupported("the option %s of RESTORE DATABASE", optionNode(o))
				}
			}
			var err error
			if r.Device, err = b.device(s.Devices); err != nil {
				return err
			}
			r.Database = b.named(s.DatabaseName)
			return x.sess.RestoreDatabase(r)
		})
	case *ast.KillStatement:
		if s.WithStatusOnly {
			return true, sqltype.Unsupported("KILL WITH STATUSONLY")
		}
		return true, x.scoped(false, func(b *binder) error {
			return x.sess.Kill(b.valueOf(s.Parameter, sqltype.Of(sqltype.BigInt)).Int())
		})
	}
	return false, nil
}

// terminates runs a BACKUP or RESTORE. What fails it is followed by the error that it has ended.
func (x *executor) terminates(statement string, fn func(b *binder) error) error {
	if x.sess.TranCount() > 0 {
		return terminated(statement, sqltype.Errorf(3021, "Cannot perform a backup or restore operation within a transaction."))
	}
	return x.scoped(false, func(b *binder) error { return terminated(statement, fn(b)) })
}

func terminated(statement string, err error) error {
	e, ok := err.(*sqltype.Error)
	if !ok || e.Number == sqltype.NumberUnsupported {
		return err
	}
	last := sqltype.Errorf(3013, "%s DATABASE is terminating abnormally.", statement)
	last.First = e
	return last
}

func restoreOption(o ast.RestoreOption) (kind string, value ast.ScalarExpression) {
	switch o := o.(type) {
	case *ast.SimpleRestoreOption:
		return optionName(o.OptionKind), nil
	case *ast.ScalarExpressionRestoreOption:
		return optionName(o.OptionKind), o.Value
	case *ast.GeneralSetCommandRestoreOption:
		return optionName(o.OptionKind), nil
	case *ast.MoveRestoreOption:
		return "move", nil
	}
	return "", nil
}

// device gives the one file that a backup is in. It is kept in the server's memory under that name.
func (b *binder) device(list []*ast.DeviceInfo) (string, error) {
	if len(list) != 1 || !strings.EqualFold(list[0].DeviceType, "disk") || list[0].PhysicalDevice == nil {
		return "", sqltype.Unsupported("a backup that is not in one DISK")
	}
	if s, ok := list[0].PhysicalDevice.(*ast.StringLiteral); ok {
		return unquoted(s.Value), nil
	}
	return b.valueOf(list[0].PhysicalDevice, sqltype.Str(sqltype.NVarChar, 260)).Str(), nil
}

// unquoted gives the text of a literal. The parser leaves those of devices that begin with N as they are written.
func unquoted(s string) string {
	if len(s) > 2 && (s[0] == 'N' || s[0] == 'n') && s[1] == '\'' && s[len(s)-1] == '\'' {
		return strings.ReplaceAll(s[2:len(s)-1], "''", "'")
	}
	return s
}

// named gives a name that is written or in a variable.
func (b *binder) named(n *ast.IdentifierOrValueExpression) string {
	if n.Identifier != nil {
		return n.Identifier.Value
	}
	if s, ok := n.ValueExpression.(*ast.StringLiteral); ok {
		return unquoted(s.Value)
	}
	return b.valueOf(n.ValueExpression, sqltype.SysName).Str()
}

// databaseState takes the options out of ALTER DATABASE ... SET that say who may use the database.
func (x *executor) databaseState(s *ast.AlterDatabaseSetStatement) (state DatabaseState, rest []ast.DatabaseOption, err error) {
	yes, no := true, false
	for _, o := range s.Options {
		if d, ok := o.(*ast.OnOffDatabaseOption); ok && optionName(d.OptionKind) == "readcommittedsnapshot" {
			on := strings.EqualFold(d.OptionState, "on")
			state.ReadCommittedSnapshot = &on
			continue
		}
		d, ok := o.(*ast.SimpleDatabaseOption)
		if !ok {
			rest = append(rest, o)
			continue
		}
		switch optionName(d.OptionKind) {
		case "offline":
			state.Offline = &yes
		case "online":
			state.Offline = &no
		case "singleuser":
			state.SingleUser = &yes
		case "multiuser":
			state.SingleUser = &no
		default:
			rest = append(rest, o)
		}
	}
	if t := s.Termination; t != nil {
		state.Rollback, state.NoWait = t.ImmediateRollback || t.RollbackAfter != nil, t.NoWait
		if t.RollbackAfter != nil {
			err = x.plain(func(b *binder) {
				state.After = time.Duration(b.valueOf(t.RollbackAfter, sqltype.Of(sqltype.Int)).Int()) * time.Second
			})
		}
	}
	return state, rest, err
}
