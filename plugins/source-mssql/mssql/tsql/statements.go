package tsql

// All is one example of each statement in each of its forms, on a table
// dbo.orders (order_id int, region varchar(8), note varchar(20)) with the
// capture instance dbo_orders, so that tests can parse and run every text that
// the source sends.
func All() ([]Query, error) {
	const (
		instance = "dbo_orders"
		zone     = "Eastern Standard Time"
		low      = "0x00000000000000000001"
		high     = "0x0000002A000001F00003"
	)
	orders := Table{Schema: "dbo", Name: "orders"}
	collect := collector{}
	for _, q := range []Query{
		MaxLSN(), MaxLSNBeside(high), MinLSN(instance), Increment(low), Decrement(high),
		ServerVersion(), ZoneName(), ZoneOffset(),
		Ping(), CaptureLag(), NetworkWait(), Database(), Updateability(),
		CaptureInstances(), CaptureInstancesOf(orders), CapturedColumns(instance), DDLHistory(instance), TableColumns(orders),
	} {
		collect.add(q, nil)
	}
	collect.add(NthAfter(low, 4))
	collect.add(ChangeTableState(instance))
	collect.add(Pending(low, 10000))
	collect.add(Split(instance, low, high, 16))
	for _, z := range []string{"", zone} {
		collect.add(Entry(high, z))
		collect.add(EntryBefore(high, z))
		for _, id := range []bool{false, true} {
			collect.add(Changes{Instance: instance, From: low, To: high, Columns: []string{"order_id", "note"}, CommandID: id, Zone: z}.Query())
		}
	}
	collect.add(Drops("2026-11-01T00:30:00", high, zone))
	collect.add(RangeOffsets(low, high, zone))
	collect.add(TableState(orders))
	collect.add(RowEstimate(orders))

	one := []KeyColumn{{Name: "order_id"}}
	two := []KeyColumn{{Name: "region", Type: "varchar(8) COLLATE Latin1_General_CI_AS"}, {Name: "order_id", Type: "int"}}
	ranges := []Range{
		{Keys: one},
		{Keys: one, Lo: Bound{{Text: "-5"}}},
		{Keys: one, Lo: Bound{{Text: "10"}}, Hi: Bound{{Text: "9223372036854775808"}}},
		{Keys: two, Hi: Bound{{Text: "n"}, {Text: "7"}}},
		{Keys: two, Lo: Bound{{Text: "N"}, {Text: "4"}}, Hi: Bound{{Text: "n"}, {Text: "7"}}},
		{Keys: two, Lo: Bound{{Null: true}, {Text: "4"}}, Hi: Bound{{Text: "n"}, {Null: true}}},
	}
	for _, lock := range []Locking{{TimeoutMillis: -1}, {Isolation: Snapshot, TimeoutMillis: 500}} {
		t := TableRead{Table: orders, Locking: lock}
		for _, r := range ranges {
			collect.add(t.Rows([]string{"order_id", "region", "note"}, r))
			collect.add(t.Count(r))
			collect.add(t.KeyBound(r, 3))
		}
		collect.add(t.Rows(nil, Range{}))
		collect.add(t.Bounds("order_id", Range{Keys: one}))
		collect.add(t.Bounds("order_id", ranges[2]))
		collect.add(t.EndKey([]string{"region", "order_id"}, false))
		collect.add(t.EndKey([]string{"region", "order_id"}, true))
		collect.add(t.Buckets("order_id", false, 100, Range{Keys: one}))
		collect.add(t.Buckets("order_id", false, 100, ranges[2]))
		collect.add(t.Tiles([]string{"region", "order_id"}, 4))
	}
	return collect.queries, collect.err
}

type collector struct {
	queries []Query
	err     error
}

func (c *collector) add(q Query, err error) {
	if err != nil && c.err == nil {
		c.err = err
	}
	c.queries = append(c.queries, q)
}
