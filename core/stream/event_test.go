package stream

import (
	"testing"

	"github.com/pipectl/pipectl/core/plugin"
)

// A person reads words; JSON is for the facts.
func TestAnEventInWords(t *testing.T) {
	t.Parallel()
	for detail, want := range map[string]string{
		`{"start_lsn":"0000002A000000180003","not_captured":[],"text":"dbo_orders -> orders_second","old":"dbo_orders","new":"orders_second"}`:                  "The stream goes on from dbo_orders in orders_second.",
		`{"start_lsn":"0000002A000000180003","not_captured":["note","city"],"text":"a -> b; no longer captured, read as NULL: note, city","old":"a","new":"b"}`: "The stream goes on from a in b. b does not have note, city, which is NULL from there on.",
		`ALTER TABLE dbo.orders ADD channel varchar(10) NULL`: "ALTER TABLE dbo.orders ADD channel varchar(10) NULL",
		`{"certain": false, "from": "01", "lost_rows": 3}`:    "certain: false, from: 01, lost rows: 3",
		`{}`: "{}",
		``:   "",
	} {
		if got := eventWords(plugin.Event{Detail: detail}); got != want {
			t.Errorf("%s\nbecame %q\nnot    %q", detail, got, want)
		}
	}
}
