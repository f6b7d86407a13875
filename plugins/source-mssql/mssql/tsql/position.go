package tsql

import "fmt"

// MaxLSN answers lsn: the last commit that capture has processed, NULL when
// it has never written. It is the idle poll.
func MaxLSN() Query {
	return query("max LSN", "SELECT "+hex("sys.fn_cdc_get_max_lsn()")+" AS lsn")
}

// MaxLSNBeside answers lsn as MaxLSN does, and local_time: that of an LSN's entry,
// NULL when it has none. It is the idle poll of a stream that stands at a commit.
func MaxLSNBeside(l string) Query {
	return query("max LSN", "SELECT "+hex("sys.fn_cdc_get_max_lsn()")+" AS lsn, "+entryTimeOf("lsn")+" AS local_time", Arg{"lsn", l})
}

// MinLSN answers lsn: the low watermark of a capture instance; NULL or zero
// when it is unknown, not granted or not yet processed.
func MinLSN(instance string) Query {
	return query("min LSN", "SELECT "+hex("sys.fn_cdc_get_min_lsn(@instance)")+" AS lsn", Arg{"instance", instance})
}

// Increment answers lsn: the one after l.
func Increment(l string) Query {
	return query("next LSN", "SELECT "+hex("sys.fn_cdc_increment_lsn("+asLSN("lsn")+")")+" AS lsn", Arg{"lsn", l})
}

// Decrement answers lsn: the one before l.
func Decrement(l string) Query {
	return query("previous LSN", "SELECT "+hex("sys.fn_cdc_decrement_lsn("+asLSN("lsn")+")")+" AS lsn", Arg{"lsn", l})
}

// NthAfter answers lsn: the n-th commit after an LSN, the last one when there
// are fewer, NULL when there is none.
func NthAfter(after string, n int) (Query, error) {
	if n < 1 {
		return Query{}, fmt.Errorf("a number of commits must be positive, not %d", n)
	}
	return query("n-th commit after", join(
		"SELECT ", hex("MAX(e.start_lsn)"), " AS lsn",
		" FROM (SELECT TOP (", itoa(n), ") start_lsn FROM cdc.lsn_time_mapping",
		" WHERE start_lsn > ", asLSN("after"), " ORDER BY start_lsn) AS e"), Arg{"after", after}), nil
}

// Pending answers n: how many commits follow an LSN, counted up to a limit; and
// local_time: that of the LSN's own entry, NULL when it has none.
func Pending(after string, limit int64) (Query, error) {
	if limit < 1 {
		return Query{}, fmt.Errorf("a limit must be positive, not %d", limit)
	}
	return query("pending commits", join(
		"SELECT COUNT_BIG(*) AS n, ", entryTimeOf("after"), " AS local_time",
		" FROM (SELECT TOP (", itoa(limit), ") start_lsn FROM cdc.lsn_time_mapping",
		" WHERE start_lsn > ", asLSN("after"), " ORDER BY start_lsn) AS e"), Arg{"after", after}), nil
}

// Split answers bound, next_from, n_rows per tile of a change table's rows
// between two LSNs, inclusive: the last commit of the tile, the LSN after it,
// and how many rows the tile has. A commit that straddles two tiles gives
// both the same bound.
func Split(instance, from, to string, tiles int) (Query, error) {
	table, err := ChangeTable(instance)
	if err != nil {
		return Query{}, err
	}
	if tiles < 1 {
		return Query{}, fmt.Errorf("a number of tiles must be positive, not %d", tiles)
	}
	return query("split points", join(
		"SELECT ", hex("MAX(s.l)"), " AS bound, ", hex("sys.fn_cdc_increment_lsn(MAX(s.l))"), " AS next_from, COUNT_BIG(*) AS n_rows",
		" FROM (SELECT [__$start_lsn] AS l, NTILE(", itoa(tiles), ") OVER (ORDER BY [__$start_lsn]) AS tile",
		" FROM ", table, " WHERE [__$start_lsn] BETWEEN ", asLSN("from"), " AND ", asLSN("to"), ") AS s",
		" GROUP BY s.tile ORDER BY bound"), Arg{"from", from}, Arg{"to", to}), nil
}
