package tds

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Row tokens (Microsoft: [MS-TDS] ROW, NBCROW).
const (
	tokRow    = 0xD1
	tokNBCRow = 0xD2
)

// wireColumn is a column of the open result as the client gets it.
type wireColumn struct {
	Column
	wire Type // what is sent; another one than Column.Type for old clients and NOT NULL columns
	down bool // a date or time type that goes as text to an old client
}

// RowWriter writes rows value by value, in the order of the columns, without boxing; End sends the row. A method that
// does not fit its column makes the row an error, which End returns; the row then is not sent and the next one may
// begin. The writer of Results.RowWriter is good for all results of a request, one row at a time.
type RowWriter struct {
	r     *Results
	open  bool // a row has begun
	next  int  // the column of the next value
	limit int  // the columns that may have a value; 0 while no row has begun and after a mistake
	start int  // of the row in r.b
	nulls []rowNull
	err   error
}

// rowNull is a NULL in the row that is open.
type rowNull struct {
	column  int
	at, end int // its bytes in Results.b
}

// begin starts a row with its token.
func (w *RowWriter) begin() {
	r := w.r
	w.open, w.next, w.limit, w.nulls, w.err = true, 0, 0, w.nulls[:0], nil
	w.start = len(r.b)
	if !r.open {
		w.err = errors.New("tds: a row before the columns of its result")
		return
	}
	w.limit = len(r.cols)
	r.b = append(r.b, tokRow)
}

// column is the one of the next value; nil after a mistake. It is small enough for the compiler to put it into every
// method that writes a value.
func (w *RowWriter) column() *wireColumn {
	if w.next >= w.limit {
		return w.other()
	}
	w.next++
	return &w.r.cols[w.next-1]
}

// other is column for a value that does not follow another: the first of a row, one too many, and any after a mistake.
func (w *RowWriter) other() *wireColumn {
	if !w.open {
		w.begin()
	}
	if w.err == nil && w.next >= w.limit {
		w.mistake(fmt.Errorf("tds: a row of more than %d values", len(w.r.cols)))
	}
	if w.err != nil {
		return nil
	}
	w.next++
	return &w.r.cols[w.next-1]
}

// mistake makes the row an error; it takes no more values.
func (w *RowWriter) mistake(err error) { w.err, w.limit = err, 0 }

// set keeps what an append function returned.
func (w *RowWriter) set(c *wireColumn, b []byte, err error) {
	w.r.b = b
	if err != nil {
		w.refuse(c, err)
	}
}

func (w *RowWriter) refuse(c *wireColumn, err error) {
	w.mistake(fmt.Errorf("tds: column %d %q: %w", w.next, c.Name, err))
}

func (w *RowWriter) misfit(c *wireColumn, kind string) {
	w.mistake(fmt.Errorf("tds: column %d %q: %s does not fit %s", w.next, c.Name, kind, c.Type))
}

// length appends the length of the scalar that follows, unless the column is of a fixed-length form.
func (w *RowWriter) length(c *wireColumn) []byte {
	if c.wire.Fixed {
		return w.r.b
	}
	return append(w.r.b, byte(c.wire.Size))
}

// Null writes NULL.
func (w *RowWriter) Null() {
	c := w.column()
	switch {
	case c == nil:
	case !c.Nullable:
		w.mistake(fmt.Errorf("tds: column %d %q: NULL, and the column was announced NOT NULL", w.next, c.Name))
	default:
		at := len(w.r.b)
		w.r.b = appendNull(w.r.b, &c.wire)
		w.nulls = append(w.nulls, rowNull{w.next - 1, at, len(w.r.b)})
	}
}

// Int64 writes tinyint, smallint, int or bigint.
func (w *RowWriter) Int64(n int64) {
	c := w.column()
	if c == nil {
		return
	}
	if c.wire.ID != IDIntN {
		w.misfit(c, "an integer")
		return
	}
	b, err := appendInt(w.length(c), &c.wire, n)
	w.set(c, b, err)
}

