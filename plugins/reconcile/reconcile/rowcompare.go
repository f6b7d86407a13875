package reconcile

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/zeebo/xxh3"

	"github.com/pipectl/pipectl/core/plugin"
)

// noPiece is the piece of a row that only silver holds, where silver's rows
// cannot be told by ranges.
const noPiece = ^uint32(0)

// comparison compares the rows of chosen pieces (buckets or ranges). Rows are
// spooled in canonical form, which is exact: two rows are equal when their
// bytes are. There is no tolerance of any kind.
type comparison struct {
	*run
	source, silver *spool
	// pieces are the bounds that findings carry.
	pieces []span
	// pieceOf returns the piece of a row by its key in canonical form; false
	// leaves the row out. nil for ranges whose rows name their piece.
	pieceOf func(key []byte) (uint32, bool)
	// filter narrows silver's scan.
	filter plugin.Filter
	// whole tells that all rows of the source were read, or that pieceOf
	// selects silver's: then a key that only silver holds is a finding.
	whole bool
	// present holds the keys of the source; nil when whole.
	present keyFilter

	key, value []byte
}

// read is one read of source rows.
type read struct {
	span
	piece uint32
}

// compareRanges compares the rows of the chosen buckets.
func (r *run) compareRanges(ctx context.Context, key rangeKey, b *bins) error {
	var reads []read
	pieces := make([]span, len(r.buckets))
	for i := range r.buckets {
		k := &r.buckets[i]
		pieces[i] = k.span
		if !k.hashed {
			continue
		}
		r.result.Hashed++
		// Neighbours are read at once: a bucket is a unit of counting.
		if n := len(reads); n > 0 && reads[n-1].hi != "" && reads[n-1].hi == k.lo {
			reads[n-1].hi = k.hi
			continue
		}
		reads = append(reads, read{span: k.span})
	}
	if len(reads) == 0 {
		return nil
	}
	var filter plugin.Filter
	for i := range reads {
		clause := key.bound(&reads[i].span, fieldNamed(r.silver.Schema, key.kind.name))
		filter.Any = append(filter.Any, clause)
	}
	if len(filter.Any) > maxClauses {
		filter = plugin.Filter{}
	}
	c := &comparison{run: r, pieces: pieces, filter: filter, whole: true}
	c.pieceOf = func(k []byte) (uint32, bool) {
		if k[0] != markSet {
			return 0, false // a NULL key is in no bucket
		}
		i := bucketOf(r.buckets, floorDiv(decodeInt(k[1:]), b.width))
		return uint32(i), i >= 0 && r.buckets[i].hashed
	}
	return c.compare(ctx, reads)
}

// maxClauses bounds the filter of silver's scan: with more pieces than this
// nearly every file holds some of them.
const maxClauses = 64

// bound returns a read's bounds as a clause over silver's key, and opens those
// that no key of 64 bits can reach.
func (k rangeKey) bound(s *span, column string) plugin.Clause {
	literal := plugin.LiteralInt
	if k.date {
		literal = plugin.LiteralDate
	}
	term := func(bound *string, op string) []plugin.Term {
		v, err := k.parse(*bound)
		if *bound == "" || err != nil {
			*bound = ""
			return nil
		}
		return []plugin.Term{{Column: column, Op: op, Literals: []plugin.Literal{{Type: literal, Int: v}}}}
	}
	return plugin.Clause{All: append(term(&s.lo, plugin.OpGE), term(&s.hi, plugin.OpLT)...)}
}

// compareTiles compares the rows of a random share of ranges, whatever the
// count of the table says. A later look compares the ranges in which an earlier
// one found something, as that one cut them; the count of the table must match
// then. Where all ranges are compared, a later look does so, too: it alone finds
// rows that only silver holds.
func (r *run) compareTiles(ctx context.Context) error {
	if ranges, some := r.askedRanges(); some && r.isLater() && r.settings.sample < 1 {
		r.buckets[0].hashed, r.buckets[0].partly = true, true
		if err := r.comparePieces(ctx, ranges, false); err != nil {
			return err
		}
		r.result.LookedAgain = true
		return nil
	}
	if r.settings.sample == 0 && !r.isLater() {
		return nil
	}
	ranges, ok, err := r.tiles(ctx, r.buckets[0].source.rows)
	if err != nil || !ok {
		return err
	}
	chosen := ranges
	if !r.isLater() {
		chosen = nil
		for _, i := range choose(len(ranges), r.settings.sample, r.random) {
			chosen = append(chosen, ranges[i])
		}
	}
	whole := len(chosen) == len(ranges)
	r.buckets[0].hashed, r.buckets[0].partly = len(chosen) > 0, !whole
	if err := r.comparePieces(ctx, chosen, whole); err != nil {
		return err
	}
	r.result.AllRowsCompared, r.result.LookedAgain = whole, r.isLater()
	return nil
}

