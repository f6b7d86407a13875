package deltalog

import (
	"math/big"
	"strconv"
)

// pruner decides from partition values and statistics whether a file can hold a
// row for which a predicate is true. When in doubt it can. It keeps what it
// finds from file to file and so is for one goroutine.
type pruner struct {
	clauses [][]pruneTest
	columns []pruneColumn
	known   []columnFacts // of the file at hand, by column
	nulls   []int64       // nullCount of the file at hand, by column; -1: not known
}

type pruneColumn struct {
	field     Field
	physical  string
	partition bool
	known     bool
	// vague columns were floats once: the text of an old file's bound was made
	// to read back as a float, and as a double it may lie on the wrong side.
	vague bool
}

type pruneTest struct {
	Comparison
	column int
}

// columnFacts is what is known of a column's values in one file.
type columnFacts struct {
	min, max Value
	// allNull and noNull are true only when that is certain.
	allNull, noNull bool
}

// newPruner resolves the columns of p. Columns that the schema does not have
// restrict nothing.
func newPruner(p Predicate, schema *Struct, partitionColumns []string) *pruner {
	pr := &pruner{}
	index := map[string]int{}
	for _, clause := range p {
		tests := make([]pruneTest, 0, len(clause))
		for _, c := range clause {
			i, ok := index[c.Column]
			if !ok {
				i = len(pr.columns)
				index[c.Column] = i
				f, at := schema.Field(c.Column)
				col := pruneColumn{field: f, known: at >= 0}
				if at >= 0 {
					col.physical = f.PhysicalName()
					_, changed := f.Metadata[metaTypeChanges]
					col.vague = changed && f.Type == Double
				}
				for _, name := range partitionColumns {
					col.partition = col.partition || at >= 0 && f.Name == name
				}
				pr.columns = append(pr.columns, col)
			}
			tests = append(tests, pruneTest{c, i})
		}
		pr.clauses = append(pr.clauses, tests)
	}
	return pr
}

// mayMatch reports whether the file can hold a row that the predicate selects.
// statistics is Add.Stats.
func (p *pruner) mayMatch(partition map[string]*string, statistics string) bool {
	if len(p.clauses) == 0 {
		return true
	}
	facts := p.facts(partition, statistics)
	for _, clause := range p.clauses {
		possible := true
		for _, t := range clause {
			if c := p.columns[t.column]; c.known && !facts[t.column].mayMatch(t.Comparison, c) {
				possible = false
				break
			}
		}
		if possible {
			return true
		}
	}
	return false
}

func (p *pruner) facts(partition map[string]*string, statistics string) []columnFacts {
	if p.known == nil {
		p.known, p.nulls = make([]columnFacts, len(p.columns)), make([]int64, len(p.columns))
	}
	facts, nulls := p.known, p.nulls
	clear(facts)
	wanted := 0
	for i, c := range p.columns {
		if !c.known {
			continue
		}
		if !c.partition {
			wanted++
			continue
		}
		text, ok := partition[c.physical]
		if !ok {
			continue
		}
		v, err := ParsePartitionValue(text, c.field.Type)
		if err != nil {
			continue
		}
		if c.field.Type == String && text != nil && *text == "" {
			// Writers disagree whether this is NULL, so nothing is certain.
			continue
		}
		facts[i] = columnFacts{min: v, max: v, allNull: v.IsNull(), noNull: !v.IsNull()}
	}
	if wanted == 0 || statistics == "" {
		return facts
	}
	records := int64(-1)
	for i := range nulls {
		nulls[i] = -1
	}
	each := func(object string, set func(i int, c pruneColumn, raw string)) {
		scanFields(object, func(name, raw string) bool {
			for i, c := range p.columns {
				if c.known && !c.partition && c.physical == name {
					set(i, c, raw)
				}
			}
			return true
		})
	}
	scanFields(statistics, func(name, value string) bool {
		switch name {
		case "numRecords":
			if n, err := strconv.ParseInt(value, 10, 64); err == nil {
				records = n
			}
		case "minValues":
			each(value, func(i int, c pruneColumn, raw string) {
				if c.vague {
					return
				}
				facts[i].min = lowerBound(parseStat(raw, c.field.Type), c.field.Type)
			})
		case "maxValues":
			each(value, func(i int, c pruneColumn, raw string) {
				if c.vague {
					return
				}
				facts[i].max = upperBound(parseStat(raw, c.field.Type), c.field.Type)
			})
		case "nullCount":
			each(value, func(i int, _ pruneColumn, raw string) {
				if n, err := strconv.ParseInt(raw, 10, 64); err == nil {
					nulls[i] = n
				}
			})
		}
		return true
	})
	for i, n := range nulls {
		// With wide bounds only these two values of nullCount say anything
		// (Delta protocol: Per-file Statistics), and they hold for tight ones too.
		// A struct's nullCount is an object and was not parsed.
		if n >= 0 {
			facts[i].noNull = n == 0
			facts[i].allNull = n == records && records > 0
		}
	}
	return facts
}

