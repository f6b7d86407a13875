package tsql

import "strings"

// Changes is a read of a change table.
type Changes struct {
	Instance string
	// From and To are inclusive.
	From, To string
	Columns  []string
	// CommandID adds _command_id and orders by it; tables of servers before
	// the updates that brought it lack the column.
	CommandID bool
	// Zone, when not "", adds what a conversion per row needs.
	Zone string
}

// Columns that a Changes query answers before those asked for.
const (
	colStart   = "_start_lsn"
	colSeqval  = "_seqval"
	colOp      = "_operation"
	colCommand = "_command_id"
	colLocal   = "_commit_local"
	colUTC     = "_commit_utc"
	colOffset3 = "_commit_off_3"
)

// Query is the statement. It answers _start_lsn, _seqval (binary(10)), _operation,
// _command_id (perhaps), _commit_local (datetime, the server's clock), with a
// zone _commit_utc and _commit_off_3, then the columns. The order is that of
// changes; __$seqval alone is none (Microsoft: cdc.<capture_instance>_CT).
//
// It reads the change table itself: the query functions lack __$command_id
// and answer a range below the watermark with error 313 where the table
// answers no rows, hence the watermark is looked at before and after.
func (c Changes) Query() (Query, error) {
	table, err := ChangeTable(c.Instance)
	if err != nil {
		return Query{}, err
	}
	names, err := quoteAll(c.Columns)
	if err != nil {
		return Query{}, err
	}
	var b strings.Builder
	b.WriteString("SELECT c.[__$start_lsn] AS " + colStart + ", c.[__$seqval] AS " + colSeqval +
		", c.[__$operation] AS " + colOp)
	order := "c.[__$start_lsn], "
	if c.CommandID {
		b.WriteString(", c.[__$command_id] AS " + colCommand)
		order += "c.[__$command_id], "
	}
	b.WriteString(", m.tran_end_time AS " + colLocal)
	if c.Zone != "" {
		if err := CheckZone(c.Zone); err != nil {
			return Query{}, err
		}
		const t = "CONVERT(datetime2(3), m.tran_end_time)"
		b.WriteString(", CONVERT(datetime2(3), " + t + " AT TIME ZONE N'" + c.Zone + "' AT TIME ZONE N'UTC') AS " + colUTC +
			", " + offset("DATEADD(hour, 3, "+t+")", c.Zone) + " AS " + colOffset3)
	}
	for _, n := range names {
		b.WriteString(", c." + n)
	}
	b.WriteString(" FROM " + table + " AS c JOIN cdc.lsn_time_mapping AS m ON m.start_lsn = c.[__$start_lsn]" +
		" WHERE c.[__$start_lsn] BETWEEN " + asLSN("from") + " AND " + asLSN("to") +
		" ORDER BY " + order + "c.[__$seqval], c.[__$operation]")
	return query("changes", b.String(), Arg{"from", c.From}, Arg{"to", c.To}), nil
}
