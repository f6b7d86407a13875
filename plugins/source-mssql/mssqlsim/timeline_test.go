package mssqlsim

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Seen on SQL Server 2022: a small table that a job updates every ten seconds keeps the position within 30 s of now.
func TestHeartbeatKeepsAQuietDatabaseMoving(t *testing.T) {
	t.Parallel()
	s, clock, _, conn := polling(t, "")
	exec(t, conn, "CREATE TABLE dbo.beat (id tinyint NOT NULL PRIMARY KEY, at datetime2(3) NOT NULL); INSERT INTO dbo.beat VALUES (1, SYSUTCDATETIME()); EXEC sys.sp_cdc_enable_table N'dbo', N'beat', @role_name = NULL")
	for i := range 60 {
		if i%2 == 0 {
			exec(t, conn, "UPDATE dbo.beat SET at = SYSUTCDATETIME()")
		}
		s.RunJobs()
		equal(t, query(t, conn, "SELECT CASE WHEN DATEDIFF(second, sys.fn_cdc_map_lsn_to_time(sys.fn_cdc_get_max_lsn()), GETDATE()) <= 30 THEN 'near' END"), []string{"near"})
		clock.Advance(5 * time.Second)
	}
}

// Seen on SQL Server 2022, with UTC and UTC-3: commit times are the server's local clock, and go back along the LSNs
// only where that clock is set back.
func TestCommitTimesFollowTheLocalClock(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		zone string
		want []string
	}{
		{"UTC", []string{"05:00", "05:20", "05:40", "06:00", "06:20", "06:40", "07:00"}},
		{"SA Eastern Standard Time", []string{"02:00", "02:20", "02:40", "03:00", "03:20", "03:40", "04:00"}},
		{"Eastern Standard Time", []string{"01:00", "01:20", "01:40", "01:00", "01:20", "01:40", "02:00"}}, // 2026-11-01
	} {
		t.Run(tc.zone, func(t *testing.T) {
			t.Parallel()
			_, clock, db, conn := polling(t, tc.zone)
			orders(t, db)
			exec(t, conn, "EXEC sys.sp_cdc_stop_job")
			for i := range tc.want {
				clock.Set(time.Date(2026, 11, 1, 5, 20*i, 0, 0, time.UTC))
				tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", i, nil, nil) })
			}
			exec(t, conn, "EXEC sys.sp_cdc_scan")
			equal(t, query(t, conn, "SELECT CONVERT(varchar(5), CAST(tran_end_time AS time), 108) FROM cdc.lsn_time_mapping WHERE tran_id <> 0x00 ORDER BY start_lsn"), tc.want)
		})
	}
}

// Seen on SQL Server 2022: no row ever appears at or below a position that was seen; a long transaction comes after the
// short ones that it overlaps; commit times do not go back.
func TestNoRowAppearsBelowTheNewestEntry(t *testing.T) {
	t.Parallel()
	clock := NewManualClock(time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC))
	s, err := Start(t.Context(), Options{Clock: clock})
	must(t, err)
	t.Cleanup(s.Close)
	db := s.Database("shop")
	must(t, db.EnableCDC())
	orders(t, db)
	conn := open(t, s.DSN("shop"))
	began, finish := make(chan struct{}), make(chan struct{})
	var long, last LSN
	var done sync.WaitGroup
	done.Go(func() {
		l, err := db.Tx(context.Background(), func(x *Tx) error {
			if err := x.Insert("dbo.orders", 0, nil, nil); err != nil {
				return err
			}
			close(began)
			<-finish
			return x.Insert("dbo.orders", -1, nil, nil)
		})
		if err != nil {
			t.Error(err)
		}
		long = l
	})
	<-began
	var writers sync.WaitGroup
	var mu sync.Mutex
	for w := range 4 {
		writers.Go(func() {
			for i := range 25 {
				l, err := db.Tx(context.Background(), func(x *Tx) error {
					clock.Advance(10 * time.Millisecond)
					return x.Insert("dbo.orders", 1+w+4*i, nil, nil)
				})
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				if last.Less(l) {
					last = l
				}
				mu.Unlock()
			}
		})
	}
	written := make(chan struct{})
	go func() { writers.Wait(); close(written) }()
	const upTo = "SELECT COUNT(*) FROM cdc.dbo_orders_CT WHERE [__$start_lsn] <= @p1"
	type seen struct {
		at   LSN
		rows string
	}
	var all []seen
	for going := true; going; {
		select {
		case <-written:
			going = false
		default:
		}
		l := db.MaxLSN()
		all = append(all, seen{l, query(t, conn, upTo, l[:])[0]})
	}
	close(finish)
	done.Wait()
	for _, s := range all {
		if rows := query(t, conn, upTo, s.at[:])[0]; rows != s.rows {
			t.Errorf("%s rows up to %s, and %s later", s.rows, s.at, rows)
		}
	}
	if !last.Less(long) {
		t.Errorf("the long transaction committed at %s, the last short one at %s", long, last)
	}
	equal(t, query(t, conn, "SELECT COUNT(*) FROM cdc.dbo_orders_CT WHERE [__$start_lsn] = @p1", long[:]), []string{"2"})
	equal(t, query(t, conn, "SELECT COUNT(*) FROM (SELECT tran_end_time AS t, LAG(tran_end_time) OVER (ORDER BY start_lsn) AS before FROM cdc.lsn_time_mapping) AS x WHERE x.t < x.before"), []string{"0"})
}

