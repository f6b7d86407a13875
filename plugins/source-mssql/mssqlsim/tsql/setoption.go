package tsql

import (
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// setting carries out SET options. Those that change what statements give, and are not built, are refused (Microsoft: SET
// Statements (Transact-SQL)).
func (x *executor) setting(st ast.Statement) (flow, bool, error) {
	switch s := st.(type) {
	case *ast.PredicateSetStatement:
		var options []string
		for _, o := range strings.Split(s.Options, ",") {
			o = strings.ToUpper(strings.NewReplacer("_", "", " ", "").Replace(o))
			if err := option(o, s.IsOn); err != nil {
				return goOn, true, err
			}
			options = append(options, o)
		}
		for _, o := range options {
			x.switchOption(o, s.IsOn)
		}
		return goOn, true, nil
	case *ast.SetTransactionIsolationLevelStatement:
		l, ok := isolations[s.Level]
		if !ok {
			return goOn, true, sqltype.Unsupported("the isolation level %s", kindWords(s.Level))
		}
		return goOn, true, x.sess.SetIsolation(l)
	case *ast.SetCommandStatement:
		for _, c := range s.Commands {
			g, ok := c.(*ast.GeneralSetCommand)
			if f, is := c.(*ast.SetFipsFlaggerCommand); is && strings.EqualFold(f.ComplianceLevel, "off") {
				continue
			}
			if !ok {
				return goOn, true, sqltype.Unsupported("%s", nodeName(c))
			}
			if err := x.command(g); err != nil {
				return goOn, true, err
			}
		}
		return goOn, true, nil
	case *ast.SetTextSizeStatement:
		return goOn, true, x.textSize(s.TextSize)
	case *ast.SetRowCountStatement:
		return goOn, true, x.plain(func(b *binder) {
			v := b.valueOf(s.NumberRows, sqltype.Of(sqltype.BigInt))
			if b.err == nil && (v.IsNull() || v.Int() < 0) {
				unsupported("SET ROWCOUNT of NULL or of a number below 0")
			}
			x.sess.Settings().RowCount = v.Int()
		})
	case *ast.SetStatisticsStatement:
		if !s.IsOn {
			return goOn, true, nil
		}
		return goOn, true, sqltype.Unsupported("SET STATISTICS %s ON", kindWords(s.Options))
	}
	return goOn, false, nil
}

// The sides of an option that are built.
const (
	eitherSide = iota
	onlyOn
	onlyOff
)

// setOptions are the options that are ON or OFF, as their pages spell them, with the sides that are built.
var setOptions = map[string]int{
	"NOCOUNT": eitherSide, "IMPLICIT_TRANSACTIONS": eitherSide, "CURSOR_CLOSE_ON_COMMIT": eitherSide, "XACT_ABORT": eitherSide,
	"ANSI_NULLS": eitherSide, "ANSI_WARNINGS": eitherSide, "ARITHABORT": eitherSide, "ARITHIGNORE": eitherSide, "ANSI_NULL_DFLT_ON": eitherSide, "ANSI_NULL_DFLT_OFF": eitherSide,
	"FORCEPLAN":               eitherSide, // the same data in another way (Microsoft: SET FORCEPLAN (Transact-SQL))
	"CONCAT_NULL_YIELDS_NULL": onlyOn, "QUOTED_IDENTIFIER": onlyOn, "ANSI_PADDING": onlyOn, "ANSI_DEFAULTS": onlyOn,
	"NUMERIC_ROUNDABORT": onlyOff, "NO_BROWSETABLE": onlyOff, "FMTONLY": onlyOff, "NOEXEC": onlyOff, "PARSEONLY": onlyOff,
	"SHOWPLAN_ALL": onlyOff, "SHOWPLAN_TEXT": onlyOff, "SHOWPLAN_XML": onlyOff,
}

// option refuses what an option would be set to and is not built.
func option(o string, on bool) error {
	word := map[bool]string{true: "ON", false: "OFF"}[on]
	for name, side := range setOptions {
		if strings.ReplaceAll(name, "_", "") != o {
			continue
		}
		if side == onlyOn && !on || side == onlyOff && on {
			return sqltype.Unsupported("SET %s %s", name, word)
		}
		return nil
	}
	return sqltype.Unsupported("SET %s %s", o, word)
}

// switchOption sets an option, and what goes with it.
func (x *executor) switchOption(o string, on bool) {
	s := x.sess.Settings()
	switch o {
	case "NOCOUNT":
		x.out.NoCount(on)
	case "IMPLICITTRANSACTIONS":
		x.batch.implicit = on
		x.out.Implicit(on)
	case "ANSINULLDFLTON": // of the two one alone can be on (Microsoft: SET ANSI_NULL_DFLT_ON (Transact-SQL))
		s.set("ANSINULLDFLTOFF", false)
	case "ANSINULLDFLTOFF":
		s.set("ANSINULLDFLTON", false)
	case "ANSIDEFAULTS": // Microsoft: SET ANSI_DEFAULTS (Transact-SQL)
		for _, o := range []string{"ANSINULLS", "CURSORCLOSEONCOMMIT", "ANSINULLDFLTON", "IMPLICITTRANSACTIONS", "ANSIPADDING", "QUOTEDIDENTIFIER", "ANSIWARNINGS"} {
			x.switchOption(o, on)
		}
		return
	case "ANSINULLS", "QUOTEDIDENTIFIER": // in a procedure they are ignored (Microsoft: SET Statements (Transact-SQL))
		if x.batch.routine != nil {
			return
		}
	}
	s.set(o, on)
}

func (x *executor) command(g *ast.GeneralSetCommand) error {
	switch g.CommandType {
	case "LockTimeout":
		return x.plain(func(b *binder) { x.sess.SetLockTimeout(b.valueOf(g.Parameter, sqltype.Of(sqltype.BigInt)).Int()) })
	case "Language", "DateFormat", "DateFirst":
		return x.setLocale(g.CommandType, g.Parameter)
	case "DeadlockPriority":
		return x.deadlockPriority(g.Parameter)
	case "ContextInfo":
		return x.plain(func(b *binder) {
			v := b.given(b.expr(g.Parameter, nil), sqltype.Bin(sqltype.VarBinary, 128)).eval(&frame{})
			if b.err == nil && v.IsNull() {
				unsupported("NULL in SET CONTEXT_INFO")
			}
			x.sess.Settings().ContextInfo = []byte(v.Str())
		})
	case "QueryGovernorCostLimit": // 0 and what is rounded to it are no limit (Microsoft: SET QUERY_GOVERNOR_COST_LIMIT (Transact-SQL))
		return x.plain(func(b *binder) {
			if b.valueOf(g.Parameter, sqltype.Of(sqltype.Int)).Int() > 0 {
				unsupported("SET QUERY_GOVERNOR_COST_LIMIT above 0")
			}
		})
	}
	return sqltype.Unsupported("SET %s", optionWord(g.CommandType))
}

// textSize is SET TEXTSIZE (Microsoft: SET TEXTSIZE (Transact-SQL)).
func (x *executor) textSize(n ast.ScalarExpression) error {
	return x.plain(func(b *binder) {
		v := b.valueOf(n, sqltype.Of(sqltype.Int)).Int()
		switch {
		case v == 0:
			v = 4096
		case v < -1:
			unsupported("SET TEXTSIZE %d", v)
		}
		x.sess.Settings().TextSize = v
	})
}

// deadlockPriority is SET DEADLOCK_PRIORITY (Microsoft: SET DEADLOCK_PRIORITY (Transact-SQL)).
func (x *executor) deadlockPriority(p ast.ScalarExpression) error {
	words := map[string]int8{"low": -5, "normal": 0, "high": 5}
	if i, ok := p.(*ast.IdentifierLiteral); ok {
		n, ok := words[strings.ToLower(i.Value)]
		if !ok {
			return sqltype.Unsupported("SET DEADLOCK_PRIORITY %s", i.Value)
		}
		x.sess.SetDeadlockPriority(n)
		return nil
	}
	return x.plain(func(b *binder) {
		n, ok := int8(0), false
		if v := b.value(p); b.expr(p, nil).typ.Class() == sqltype.ClassString {
			n, ok = words[strings.ToLower(strings.TrimSpace(v.Str()))]
		} else if i := v.Int(); i >= -10 && i <= 10 {
			n, ok = int8(i), true
		}
		if !ok {
			unsupported("this value of SET DEADLOCK_PRIORITY")
		}
		x.sess.SetDeadlockPriority(n)
	})
}
