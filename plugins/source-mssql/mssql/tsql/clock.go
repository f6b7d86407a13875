package tsql

// An entry of cdc.lsn_time_mapping has its commit time in the server's local
// clock without a zone. The statements below answer it as local_time; with a
// zone they add what the conversion to UTC needs:
//
//	utc_time  by AT TIME ZONE, which reads a repeated time with the offset before the change
//	off_0     the zone's offset at the time, minutes
//	off_3     the same three hours later: no zone moves its clock by more, nor twice within it
//	off_1     the offset where the clock would stand after moving by off_0 - off_3
//
// (Microsoft: AT TIME ZONE.)

// ServerVersion answers version (product version) and edition (engine edition).
func ServerVersion() Query {
	return query("server version", "SELECT CONVERT(varchar(128), SERVERPROPERTY('ProductVersion')) AS version,"+
		" CONVERT(varchar(11), SERVERPROPERTY('EngineEdition')) AS edition")
}

// ZoneName answers zone. Servers before 2022 do not compile it: test the
// version before.
func ZoneName() Query { return query("server time zone", "SELECT CURRENT_TIMEZONE_ID() AS zone") }

// ZoneOffset answers minutes: the server's current offset from UTC.
func ZoneOffset() Query {
	return query("server clock offset", "SELECT DATEPART(TZOFFSET, SYSDATETIMEOFFSET()) AS minutes")
}

func offset(expr, zone string) string {
	return "DATEPART(TZOFFSET, " + expr + " AT TIME ZONE N'" + zone + "')"
}

// entryColumns are the columns of an entry whose time is t (datetime2(3)).
func entryColumns(lsn, t, zone string) string {
	cols := hex(lsn) + " AS lsn, " + millis(t) + " AS local_time"
	if zone == "" {
		return cols
	}
	off0, off3 := offset(t, zone), offset("DATEADD(hour, 3, "+t+")", zone)
	return join(cols, ", ", millis("CONVERT(datetime2(3), "+t+" AT TIME ZONE N'"+zone+"' AT TIME ZONE N'UTC')"), " AS utc_time, ",
		off0, " AS off_0, ", off3, " AS off_3, ",
		offset("DATEADD(minute, "+off0+" - "+off3+", "+t+")", zone), " AS off_1")
}

const entryTime = "CONVERT(datetime2(3), e.tran_end_time)"

// entryTimeOf is the time of the entry that a parameter names, as an expression.
func entryTimeOf(param string) string {
	return join("(SELECT ", millis(entryTime), " FROM cdc.lsn_time_mapping AS e WHERE e.start_lsn = ", asLSN(param), ")")
}

// Entry answers the mapping entry of an LSN, no row when it is no commit's.
func Entry(l, zone string) (Query, error) {
	return entry("commit time", " WHERE e.start_lsn = "+asLSN("lsn"), zone, Arg{"lsn", l})
}

// EntryBefore answers the last mapping entry at or before an LSN.
func EntryBefore(l, zone string) (Query, error) {
	return entry("commit time at or before", " WHERE e.start_lsn <= "+asLSN("lsn")+" ORDER BY e.start_lsn DESC", zone, Arg{"lsn", l})
}

func entry(name, where, zone string, args ...Arg) (Query, error) {
	if zone != "" {
		if err := CheckZone(zone); err != nil {
			return Query{}, err
		}
	}
	return query(name, join("SELECT TOP (1) ", entryColumns("e.start_lsn", entryTime, zone),
		" FROM cdc.lsn_time_mapping AS e", where), args...), nil
}

// Drops answers the entries up to an LSN that read more than a minute earlier
// than the entry before them, in LSN order, from the last entry that is not
// later than since (local time, ISO 8601) on.
func Drops(since, to, zone string) (Query, error) {
	if err := CheckZone(zone); err != nil {
		return Query{}, err
	}
	return query("clock set back", join(
		"SELECT ", entryColumns("x.start_lsn", "x.t", zone),
		" FROM (SELECT e.start_lsn, ", entryTime, " AS t, LAG(", entryTime, ") OVER (ORDER BY e.start_lsn) AS p",
		" FROM cdc.lsn_time_mapping AS e",
		" WHERE e.start_lsn >= ISNULL((SELECT TOP (1) b.start_lsn FROM cdc.lsn_time_mapping AS b",
		" WHERE b.tran_end_time <= CONVERT(datetime, @since, 126) ORDER BY b.tran_end_time DESC, b.start_lsn DESC), 0x00000000000000000000)",
		" AND e.start_lsn <= ", asLSN("to"), ") AS x",
		" WHERE x.p > DATEADD(minute, 1, x.t) ORDER BY x.start_lsn"), Arg{"since", since}, Arg{"to", to}), nil
}

// RangeOffsets answers first and last (local times) of the commits between
// two LSNs, inclusive, and the zone's offset three hours before the first
// (off_first) and after the last (off_last); NULLs when there is no commit.
func RangeOffsets(from, to, zone string) (Query, error) {
	if err := CheckZone(zone); err != nil {
		return Query{}, err
	}
	return query("clock of a range", join(
		"SELECT ", millis("r.lo"), " AS first, ", millis("r.hi"), " AS last, ",
		offset("DATEADD(hour, -3, r.lo)", zone), " AS off_first, ", offset("DATEADD(hour, 3, r.hi)", zone), " AS off_last",
		" FROM (SELECT CONVERT(datetime2(3), MIN(e.tran_end_time)) AS lo, CONVERT(datetime2(3), MAX(e.tran_end_time)) AS hi",
		" FROM cdc.lsn_time_mapping AS e WHERE e.start_lsn BETWEEN ", asLSN("from"), " AND ", asLSN("to"), ") AS r"),
		Arg{"from", from}, Arg{"to", to}), nil
}