// Seen on SQL Server 2022: for a while after it was made an instance is listed with its start, above the newest entry,
// and its minimum is zero.
func TestAJustMadeInstanceIsNotReachedYet(t *testing.T) {
	t.Parallel()
	s, _, db, conn := polling(t, "")
	orders(t, db)
	const position = "SELECT CASE WHEN sys.fn_cdc_get_max_lsn() < start_lsn THEN 'below' WHEN sys.fn_cdc_get_max_lsn() IS NULL THEN 'never' ELSE 'reached' END, CASE WHEN sys.fn_cdc_get_min_lsn(capture_instance) = start_lsn THEN 'start' ELSE CONVERT(varchar(22), sys.fn_cdc_get_min_lsn(capture_instance), 1) END FROM cdc.change_tables ORDER BY create_date, capture_instance"
	const zero = "0x00000000000000000000"
	equal(t, query(t, conn, position), []string{"never|" + zero})
	s.RunJobs()
	equal(t, query(t, conn, position), []string{"reached|start"})
	must(t, db.EnableTable("dbo.orders", Capture{Name: "second"}))
	equal(t, query(t, conn, position), []string{"reached|start", "below|" + zero})
	exec(t, conn, "EXEC sys.sp_cdc_stop_job; EXEC sys.sp_cdc_scan")
	equal(t, query(t, conn, position), []string{"reached|start", "reached|start"})
}

