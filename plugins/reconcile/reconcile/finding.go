package reconcile

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/core/plugin"
)

// findingKind is what is the matter with a key.
type findingKind byte

const (
	missingTarget findingKind = iota
	missingSource
	recordDiff
	keyInFlight
)

// Kinds of findings, as results and reports name them.
const (
	kindMissingTarget = "MISSING_TARGET"
	kindMissingSource = "MISSING_SOURCE"
	kindRecordDiff    = "RECORD_DIFF"
	kindInFlight      = "IN_FLIGHT"
	kindMismatch      = "MISMATCH"
	kindChunkTiling   = "CHUNK_TILING"
	kindChunkRows     = "CHUNK_ROWS"
	kindChunkStamp    = "CHUNK_STAMP"
)

func (k findingKind) String() string {
	return [...]string{kindMissingTarget, kindMissingSource, kindRecordDiff, kindInFlight}[k]
}

// finding is what was found about one key; the key stands beside it.
type finding struct {
	kind findingKind
	// piece is the bucket or range of the key, noPiece when it is not known.
	piece uint32
	span
	// lsn is the _start_lsn of silver's row, "" when there is none.
	lsn string
	// columns are those that differ, in schema order.
	columns []int
	// twice tells that silver holds the key more often than the source.
	twice bool
}

// pack is the form in which a finding is spooled.
func (f finding) pack() []byte {
	out := []byte{byte(f.kind), 0}
	if f.twice {
		out[1] = 1
	}
	out = binary.LittleEndian.AppendUint32(out, f.piece)
	for _, s := range []string{f.lo, f.hi, f.lsn} {
		out = append(binary.AppendUvarint(out, uint64(len(s))), s...)
	}
	for _, c := range f.columns {
		out = binary.AppendUvarint(out, uint64(c))
	}
	return out
}

var errCutOff = errors.New("a spooled finding is cut off")

func unpackFinding(b []byte) (finding, error) {
	if len(b) < 6 || findingKind(b[0]) > keyInFlight {
		return finding{}, errCutOff
	}
	f := finding{kind: findingKind(b[0]), twice: b[1] == 1, piece: binary.LittleEndian.Uint32(b[2:])}
	b = b[6:]
	for _, s := range []*string{&f.lo, &f.hi, &f.lsn} {
		size, used := binary.Uvarint(b)
		if used <= 0 || size > uint64(len(b)-used) {
			return f, errCutOff
		}
		*s = string(b[used : used+int(size)])
		b = b[used+int(size):]
	}
	for len(b) > 0 {
		c, used := binary.Uvarint(b)
		if used <= 0 {
			return f, errCutOff
		}
		f.columns = append(f.columns, int(c))
		b = b[used:]
	}
	return f, nil
}

// maxSorted is how many findings are put in order; more come as they were found.
const maxSorted = 10_000

// eachFinding hands out all findings about keys, by bucket and key as long as
// they are few.
func (r *run) eachFinding(ctx context.Context, use func(key []byte, f finding) error) error {
	type keyed struct {
		key []byte
		finding
	}
	var few []keyed
	sorted := r.findings.records <= maxSorted
	err := r.findings.each(ctx, 0, func(rec record) error {
		f, err := unpackFinding(rec.value)
		if err != nil {
			return err
		}
		if sorted {
			few = append(few, keyed{bytes.Clone(rec.key), f})
			return nil
		}
		return use(rec.key, f)
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(few, func(a, b keyed) int {
		return cmp.Or(cmp.Compare(a.piece, b.piece), bytes.Compare(a.key, b.key))
	})
	for _, k := range few {
		if err := use(k.key, k.finding); err != nil {
			return err
		}
	}
	return nil
}

// names are the columns that differ.
func (r *run) names(f finding) []string {
	var out []string
	for _, c := range f.columns {
		out = append(out, r.subject.columns[c].name)
	}
	return out
}

// tellFindings reports buckets that do not match, then keys, then chunks.
func (r *run) tellFindings(ctx context.Context) error {
	if r.events.Finding == nil {
		return nil
	}
	for i := range r.buckets {
		b := &r.buckets[i]
		if b.status == statusMatch || b.status == statusInFlight && b.decidedByRows() {
			continue // findings name the keys
		}
		kind, more := kindMismatch, ""
		if b.status == statusInFlight {
			kind, more = kindInFlight, "; keys in it changed after the position silver stands at"
		}
		r.events.Finding(plugin.Finding{Kind: kind, Lo: b.lo, Hi: b.hi, Detail: b.describe() + more})
	}
	err := r.eachFinding(ctx, func(key []byte, f finding) error {
		text, err := keyJSON(r.subject.key, key)
		if err != nil {
			return err
		}
		columns := r.names(f)
		r.events.Finding(plugin.Finding{Kind: f.kind.String(), Key: text, Columns: columns, Lo: f.lo, Hi: f.hi, Detail: f.describe(columns)})
		return nil
	})
	if err != nil {
		return err
	}
	for _, c := range r.chunks {
		r.events.Finding(plugin.Finding{Kind: c.kind, Lo: c.lo, Hi: c.hi, Detail: c.text})
	}
	return nil
}

func (b *bucket) describe() string {
	out := fmt.Sprintf("%d rows at the source, %d in silver", b.source.rows, b.silver.rows)
	if b.summed && b.source.rows == b.silver.rows && b.source != b.silver {
		out += "; their keys add up differently"
	}
	return out
}

func (f finding) describe(columns []string) string {
	var out string
	switch {
	case f.twice:
		out = "silver holds the key more often than the source"
	case len(columns) > 0:
		out = "different: " + strings.Join(columns, ", ")
	case f.lsn != "" || f.kind == missingSource:
		out = "only in silver"
	default:
		out = "only at the source"
	}
	if f.kind == keyInFlight {
		out += "; the key changed after the position silver stands at"
	}
	return out
}

// detail is the report's JSON about a finding.
func (f finding) detail(columns []string) (string, error) {
	text, err := json.Marshal(struct {
		LSN     string `json:"silver_start_lsn,omitempty"`
		Columns string `json:"columns,omitempty"`
	}{f.lsn, strings.Join(columns, ", ")})
	if err != nil {
		return "", fmt.Errorf("encoding a finding: %w", err)
	}
	return string(text), nil
}