// comparePieces compares the rows of ranges of the source; whole tells that these
// are all of it.
func (r *run) comparePieces(ctx context.Context, pieces []span, whole bool) error {
	r.result.Hashed = int64(len(pieces))
	c := &comparison{run: r, pieces: pieces, whole: whole}
	if !whole {
		c.present = newKeyFilter(int64(float64(r.buckets[0].source.rows)*r.settings.sample), r.budget/16)
	}
	reads := make([]read, len(pieces))
	for i, s := range pieces {
		reads[i] = read{span: s, piece: uint32(i)}
	}
	return c.compare(ctx, reads)
}

func (c *comparison) compare(ctx context.Context, reads []read) error {
	c.source, c.silver = newSpool(c.spillDir, c.budget/4, 0), newSpool(c.spillDir, c.budget/4, 0)
	defer c.source.close()
	defer c.silver.close()
	end, err := c.newest(ctx)
	if err != nil {
		return err
	}
	c.rowsEnd = end.Text
	if err := c.readSource(ctx, reads, end); err != nil {
		return err
	}
	read := time.Now()
	// All rows of the source are here before bronze is pinned.
	moved, err := c.pinInFlight(ctx, end.Text)
	if err != nil {
		return err
	}
	if err := c.readSilver(ctx); err != nil {
		return err
	}
	differing := newSpool(c.spillDir, c.budget/16, 0)
	defer differing.close()
	if err := c.pair(ctx, differing); err != nil {
		return err
	}
	if differing.records > 0 && c.req.AwaitCapture > 0 {
		if moved, err = c.awaitInFlight(ctx, read, end.Text); err != nil {
			return err
		}
	}
	return c.judge(ctx, differing, moved)
}

// readSource spools the source's rows, each range read once.
func (c *comparison) readSource(ctx context.Context, reads []read, end plugin.Position) error {
	if end.IsZero() {
		var err error
		if end, err = c.host.Source.Stamp(ctx, c.req.Source); err != nil {
			return fmt.Errorf("reading the position of %s: %w", c.req.Object, err)
		}
	}
	var seen int64
	for i, rd := range reads {
		frames, err := c.host.Source.Read(ctx, plugin.ReadRequest{
			Table: c.req.Source, Stamp: end, Keys: c.req.Key,
			Chunk: &plugin.Chunk{Index: int32(i), Lo: rd.lo, Hi: rd.hi, Last: i == len(reads)-1},
		})
		if err == nil {
			err = c.forEach(frames, func(batch arrow.RecordBatch) error {
				seen += batch.NumRows()
				c.tell("read source", seen, -1)
				return c.spoolBatch(c.source, batch, false, rd.piece)
			})
		}
		if err != nil {
			return fmt.Errorf("reading rows of %s: %w", c.req.Object, err)
		}
	}
	return nil
}

// readSilver spools silver's rows of the same pieces.
func (c *comparison) readSilver(ctx context.Context) error {
	var columns []string
	for _, k := range append(slices.Clone(c.subject.columns), kind{name: plugin.ColumnStartLSN}) {
		if name := fieldNamed(c.run.silver.Schema, k.name); name != "" {
			columns = append(columns, name)
		}
	}
	var seen int64
	return c.scan(ctx, plugin.ScanRequest{Table: c.req.Silver, Version: c.run.silver.Version, Columns: columns, Filter: c.filter}, func(batch arrow.RecordBatch) error {
		seen += batch.NumRows()
		c.tell("read silver", seen, c.run.silver.Rows)
		return c.spoolBatch(c.silver, batch, true, noPiece)
	})
}

