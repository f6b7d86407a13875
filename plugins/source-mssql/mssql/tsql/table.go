package tsql

import (
	"fmt"
	"strings"
)

// Isolation of reads of a source table.
type Isolation string

// The isolation levels. There is no way to read uncommitted rows.
const (
	ReadCommitted Isolation = ""
	Snapshot      Isolation = "snapshot"
)

// Locking is how a read of a source table meets writers. It is sent before
// every such read: a setting lasts for a batch or for the session, depending
// on whether the statement has parameters.
type Locking struct {
	Isolation Isolation
	// TimeoutMillis bounds one wait for a lock, 0 fails at the first; negative
	// waits for ever.
	TimeoutMillis int64
}

func (l Locking) prefix() (string, error) {
	text := ""
	if l.TimeoutMillis >= 0 {
		text = "SET LOCK_TIMEOUT " + itoa(l.TimeoutMillis) + "; "
	}
	switch l.Isolation {
	case ReadCommitted:
	case Snapshot:
		text += "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; "
	default:
		return "", fmt.Errorf("no isolation level %q: want read_committed or snapshot", string(l.Isolation))
	}
	return text, nil
}

// TableRead is a read of a source table.
type TableRead struct {
	Table   Table
	Locking Locking
}

func (t TableRead) start() (prefix, name string, err error) {
	if prefix, err = t.Locking.prefix(); err != nil {
		return "", "", err
	}
	name, err = t.Table.Quoted()
	return prefix, name, err
}

// Rows answers columns of the rows in a key range, in no order. Without
// columns it answers one constant per row.
func (t TableRead) Rows(columns []string, r Range) (Query, error) {
	prefix, name, err := t.start()
	if err != nil {
		return Query{}, err
	}
	cols, err := quoteAll(columns)
	if err != nil {
		return Query{}, err
	}
	if len(cols) == 0 {
		cols = []string{"1 AS one"}
	}
	pieces, args, err := r.pieces()
	if err != nil {
		return Query{}, err
	}
	for i, p := range pieces {
		pieces[i] = "SELECT " + strings.Join(cols, ", ") + " FROM " + name + where(p)
	}
	return query("rows of a table", prefix+strings.Join(pieces, " UNION ALL "), args...), nil
}

// Bounds answers lo and hi of one key column in two seeks.
func (t TableRead) Bounds(key string, r Range) (Query, error) {
	prefix, name, err := t.start()
	if err != nil {
		return Query{}, err
	}
	col, err := Quote(key)
	if err != nil {
		return Query{}, err
	}
	cond, args, err := r.single()
	if err != nil {
		return Query{}, err
	}
	return query("bounds of a key", join(prefix, "SELECT (SELECT MIN(", col, ") FROM ", name, cond, ") AS lo,",
		" (SELECT MAX(", col, ") FROM ", name, cond, ") AS hi"), args...), nil
}

// EndKey answers the last key, or with first the first one, in key order.
func (t TableRead) EndKey(keys []string, first bool) (Query, error) {
	prefix, name, err := t.start()
	if err != nil {
		return Query{}, err
	}
	cols, err := quoteAll(keys)
	if err != nil {
		return Query{}, err
	}
	if len(cols) == 0 {
		return Query{}, fmt.Errorf("a table without key has no last key")
	}
	order := strings.Join(cols, " DESC, ") + " DESC"
	if first {
		order = strings.Join(cols, ", ")
	}
	return query("last key", join(prefix, "SELECT TOP (1) ", strings.Join(cols, ", "), " FROM ", name, " ORDER BY ", order)), nil
}

// KeyBound answers the key that leaves exactly n rows in [lo, key), no row
// when the range has n or fewer.
func (t TableRead) KeyBound(r Range, n int64) (Query, error) {
	prefix, name, err := t.start()
	if err != nil {
		return Query{}, err
	}
	if n < 0 || len(r.Keys) == 0 {
		return Query{}, fmt.Errorf("no bound after %d rows of a key of %d columns", n, len(r.Keys))
	}
	pieces, args, err := r.pieces()
	if err != nil {
		return Query{}, err
	}
	names := make([]string, len(r.Keys))
	for i, k := range r.Keys {
		names[i] = k.Name
	}
	cols, err := quoteAll(names)
	if err != nil {
		return Query{}, err
	}
	list := strings.Join(cols, ", ")
	for i, p := range pieces {
		pieces[i] = join("SELECT ", list, " FROM (SELECT TOP (", itoa(n+1), ") ", list, " FROM ", name, where(p), " ORDER BY ", list, ") AS p", itoa(i))
	}
	return query("key after n rows", join(prefix, "SELECT ", list, " FROM (", strings.Join(pieces, " UNION ALL "), ") AS u",
		" ORDER BY ", list, " OFFSET ", itoa(n), " ROWS FETCH NEXT 1 ROWS ONLY"), args...), nil
}

