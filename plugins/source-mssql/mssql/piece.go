package mssql

import "github.com/pipectl/pipectl/plugins/source-mssql/mssql/lsn"

// piece is a closed interval of the commit history that one instance serves.
type piece struct {
	captured
	from, to lsn.LSN
}

// pieces cuts [from, to] at the starts of newer instances: each instance
// serves what is below its successor's start, so that every commit is read
// once and no piece is empty. An instance whose start is not known yet serves
// nothing. prev is the server's arithmetic.
//
// Cleanup may move a newer instance's start up; commits below the moved start
// are then read from the older one, as long as it exists.
func pieces(instances []captured, from, to lsn.LSN, prev func(lsn.LSN) (lsn.LSN, error)) ([]piece, error) {
	usable := instances[:1:1]
	for _, ci := range instances[1:] {
		if ci.hasStart {
			usable = append(usable, ci)
		}
	}
	var out []piece
	for i, ci := range usable {
		if i+1 == len(usable) || to.Less(usable[i+1].start) {
			return append(out, piece{ci, from, to}), nil
		}
		start := usable[i+1].start
		if from.Less(start) {
			end, err := prev(start)
			if err != nil {
				return nil, err
			}
			out = append(out, piece{ci, from, end})
			from = start
		}
	}
	return out, nil
}

// tile is one tile of a change table's rows: its last commit, the LSN after
// that, and its rows.
type tile struct {
	bound, next lsn.LSN
	rows        int64
}

// ranges cuts [from, to] at tile bounds into ranges of at least minRows rows.
// The last always ends at to, which may be an idle entry.
func ranges(from, to lsn.LSN, tiles []tile, minRows int64) [][2]lsn.LSN {
	type cut struct {
		from, to lsn.LSN
		rows     int64
	}
	var cuts []cut
	rows := int64(0)
	for _, t := range tiles {
		rows += t.rows
		if t.bound.Less(from) {
			continue // two tiles share a commit
		}
		if t.bound.Less(to) && rows >= minRows {
			cuts = append(cuts, cut{from, t.bound, rows})
			from, rows = t.next, 0
		}
	}
	if len(cuts) > 0 && rows < minRows {
		cuts[len(cuts)-1].to = to
	} else {
		cuts = append(cuts, cut{from, to, rows})
	}
	out := make([][2]lsn.LSN, len(cuts))
	for i, c := range cuts {
		out[i] = [2]lsn.LSN{c.from, c.to}
	}
	return out
}