// spoolBatch writes rows as records: the key; then the piece, silver's
// _start_lsn, and all columns.
func (c *comparison) spoolBatch(to *spool, batch arrow.RecordBatch, silver bool, piece uint32) error {
	keys, err := c.bindNamed(c.subject.key, batch)
	if err != nil {
		return err
	}
	columns, err := c.bindNamed(c.subject.columns, batch)
	if err != nil {
		return err
	}
	var position *array.String
	if silver && batch.Schema().HasField(plugin.ColumnStartLSN) {
		if position, err = columnOf[*array.String](batch, plugin.ColumnStartLSN); err != nil {
			return err
		}
	}
	for i := range int(batch.NumRows()) {
		c.key = appendRow(c.key[:0], keys, i)
		if c.pieceOf != nil {
			var ok bool
			if piece, ok = c.pieceOf(c.key); !ok {
				continue
			}
		}
		hash := xxh3.Hash(c.key)
		switch {
		case c.present == nil:
		case !silver:
			c.present.note(hash)
		case !c.present.may(hash):
			continue // where few rows are sampled, most of silver is not kept
		}
		c.value = binary.LittleEndian.AppendUint32(c.value[:0], piece)
		lsn := ""
		if position != nil && position.IsValid(i) {
			lsn = position.Value(i)
		}
		c.value = append(binary.AppendUvarint(c.value, uint64(len(lsn))), lsn...)
		c.value = appendRow(c.value, columns, i)
		if err := to.add(hash, c.key, c.value); err != nil {
			return err
		}
	}
	return nil
}

// compared is the value of a spooled row, taken apart.
type compared struct {
	piece   uint32
	lsn     []byte
	columns []byte
}

func unpack(value []byte) compared {
	size, used := binary.Uvarint(value[4:])
	lsn := value[4+used:]
	return compared{piece: binary.LittleEndian.Uint32(value), lsn: lsn[:size], columns: lsn[size:]}
}

// pair brings rows of equal keys together and writes down what differs.
func (c *comparison) pair(ctx context.Context, differing *spool) error {
	return join(ctx, c.source, c.silver, c.budget/4, func(t *table, silver func(func(record) error) error) error {
		err := silver(func(s record) error {
			have := unpack(s.value)
			// A key should be there once on each side. If not, an equal row is
			// the partner before any other.
			var partner *slot
			var want compared
			known := false
			t.find(s.hash, s.key, func(at *slot, r record) bool {
				candidate := unpack(r.value)
				if known = true; at.taken {
					have.piece = candidate.piece // where a later look finds it
					return false
				}
				equal := bytes.Equal(candidate.columns, have.columns)
				if partner == nil || equal {
					partner, want = at, candidate
				}
				return equal
			})
			if partner == nil {
				if !known && !c.whole {
					return nil
				}
				return differing.add(s.hash, s.key, finding{kind: missingSource, piece: have.piece, lsn: string(have.lsn), twice: known}.pack())
			}
			partner.taken = true
			if bytes.Equal(want.columns, have.columns) {
				return nil
			}
			columns, err := c.differing(want.columns, have.columns)
			if err != nil {
				return err
			}
			return differing.add(s.hash, s.key, finding{kind: recordDiff, piece: want.piece, lsn: string(have.lsn), columns: columns}.pack())
		})
		if err != nil {
			return err
		}
		return t.rest(ctx, func(r record) error {
			return differing.add(r.hash, r.key, finding{kind: missingTarget, piece: unpack(r.value).piece}.pack())
		})
	})
}

// differing lists the columns whose values differ, in schema order.
func (c *comparison) differing(want, have []byte) ([]int, error) {
	var out []int
	for i, k := range c.subject.columns {
		var a, b []byte
		var err error
		if a, want, err = k.next(want); err != nil {
			return nil, err
		}
		if b, have, err = k.next(have); err != nil {
			return nil, err
		}
		if !bytes.Equal(a, b) {
			out = append(out, i)
		}
	}
	return out, nil
}

// judge tells keys in flight from findings.
func (c *comparison) judge(ctx context.Context, differing *spool, moved *inFlight) error {
	if differing.records == 0 {
		return nil
	}
	keys := newSpool(c.spillDir, c.budget/8, 0)
	defer keys.close()
	// A stream that is far behind has many keys in flight: only those that
	// may differ are kept.
	wanted := newKeyFilter(differing.records, c.budget/16)
	for i := range fanout {
		err := differing.each(ctx, i, func(r record) error { wanted.note(r.hash); return nil })
		if err != nil {
			return err
		}
	}
	err := moved.keys(ctx, func(key []byte) error {
		if hash := xxh3.Hash(key); wanted.may(hash) {
			return keys.add(hash, key, nil)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return join(ctx, keys, differing, c.budget/8, func(t *table, found func(func(record) error) error) error {
		return found(func(r record) error {
			f, err := unpackFinding(r.value)
			if err != nil {
				return err
			}
			if t.has(r.hash, r.key) {
				f.kind = keyInFlight
			}
			f.span = span{}
			if f.piece != noPiece {
				f.span = c.pieces[f.piece]
			}
			c.result.Failures[f.kind.String()]++
			return c.findings.add(0, r.key, f.pack())
		})
	})
}
