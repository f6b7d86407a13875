package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// image is a row: the text of each value in the form of `pipectl tail -json`. NULL is not there, so that a column that
// came later is NULL in rows of before.
type image map[string]string

// String leaves out the middle of long values.
func (i image) String() string {
	var b strings.Builder
	for n, column := range slices.Sorted(maps.Keys(i)) {
		v := i[column]
		if len(v) > 200 {
			v = fmt.Sprintf("%.50s...%s (%d)", v, v[len(v)-50:], len(v))
		}
		if n > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(column + ":" + v)
	}
	return "[" + b.String() + "]"
}

// newImage makes the image of a row; form has the columns whose values are to be turned into another form.
func newImage(row map[string]any, form map[string]func(any) (string, error)) (image, error) {
	if row == nil {
		return nil, nil
	}
	i := image{}
	for column, v := range row {
		if v == nil {
			continue
		}
		text := fmt.Sprint(v)
		var err error
		if turn := form[column]; turn != nil {
			text, err = turn(v)
		} else if n, ok := v.(json.Number); ok && strings.ContainsAny(text, ".eE") { // two ways to write a float
			var f float64
			f, err = n.Float64()
			text = strconv.FormatFloat(f, 'g', -1, 64)
		}
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", column, err)
		}
		i[column] = text
	}
	return i, nil
}

// readJSON keeps all digits of numbers.
func readJSON(line []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("reading %.200q: %w", line, err)
	}
	return nil
}

// event is one change, or a row of a snapshot.
type event struct {
	table         string
	commit, seq   string // the LSN of the commit and of the change, hexadecimal
	op            string // r, c, u, d: read, created, updated, deleted
	before, after image
	last          bool   // of a snapshot
	instance      string // the capture instance, which pipectl tells and Debezium does not
}

func (e event) String() string {
	return fmt.Sprintf("%s %s %s/%s before %v after %v", e.op, e.table, e.commit, e.seq, e.before, e.after)
}

// split parts the snapshot from the changes behind it.
func split(all []event) (snapshot, changes []event) {
	n := slices.IndexFunc(all, func(e event) bool { return e.op != "r" })
	if n < 0 {
		n = len(all)
	}
	return all[:n], all[n:]
}

// compare holds that both saw the same changes in the same order.
func compare(ours, theirs []event) error {
	for i := range min(len(ours), len(theirs)) {
		a, b := ours[i], theirs[i]
		if a.table != b.table || a.commit != b.commit || a.seq != b.seq || a.op != b.op || !maps.Equal(a.before, b.before) || !maps.Equal(a.after, b.after) {
			return fmt.Errorf("change %d differs\n  pipectl:  %s\n  Debezium: %s", i+1, a, b)
		}
	}
	if len(ours) != len(theirs) {
		return fmt.Errorf("pipectl has %d changes, Debezium %d", len(ours), len(theirs))
	}
	return nil
}

// continues holds that each change begins from the row that the snapshot and the changes before it left. The column that
// came late is left out: what changed in it before an instance captured it, nobody saw.
func continues(snapshot, changes []event) error {
	rows := map[string]image{}
	same := func(a, b image) bool {
		a, b = maps.Clone(a), maps.Clone(b)
		delete(a, lateColumn)
		delete(b, lateColumn)
		return maps.Equal(a, b)
	}
	for i, e := range slices.Concat(snapshot, changes) {
		if e.before != nil {
			key := e.key(e.before)
			if !same(rows[key], e.before) {
				return fmt.Errorf("event %d begins from another row than there was: %s; there was %v", i+1, e, rows[key])
			}
			delete(rows, key)
		}
		if e.after != nil {
			key := e.key(e.after)
			if rows[key] != nil {
				return fmt.Errorf("event %d makes a row that is there: %s", i+1, e)
			}
			rows[key] = e.after
		}
	}
	return nil
}

func (e event) key(i image) string {
	parts := []string{e.table}
	for _, column := range keyOf[e.table] {
		parts = append(parts, i[column])
	}
	return strings.Join(parts, "\x00")
}
