package main

import (
	"bytes"
	"strings"
	"testing"
)

const (
	theirs = `{"snapshot":"last","table":"orders","commit_lsn":"0000002a:00000100:0040","change_lsn":null,"op":"r","before":null,"after":{"order_id":1,"weight":1.0E-5,"channel":null}}
{"snapshot":"false","table":"orders","commit_lsn":"0000002a:00000108:0040","change_lsn":"0000002a:00000108:0041","op":"u","before":{"order_id":1,"weight":1.0E-5},"after":{"order_id":1,"weight":2.0,"placed_at":1767225600000001,"due":20454,"at_door":1,"seen":"2026-06-17T16:30:00.615251+05:30","photo":"AP8=","old_time":1767225600997}}
{"snapshot":"false","table":"orders","commit_lsn":"0000002a:00000110:0040","change_lsn":"0000002a:00000110:0041","op":"d","before":{"order_id":1,"weight":2.0,"placed_at":1767225600000001,"due":20454,"at_door":1,"seen":"2026-06-17T16:30:00.615251+05:30","photo":"AP8=","old_time":1767225600997},"after":null}
`
	ours = `{"_start_lsn":"0x0000002A000001080040","_seqval":"0x0000002A000001080041","_operation":3,"order_id":1,"weight":1e-05,"due":null}
{"_start_lsn":"0x0000002A000001080040","_seqval":"0x0000002A000001080041","_operation":4,"order_id":1,"weight":2.0,"placed_at":"2026-01-01T00:00:00.000001","due":"2026-01-01","at_door":"00:00:00.000000001","seen":"2026-06-17T11:00:00.615251Z","photo":"00ff","old_time":"2026-01-01T00:00:00.997000"}
{"_start_lsn":"0x0000002A000001100040","_seqval":"0x0000002A000001100041","_operation":1,"order_id":1,"weight":2.0,"placed_at":"2026-01-01T00:00:00.000001","due":"2026-01-01","at_door":"00:00:00.000000001","seen":"2026-06-17T11:00:00.615251Z","photo":"00ff","old_time":"2026-01-01T00:00:00.997000"}
`
)

func both(t *testing.T, theirText, ourText string) (snapshot, theirChanges, ourChanges []event) {
	t.Helper()
	var all []event
	for line := range strings.Lines(theirText) {
		e, err := decode([]byte(line), nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	ourChanges, err := readTail("orders", bytes.NewBufferString(ourText), nil)
	if err != nil {
		t.Fatal(err)
	}
	snapshot, theirChanges = split(all)
	return snapshot, theirChanges, ourChanges
}

func TestBothFormsOfTheSameChangesAreEqual(t *testing.T) {
	t.Parallel()
	snapshot, a, b := both(t, theirs, ours)
	if len(snapshot) != 1 || !snapshot[0].last || len(a) != 2 {
		t.Errorf("a snapshot of %d rows and %d changes", len(snapshot), len(a))
	}
	if err := compare(b, a); err != nil {
		t.Error(err)
	}
	if err := continues(snapshot, a); err != nil {
		t.Error(err)
	}
}

func TestWhatDiffersIsToldWithItsPlace(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, old, new, want string }{
		{"commit", `"_start_lsn":"0x0000002A000001100040"`, `"_start_lsn":"0x0000002A000001110040"`, "change 2 differs"},
		{"change", `0001080041"`, `0001080042"`, "change 1 differs"},
		{"value", `"photo":"00ff"`, `"photo":"00fe"`, "change 1 differs"},
		{"value of before", `1e-05`, `1e-06`, "change 1 differs"},
		{"operation", `"_operation":1,`, `"_operation":2,`, "change 2 differs"},
		{"one more", `"_operation":1,`, `"_operation":1,"new":1,`, "change 2 differs"},
	} {
		_, a, b := both(t, theirs, strings.ReplaceAll(ours, tc.old, tc.new))
		if err := compare(b, a); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
	_, a, b := both(t, theirs, ours)
	if err := compare(b[:1], a); err == nil || err.Error() != "pipectl has 1 changes, Debezium 2" {
		t.Error(err)
	}
}

func TestAChangeBeginsFromTheRowThatThereWas(t *testing.T) {
	t.Parallel()
	snapshot, a, _ := both(t, theirs, ours)
	if err := continues(nil, a); err == nil || !strings.Contains(err.Error(), "begins from another row") {
		t.Errorf("without the snapshot: %v", err)
	}
	if err := continues(snapshot, a[1:]); err == nil || !strings.Contains(err.Error(), "begins from another row") {
		t.Errorf("without the update: %v", err)
	}
	twice := append(snapshot, snapshot...)
	if err := continues(twice, nil); err == nil || !strings.Contains(err.Error(), "makes a row that is there") {
		t.Errorf("a row twice: %v", err)
	}
}

func TestImagesOfAnUpdateStayTogether(t *testing.T) {
	t.Parallel()
	lines := strings.SplitAfter(ours, "\n")
	for name, text := range map[string]string{"the first alone": lines[0], "the second alone": lines[1], "a row between": lines[0] + lines[2] + lines[1]} {
		if changes, err := readTail("orders", bytes.NewBufferString(text), nil); err == nil {
			t.Errorf("%s: %v", name, changes)
		}
	}
}
