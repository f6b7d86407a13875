package deltalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Widens reports whether a column of type from may become type to where the
// table has type widening (Delta protocol: Type Widening): the same nested form
// in which every type is the same or becomes one of the wider types. It is
// false for equal types.
func Widens(from, to Type) bool {
	return !EqualData(from, to) && widensOrEqual(from, to)
}

func widensOrEqual(from, to Type) bool {
	switch from := from.(type) {
	case *Struct:
		to, ok := to.(*Struct)
		if !ok || len(from.Fields) != len(to.Fields) {
			return false
		}
		for i, f := range from.Fields {
			if g := to.Fields[i]; f.Name != g.Name || !widensOrEqual(f.Type, g.Type) {
				return false
			}
		}
		return true
	case *Array:
		to, ok := to.(*Array)
		return ok && widensOrEqual(from.Element, to.Element)
	case *Map:
		to, ok := to.(*Map)
		return ok && widensOrEqual(from.Key, to.Key) && widensOrEqual(from.Value, to.Value)
	}
	return from == to || widensFlat(from, to)
}

// integerRank orders the integer types by their size.
var integerRank = map[Type]int{Byte: 1, Short: 2, Integer: 3, Long: 4}

// widensFlat is the protocol's list of type changes.
func widensFlat(from, to Type) bool {
	rank := integerRank[from]
	switch to := to.(type) {
	case Primitive:
		switch to {
		case Short, Integer, Long:
			return rank > 0 && rank < integerRank[to]
		case Double:
			return from == Float || rank > 0 && from != Long
		case TimestampNTZ:
			return from == Date
		}
	case Decimal:
		if d, ok := from.(Decimal); ok {
			return d != to && d.Scale <= to.Scale && d.Precision-d.Scale <= to.Precision-to.Scale
		}
		digits := 10
		if from == Long {
			digits = 20
		}
		return rank > 0 && to.Precision-to.Scale >= digits
	}
	return false
}

// icebergRefuses reports whether a widening is one that Iceberg does not know
// (Delta protocol: Writer Requirements for Type Widening).
func icebergRefuses(from, to Type) bool {
	switch to := to.(type) {
	case Primitive:
		return to == TimestampNTZ || to == Double && from != Float
	case Decimal:
		d, ok := from.(Decimal)
		return !ok || d.Scale != to.Scale
	}
	return false
}

// WidenColumns gives the columns that to names the types that they have there,
// and records each change in delta.typeChanges of the nearest field, as the
// protocol asks: a pruner of old files and other readers go by it. Other columns
// stay. It fails when a change is no widening, or the table does not allow it.
func (tx *Transaction) WidenColumns(to *Struct) error {
	protocol := tx.currentProtocol()
	if !Properties(tx.currentMetadata().Configuration).TypeWidening() {
		return fmt.Errorf("%w: types are widened only where %s is true", ErrInvalidCommit, PropTypeWidening)
	}
	if protocol.supports(featTypeWideningPre) && !protocol.supports(featTypeWidening) {
		return &UnsupportedError{Features: []string{featTypeWideningPre}, Detail: "its record of type changes differs; columns keep their types"}
	}
	w := &widening{iceberg: protocol.supports(featIcebergV1) || protocol.supports(featIcebergV2)}
	s := tx.Schema().Clone()
	for _, f := range to.Fields {
		have, at := s.Field(f.Name)
		if at < 0 {
			return fmt.Errorf("%w: there is no column %q to widen", ErrInvalidCommit, f.Name)
		}
		if EqualData(have.Type, f.Type) {
			continue
		}
		if !Widens(have.Type, f.Type) {
			return fmt.Errorf("%w: column %q is %s, which does not widen to %s", ErrInvalidCommit, have.Name, have.Type, f.Type)
		}
		s.Fields[at] = w.field(have, f.Type)
	}
	if w.refused != nil {
		return &UnsupportedError{Features: []string{featTypeWidening}, Detail: "Iceberg, which the table is kept compatible with, does not know the change " + strings.Join(w.refused, ", ")}
	}
	return tx.SetSchema(s)
}

// widening walks over one change of a schema.
type widening struct {
	iceberg bool
	refused []string
}

// field returns f with the type to, which its type widens to.
func (w *widening) field(f Field, to Type) Field {
	var changes []TypeChange
	f.Type = w.typ(f.Type, to, nil, &changes)
	if len(changes) == 0 {
		return f
	}
	// What is there stays as it is, with keys that only its writer knows.
	var history []json.RawMessage
	if raw, ok := f.Metadata[metaTypeChanges]; ok && json.Unmarshal(raw, &history) != nil {
		history = nil // resolve has refused it
	}
	all := make([]any, 0, len(history)+len(changes))
	for _, h := range history {
		all = append(all, h)
	}
	for _, c := range changes {
		all = append(all, c)
	}
	f.Metadata = f.Metadata.With(metaTypeChanges, all)
	return f
}

// typ is the type from with the leaves of to. Changes of elements, keys and
// values belong to the field around them; path leads from there.
func (w *widening) typ(from, to Type, path []string, changes *[]TypeChange) Type {
	switch from := from.(type) {
	case *Struct:
		to := to.(*Struct)
		out := &Struct{Fields: slices.Clone(from.Fields)}
		for i, f := range from.Fields {
			out.Fields[i] = w.field(f, to.Fields[i].Type)
		}
		return out
	case *Array:
		to := to.(*Array)
		return &Array{Element: w.typ(from.Element, to.Element, inside(path, "element"), changes), ContainsNull: from.ContainsNull}
	case *Map:
		to := to.(*Map)
		return &Map{
			Key:               w.typ(from.Key, to.Key, inside(path, "key"), changes),
			Value:             w.typ(from.Value, to.Value, inside(path, "value"), changes),
			ValueContainsNull: from.ValueContainsNull,
		}
	}
	if from == to {
		return from
	}
	if w.iceberg && icebergRefuses(from, to) {
		w.refused = append(w.refused, fmt.Sprintf("%s to %s", from, to))
	}
	*changes = append(*changes, TypeChange{ToType: to.String(), FromType: from.String(), FieldPath: strings.Join(path, ".")})
	return to
}

func inside(path []string, step string) []string {
	return append(path[:len(path):len(path)], step)
}

// checkTypeChanges refuses a history of types that this package does not know
// to read (Delta protocol: Reader Requirements for Type Widening).
func checkTypeChanges(p *Protocol, s *Struct) (err error) {
	if !p.supports(featTypeWidening) && !p.supports(featTypeWideningPre) {
		return nil
	}
	walkFields(s, nil, func(path []string, f *Field) bool {
		changes, bad := f.TypeChanges()
		if bad != nil {
			err = fmt.Errorf("%w: %w", ErrCorrupt, bad)
			return false
		}
		for _, c := range changes {
			from, fromErr := ParsePrimitive(c.FromType)
			to, toErr := ParsePrimitive(c.ToType)
			if fromErr != nil || toErr != nil || from != to && !widensFlat(from, to) {
				err = &UnsupportedError{Reading: true, Features: []string{featTypeWidening},
					Detail: fmt.Sprintf("column %q was changed from %q to %q, which is not among the changes of the protocol", strings.Join(path, "."), c.FromType, c.ToType)}
				return false
			}
		}
		return true
	})
	return err
}