// lossyDigits is the precision from which a decimal does not survive a 64-bit
// float. delta-rs writes decimal bounds through one, so a bound with more digits
// may be off by a part in 2^52.
const lossyDigits = 15

func lowerBound(v Value, t Type) Value {
	if d, ok := t.(Decimal); ok && d.Precision > lossyDigits {
		return widen(v, -1)
	}
	return v
}

func upperBound(v Value, t Type) Value {
	switch t := t.(type) {
	case Decimal:
		if t.Precision > lossyDigits {
			return widen(v, 1)
		}
	case Primitive:
		// Statistics cut timestamps to milliseconds.
		if (t == Timestamp || t == TimestampNTZ) && v.kind == KindTimestamp && v.num < 1<<62 {
			v.num += 1000
		}
	}
	return v
}

// widen moves a decimal by a part in 2^48 in the direction of sign, at least
// by one of its last digit.
func widen(v Value, sign int64) Value {
	if v.kind != KindDecimal {
		return v
	}
	n, scale := v.Decimal()
	step := new(big.Int).Rsh(new(big.Int).Abs(n), 48)
	step.Add(step, big.NewInt(1))
	return DecimalValue(n.Add(n, step.Mul(step, big.NewInt(sign))), scale)
}

// mayMatch reports whether a row with these facts can satisfy the comparison.
func (f *columnFacts) mayMatch(c Comparison, col pruneColumn) bool {
	switch c.Op {
	case OpIsNull:
		return !f.noNull
	case OpIsNotNull:
		return !f.allNull
	case OpIn:
		for _, v := range c.Values {
			if f.mayCompare(OpEq, v, col) {
				return true
			}
		}
		return false
	}
	return f.mayCompare(c.Op, c.Values[0], col)
}

func (f *columnFacts) mayCompare(op Op, v Value, col pruneColumn) bool {
	if f.allNull || v.IsNull() {
		return false // a comparison with NULL is never true
	}
	// NaN is above all numbers for Delta, but Parquet statistics, and so those
	// of delta-rs, leave it out: a maximum of a float says nothing of NaNs.
	upper := f.max
	if v.kind == KindFloat && v.float != v.float {
		upper = Value{}
	}
	fromBelow, knownMin := Compare(f.min, v)
	fromAbove, knownMax := Compare(upper, v)
	isFloat := (col.field.Type == Float || col.field.Type == Double) && !col.partition
	switch op {
	case OpEq:
		return !(knownMin && fromBelow > 0) && !(knownMax && fromAbove < 0)
	case OpNe:
		return isFloat || !(knownMin && knownMax && fromBelow == 0 && fromAbove == 0)
	case OpLt:
		return !(knownMin && fromBelow >= 0)
	case OpLe:
		return !(knownMin && fromBelow > 0)
	case OpGt:
		return isFloat || !(knownMax && fromAbove <= 0)
	case OpGe:
		return isFloat || !(knownMax && fromAbove < 0)
	}
	return true
}