// Bool writes bit.
func (w *RowWriter) Bool(on bool) {
	c := w.column()
	if c == nil {
		return
	}
	if c.wire.ID != IDBitN {
		w.misfit(c, "a bit")
		return
	}
	w.r.b = appendBit(w.length(c), on)
}

// Float64 writes real or float.
func (w *RowWriter) Float64(f float64) {
	c := w.column()
	if c == nil {
		return
	}
	if c.wire.ID != IDFloatN {
		w.misfit(c, "a float")
		return
	}
	b, err := appendFloat(w.length(c), &c.wire, f)
	w.set(c, b, err)
}

// Decimal64 writes decimal, numeric or money; n counts units of the last digit of the column's scale.
func (w *RowWriter) Decimal64(n int64) { w.Decimal128(n>>63, uint64(n)) }

// Decimal128 writes decimal, numeric or money from a number of 128 bits in two's complement, which counts units of
// the last digit of the column's scale.
func (w *RowWriter) Decimal128(high int64, low uint64) {
	c := w.column()
	if c == nil {
		return
	}
	if !c.wire.isExact() {
		w.misfit(c, "a decimal")
		return
	}
	u, negative := magnitude(high, low)
	b, err := appendDecimal(w.length(c), &c.wire, u, negative)
	w.set(c, b, err)
}

// GUID writes uniqueidentifier.
func (w *RowWriter) GUID(g GUID) {
	c := w.column()
	if c == nil {
		return
	}
	if c.wire.ID != IDGUID {
		w.misfit(c, "a GUID")
		return
	}
	g = g.wire()
	w.r.b = append(w.length(c), g[:]...)
}

// DateTime2 writes date, time, datetime, smalldatetime or datetime2; see TicksOf for the unit. Digits beyond the scale
// of the column are cut (datetime takes the nearest 1/300 s): rounding as SQL Server does is the handler's part.
func (w *RowWriter) DateTime2(ticks int64) {
	c := w.column()
	if c == nil {
		return
	}
	if c.Type.ID == IDDateTimeOffset {
		w.misfit(c, "a date or time without offset")
		return
	}
	w.moment(c, ticks, 0)
}

// DateTimeOffset writes datetimeoffset from its local time and its offset from UTC in minutes, -840 to 840.
func (w *RowWriter) DateTimeOffset(localTicks int64, offset int) {
	c := w.column()
	if c == nil {
		return
	}
	if c.Type.ID != IDDateTimeOffset {
		w.misfit(c, "a date and time with offset")
		return
	}
	w.moment(c, localTicks, offset)
}

func (w *RowWriter) moment(c *wireColumn, ticks int64, offset int) {
	if c.down {
		if _, err := appendMoment(nil, &c.Type, ticks, offset); err != nil {
			w.set(c, w.r.b, err)
			return
		}
		b, err := appendText(w.r.b, &c.wire, momentText(c.Type, ticks, offset))
		w.set(c, b, err)
		return
	}
	b, err := appendMoment(w.length(c), &c.wire, ticks, offset)
	w.set(c, b, err)
}

// Bytes writes binary, varbinary, image or a UDT, or a character type whose bytes are already as they go on the wire.
func (w *RowWriter) Bytes(p []byte) {
	c := w.column()
	if c == nil {
		return
	}
	if !c.wire.isBody() || c.down {
		w.misfit(c, "binary")
		return
	}
	b, err := appendBytes(w.r.b, &c.wire, p)
	w.set(c, b, err)
}

// ByteString is Bytes for bytes that are kept in a string.
func (w *RowWriter) ByteString(p string) {
	c := w.column()
	if c == nil {
		return
	}
	if !c.wire.isBody() || c.down {
		w.misfit(c, "binary")
		return
	}
	b, err := appendBytes(w.r.b, &c.wire, p)
	w.set(c, b, err)
}

