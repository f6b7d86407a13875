package tsql

import (
	"context"
	"fmt"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// Steps gives the steps of the plan of a SELECT, the last one of the plan first: "sort filter scan". A join names its
// sides in parentheses. Args are the variables of the statement.
func Steps(ctx context.Context, sess Session, sql string, args ...*Argument) (steps string, err error) {
	x := &executor{ctx: ctx, sess: sess, batch: &batch{vars: map[string]*variable{}, tables: map[string]*tableVar{}}}
	for _, a := range args {
		x.batch.vars[strings.ToLower(a.Name)] = &variable{typ: a.Type, val: a.Value}
	}
	sc, err := parse(ctx, x.rewritten(sql))
	if err != nil {
		return "", err
	}
	s, ok := sc.Batches[0].Statements[0].(*ast.SelectStatement)
	if !ok {
		return "", fmt.Errorf("no SELECT: %s", sql)
	}
	err = x.scoped(false, func(b *binder) (err error) {
		b.with(s.WithCtesAndXmlNamespaces)
		steps, err = stepsOf(b.query(s.QueryExpression, nil))
		return err
	})
	return steps, err
}

func stepsOf(of any) (string, error) {
	after := func(name string, inputs ...any) (string, error) {
		for i, in := range inputs {
			s, err := stepsOf(in)
			if err != nil {
				return "", err
			}
			if len(inputs) == 1 {
				name += " " + s
				continue
			}
			name += []string{" (", ", "}[min(i, 1)] + s
		}
		if len(inputs) > 1 {
			name += ")"
		}
		return name, nil
	}
	switch n := of.(type) {
	case *selectPlan:
		return stepsOf(n.input)
	case *sortNode:
		return after("sort", n.input)
	case *filterNode:
		return after("filter", n.input)
	case *windowNode:
		return after("window", n.input)
	case *groupNode:
		return after("group", n.input)
	case *keptNode:
		return after("kept", n.input)
	case *loopJoin:
		return after("loop", n.left, n.right)
	case *hashJoin:
		return after("hash", n.left, n.right)
	case *derivedNode:
		return after("derived", n.plan)
	case *scanNode:
		if n.reverse {
			return "scan backwards", nil
		}
		return "scan", nil
	}
	return "", fmt.Errorf("a step of kind %T", of)
}

// Endings are what an error of each number ends, by the number alone.
var Endings = map[ending]string{endsStatement: "statement", endsScope: "scope", endsBatch: "batch", endsTransaction: "transaction"}

// EndOf tells what an error of a number ends.
func EndOf(number int32) string { return Endings[ofNumber(sqltype.Errorf(number, ""))] }