// Seen on SQL Server 2022: the tiles of a change table's rows end with whole commits: eight commits of one row and one of
// eight rows are cut into 8 and 8.
func TestTilesOfChangeRows(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	orders(t, db)
	var lsns []LSN
	for i := range 9 {
		lsns = append(lsns, tx(t, db, func(x *Tx) error {
			if i < 8 {
				return x.Insert("dbo.orders", i, nil, nil)
			}
			for k := range 8 {
				if err := x.Insert("dbo.orders", 10+k, nil, nil); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	const tiles = `SELECT CONVERT(varchar(22), MAX(s.l), 1) AS bound, CONVERT(varchar(22), sys.fn_cdc_increment_lsn(MAX(s.l)), 1), COUNT_BIG(*)
		FROM (SELECT [__$start_lsn] AS l, NTILE(%d) OVER (ORDER BY [__$start_lsn]) AS tile FROM cdc.dbo_orders_CT) AS s GROUP BY s.tile ORDER BY bound`
	row := func(i, n int) string { return fmt.Sprintf("%s|%s|%d", lsns[i], lsns[i].Add(1), n) }
	equal(t, query(t, conn, fmt.Sprintf(tiles, 2)), []string{row(7, 8), row(8, 8)})
	equal(t, query(t, conn, fmt.Sprintf(tiles, 3)), []string{row(5, 6), row(8, 5), row(8, 5)}) // a commit over two tiles: one bound
	// the n-th entry after a position, the last when there are fewer, NULL when there is none
	const nth = "SELECT CONVERT(varchar(22), MAX(e.start_lsn), 1) FROM (SELECT TOP (%d) start_lsn FROM cdc.lsn_time_mapping WHERE start_lsn > @p1 ORDER BY start_lsn) AS e"
	equal(t, query(t, conn, fmt.Sprintf(nth, 3), lsns[0][:]), []string{lsns[3].String()})
	equal(t, query(t, conn, fmt.Sprintf(nth, 100), lsns[0][:]), []string{lsns[8].String()})
	equal(t, query(t, conn, fmt.Sprintf(nth, 1), lsns[8][:]), []string{"NULL"})
}

// Microsoft: AT TIME ZONE (Transact-SQL), sys.fn_cdc_map_time_to_lsn (Transact-SQL). Where the clock is set back, the
// earlier of an instant's local time and of the one an hour later less an hour finds no commit after the instant.
func TestTimeToLSNInAFallBackHour(t *testing.T) {
	t.Parallel()
	const zone = "Eastern Standard Time"
	_, clock, db, conn := polling(t, zone)
	orders(t, db)
	exec(t, conn, "EXEC sys.sp_cdc_stop_job")
	at := func(minute int) time.Time { return time.Date(2026, 11, 1, 4, minute, 0, 0, time.UTC) }
	lsns := map[string]int{}
	for m := 0; m <= 240; m += 15 {
		clock.Set(at(m))
		lsns[tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", m, nil, nil) }).String()] = m
	}
	exec(t, conn, "EXEC sys.sp_cdc_scan")
	const local = "CAST(CAST(CAST(%s AS datetime2(0)) AT TIME ZONE 'UTC' AT TIME ZONE '" + zone + "' AS datetime2(0)) AS datetime)"
	for _, tc := range []struct {
		minute int
		want   string
	}{{45, "00:45:00"}, {105, "00:45:00"}, {150, "01:30:00"}, {180, "02:00:00"}, {225, "02:45:00"}} {
		utc := at(tc.minute).Format("2006-01-02T15:04:05")
		a, b := fmt.Sprintf(local, "@p1"), "DATEADD(hour, -1, "+fmt.Sprintf(local, "DATEADD(hour, 1, CAST(@p1 AS datetime2(0)))")+")"
		earlier := "CASE WHEN " + a + " < " + b + " THEN " + a + " ELSE " + b + " END"
		equal(t, query(t, conn, "SELECT CONVERT(varchar(8), "+earlier+", 108)", utc), []string{tc.want})
		got := query(t, conn, "SELECT CONVERT(varchar(22), sys.fn_cdc_map_time_to_lsn(N'largest less than or equal', "+earlier+"), 1)", utc)[0]
		if m, ok := lsns[got]; !ok || m > tc.minute {
			t.Errorf("minute %d is mapped to %s, of minute %d", tc.minute, got, m)
		}
	}
}

// Seen on a server at UTC-3 without daylight saving: the offset of its clock now gives the same times as its zone.
func TestOffsetOfAZoneWithoutDaylightSaving(t *testing.T) {
	t.Parallel()
	const zone = "SA Eastern Standard Time"
	_, clock, db, conn := polling(t, zone)
	orders(t, db)
	exec(t, conn, "EXEC sys.sp_cdc_stop_job")
	for i := range 24 {
		clock.Advance(15 * 24 * time.Hour)
		tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", i, nil, nil) })
	}
	exec(t, conn, "EXEC sys.sp_cdc_scan")
	equal(t, query(t, conn, "SELECT DATEPART(TZOFFSET, SYSDATETIMEOFFSET())"), []string{"-180"})
	equal(t, query(t, conn, `SELECT COUNT(*), SUM(CASE WHEN DATEADD(minute, 180, tran_end_time) = CAST(CAST(tran_end_time AS datetime2(3)) AT TIME ZONE '`+zone+`' AT TIME ZONE 'UTC' AS datetime2(3)) THEN 1 ELSE 0 END)
		FROM cdc.lsn_time_mapping WHERE tran_id <> 0x00`), []string{"24|24"})
}

// Seen on SQL Server 2022: a second instance that is made under writes has every commit from its start on, with the
// same LSNs and sequence values as the old one, and command ids of its own; nothing is lost.
func TestASecondInstanceUnderWrites(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	orders(t, db)
	var commits atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var writers sync.WaitGroup
	for w := range 2 {
		writers.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				if _, err := db.Tx(context.Background(), func(x *Tx) error { return x.Insert("dbo.orders", w+2*i, nil, nil) }); err != nil {
					t.Error(err)
					return
				}
				commits.Add(1)
			}
		})
	}
	until := func(n int64) {
		for commits.Load() < n {
			runtime.Gosched()
		}
	}
	until(50)
	exec(t, conn, "EXEC sys.sp_cdc_enable_table N'dbo', N'orders', N'second', @role_name = NULL")
	until(commits.Load() + 50)
	cancel()
	writers.Wait()
	start := query(t, conn, "SELECT CONVERT(varchar(22), start_lsn, 1) FROM cdc.change_tables WHERE capture_instance = 'second'")[0]
	const count = "SELECT COUNT(*) FROM cdc.dbo_orders_CT AS a %s JOIN cdc.second_CT AS b ON a.[__$start_lsn] = b.[__$start_lsn] AND a.[__$seqval] = b.[__$seqval] AND a.id = b.id WHERE %s"
	equal(t, query(t, conn, "SELECT COUNT(*) FROM cdc.dbo_orders_CT"), []string{fmt.Sprint(commits.Load())})
	equal(t, query(t, conn, fmt.Sprintf(count, "LEFT", "a.[__$start_lsn] >= "+start+" AND b.id IS NULL")), []string{"0"}) // in both from the start on
	equal(t, query(t, conn, "SELECT COUNT(*) FROM cdc.second_CT WHERE [__$start_lsn] < "+start), []string{"0"})
	equal(t, query(t, conn, fmt.Sprintf(count, "", "a.[__$command_id] = b.[__$command_id]")), []string{"0"})
	if both := query(t, conn, fmt.Sprintf(count, "", "1 = 1"))[0]; both == "0" || both == fmt.Sprint(commits.Load()) {
		t.Errorf("%s of %d commits are in both", both, commits.Load())
	}
}