// UTF16 writes nchar, nvarchar, ntext or xml from UTF-16, lowest byte first.
func (w *RowWriter) UTF16(p []byte) {
	c := w.column()
	if c == nil {
		return
	}
	if !c.wire.isNational() || c.down {
		w.misfit(c, "UTF-16")
		return
	}
	b, err := appendBytes(w.r.b, &c.wire, p)
	w.set(c, b, err)
}

// Text writes a character type or xml. A character that the code page of char or varchar lacks becomes '?'.
func (w *RowWriter) Text(s string) {
	c := w.column()
	if c == nil {
		return
	}
	if c.down {
		w.misfit(c, "text")
		return
	}
	b, err := appendText(w.r.b, &c.wire, s)
	w.set(c, b, err)
}

// UTF8 is Text for bytes.
func (w *RowWriter) UTF8(p []byte) {
	c := w.column()
	if c == nil {
		return
	}
	if c.down {
		w.misfit(c, "text")
		return
	}
	b, err := appendText(w.r.b, &c.wire, p)
	w.set(c, b, err)
}

// Value writes any value of the generic path; see the package comment for its Go types.
func (w *RowWriter) Value(v any) {
	if v == nil {
		w.Null()
		return
	}
	c := w.column()
	if c == nil {
		return
	}
	if c.down {
		t, ok := asTime(v)
		if !ok {
			w.misfit(c, fmt.Sprintf("%T", v))
			return
		}
		ticks, offset := momentOf(c.Type, t)
		w.moment(c, ticks, offset)
		return
	}
	b, err := appendValue(w.r.b, c.wire, v)
	w.set(c, b, err)
}

// End ends the row. Its error is the first mistake in the row, that the client cancelled the request or is gone, or a
// fault that was asked for; Exec should return it.
func (w *RowWriter) End() error {
	r := w.r
	if !w.open {
		w.begin()
	}
	w.open, w.limit = false, 0
	if w.err == nil && w.next < len(r.cols) {
		w.err = fmt.Errorf("tds: a row of %d values for %d columns", w.next, len(r.cols))
	}
	if w.err != nil {
		r.b = r.b[:w.start]
		return w.err
	}
	if r.capture != nil {
		err := r.capture.add(r.b[w.start+1:])
		r.b = r.b[:w.start]
		if err != nil {
			return err
		}
		return r.ctx.Err()
	}
	if len(w.nulls) > 0 && r.ver >= ver73b {
		w.compress()
	}
	return r.endRow()
}

// compress makes the row an NBCROW, with a bit for each column in place of the NULLs, where that is shorter. Whether a row
// goes as ROW or as NBCROW is left to the server, which may choose ROW where no byte is saved, and may mix both in a result
// (Microsoft: [MS-TDS] NBCROW).
func (w *RowWriter) compress() {
	r := w.r
	bitmap, saved := (len(r.cols)+7)/8, 0
	for _, n := range w.nulls {
		saved += n.end - n.at
	}
	if saved <= bitmap {
		return
	}
	first, end := w.start+1, len(r.b)
	r.b = slices.Grow(r.b, bitmap)[:end+bitmap]
	row := r.b[first:]
	copy(row[bitmap:], row[:end-first])
	clear(row[:bitmap])
	to, from := bitmap, bitmap // in row
	for _, n := range w.nulls {
		row[n.column/8] |= 1 << (n.column % 8)
		to += copy(row[to:], row[from:n.at-first+bitmap])
		from = n.end - first + bitmap
	}
	to += copy(row[to:], row[from:])
	r.b[w.start], r.b = tokNBCRow, r.b[:first+to]
}

// rowStatus appends the column ROWSTAT that cursor fetches have at the end of each row.
func rowStatus(b []byte, status int32) []byte {
	return binary.LittleEndian.AppendUint32(b, uint32(status))
}