// Count answers n: the rows of a key range.
func (t TableRead) Count(r Range) (Query, error) {
	prefix, name, err := t.start()
	if err != nil {
		return Query{}, err
	}
	cond, args, err := r.single()
	if err != nil {
		return Query{}, err
	}
	return query("count", join(prefix, "SELECT COUNT_BIG(*) AS n FROM ", name, cond), args...), nil
}

// Buckets answers bucket, n, total per non-empty bucket of an integer key:
// bucket = floor(key / width). A date key counts days since 1970-01-01. Rows
// whose key is NULL are in no bucket.
func (t TableRead) Buckets(key string, isDate bool, width int64, r Range) (Query, error) {
	prefix, name, err := t.start()
	if err != nil {
		return Query{}, err
	}
	col, err := Quote(key)
	if err != nil {
		return Query{}, err
	}
	if width < 1 {
		return Query{}, fmt.Errorf("a bucket's width must be positive, not %d", width)
	}
	cond, args, err := r.single()
	if err != nil {
		return Query{}, err
	}
	if cond == "" {
		cond = where(col + " IS NOT NULL")
	} else {
		cond += " AND " + col + " IS NOT NULL"
	}
	number := "CAST(" + col + " AS bigint)"
	if isDate {
		number = "CAST(DATEDIFF(day, '19700101', " + col + ") AS bigint)"
	}
	w := "CAST(" + itoa(width) + " AS bigint)"
	// Integer division truncates toward zero; the CASE makes it a floor.
	return query("buckets", join(prefix,
		"SELECT x.[__$b] AS bucket, COUNT_BIG(*) AS n, SUM(CAST(x.[__$o] AS decimal(38,0))) AS total",
		" FROM (SELECT ", number, " AS [__$o], CASE WHEN ", number, " >= 0 THEN ", number, " / ", w,
		" ELSE (", number, " + 1) / ", w, " - 1 END AS [__$b] FROM ", name, cond, ") AS x",
		" GROUP BY x.[__$b] ORDER BY x.[__$b]"), args...), nil
}

// Tiles answers the key columns and __$r (the row's number) of the first row
// of each of n tiles of the key order, and of the last row.
func (t TableRead) Tiles(keys []string, n int) (Query, error) {
	prefix, name, err := t.start()
	if err != nil {
		return Query{}, err
	}
	cols, err := quoteAll(keys)
	if err != nil {
		return Query{}, err
	}
	if n < 1 || len(cols) == 0 {
		return Query{}, fmt.Errorf("no %d tiles of a key of %d columns", n, len(cols))
	}
	list := strings.Join(cols, ", ")
	return query("tiles of a key", join(prefix,
		"SELECT ", list, ", u.[__$r], u.[__$t] FROM (SELECT ", list, ", s.[__$r], s.[__$t],",
		" LAG(s.[__$t]) OVER (ORDER BY s.[__$r]) AS [__$p], LEAD(s.[__$t]) OVER (ORDER BY s.[__$r]) AS [__$n]",
		" FROM (SELECT ", list, ", NTILE(", itoa(n), ") OVER (ORDER BY ", list, ") AS [__$t], ROW_NUMBER() OVER (ORDER BY ", list, ") AS [__$r]",
		" FROM ", name, ") AS s) AS u",
		" WHERE u.[__$p] IS NULL OR u.[__$p] <> u.[__$t] OR u.[__$n] IS NULL ORDER BY u.[__$r]")), nil
}

// single is the WHERE of a range as one predicate, for scans and for ranges of
// one column; its pieces are disjoint.
func (r Range) single() (string, []Arg, error) {
	pieces, args, err := r.pieces()
	if err != nil {
		return "", nil, err
	}
	if len(pieces) == 1 {
		return where(pieces[0]), args, nil
	}
	for i, p := range pieces {
		pieces[i] = "(" + p + ")"
	}
	return " WHERE (" + strings.Join(pieces, " OR ") + ")", args, nil
}
