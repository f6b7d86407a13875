package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// orderHolds holds what a gate that asks between a crash and the next run may
// rely on: what is written later never tells of what was to be written before it
// and is not there. For bronze that is rows, facts, commit mark, verdict; for
// silver merge, position, verdict. It reads them the other way, since a plugin
// that outlived its host for a moment may still end the write that it was at.
func (l *life) orderHolds() {
	l.t.Helper()
	control := map[string]lakeRow{}
	for _, r := range l.rows("ops.table_finalization") {
		control[r["table_name"]] = r
	}
	mark, markEnd := l.newestMark()
	if end := control[`"bronze.orders"`]["end_lsn"]; verdictOf(control, "bronze.orders") && (mark < 0 || end > markEnd) {
		l.t.Errorf("the verdict of bronze.orders follows from %s, and batch %d, the newest with a commit mark, ends at %s", end, mark, markEnd)
	}
	told := map[string]string{}
	for _, r := range l.rows("ops.ingestion_facts", "batch_id", "event", "rows") {
		if r["event"] == "NULL" && r["batch_id"] != "NULL" {
			told[r["batch_id"]] = r["rows"]
		}
	}
	for n := range mark + 1 {
		if _, ok := told[fmt.Sprint(n)]; !ok {
			l.t.Errorf("batch %d has its commit mark and no row in the facts", n)
		}
	}
	changes := map[string]int{}
	proven := "" // the newest change that the verdict of silver tells of
	for _, r := range l.rows("bronze.orders", "_batch_id", "_operation", "_start_lsn") {
		if r["_operation"] == "0" {
			continue
		}
		changes[r["_batch_id"]]++
		if verdictOf(control, "silver.orders") && r["_start_lsn"] <= control[`"silver.orders"`]["end_lsn"] {
			proven = max(proven, r["_start_lsn"])
		}
	}
	for n, rows := range told {
		if rows != fmt.Sprint(changes[n]) {
			l.t.Errorf("the facts tell %s rows of batch %s, bronze has %d", rows, n, changes[n])
		}
	}
	silver := control[`"silver.orders"`]
	if verdictOf(control, "silver.orders") && (silver["applied_lsn"] == "NULL" || proven > silver["applied_lsn"]) {
		l.t.Errorf("the verdict of silver.orders follows from %s, its position is %s, and bronze has changes at %s", silver["end_lsn"], silver["applied_lsn"], proven)
	}
	if text := silver["silver_version"]; silver != nil && text != "NULL" {
		version, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			l.t.Fatal(err)
		}
		if newest := l.open("silver.orders").Version(); version > newest {
			l.t.Errorf("the position of silver.orders is of its version %d, and the newest is %d", version, newest)
		}
	}
}

func verdictOf(control map[string]lakeRow, table string) bool {
	row, ok := control[strconv.Quote(table)]
	return ok && row["finalized_until"] != "NULL"
}

// newestMark is the newest batch that has its commit mark and the position at
// which it ends, in the form of lakeText; -1 when there is none.
func (l *life) newestMark() (int, string) {
	l.t.Helper()
	dir := filepath.Join(l.dir, "lake", "_pipectl", "shop", "streams", "bronze.orders")
	entries, err := os.ReadDir(filepath.Join(dir, "commits"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.t.Fatal(err)
	}
	newest, name := -1, ""
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			continue // is being written, or was when its writer was killed
		}
		n, err := strconv.Atoi(entry.Name())
		if err != nil {
			l.t.Fatalf("commit mark %s: %v", entry.Name(), err)
		}
		if n > newest {
			newest, name = n, entry.Name()
		}
	}
	if newest < 0 {
		return -1, ""
	}
	text, err := os.ReadFile(filepath.Join(dir, "offsets", name))
	if err != nil {
		l.t.Fatal(err)
	}
	var offset struct{ End struct{ LSN string } }
	if err := json.Unmarshal(text, &offset); err != nil {
		l.t.Fatalf("offset %s: %v", name, err)
	}
	return newest, strconv.Quote(offset.End.LSN)
}
