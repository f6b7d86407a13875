package command

import (
	"testing"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
)

// A name is an address, else the name of a table, else nothing. An address can
// always be typed, also where a table of another sink is called like it.
func TestNamesResolve(t *testing.T) {
	t.Parallel()
	lake, other := addr.New(addr.Sink, "lake"), addr.New(addr.Sink, "other")
	orders, copied := addr.New(addr.Stream, "orders"), addr.New(addr.Stream, "copy")
	now, then := addr.New(addr.Silver, "orders"), addr.New(addr.Silver, "then")
	one, two := addr.Instance(addr.Silver, "erp", "one"), addr.Instance(addr.Silver, "erp", "two")
	w := &workspace{config: &model.Config{
		Streams: []model.Stream{{Addr: orders, To: lake, Target: "bronze.orders"}, {Addr: copied, To: other, Target: "bronze.orders"}},
		Silvers: []model.Silver{
			{Addr: now, To: lake, Target: "silver.orders"}, {Addr: then, To: other, Target: "silver.orders"},
			{Addr: one, To: lake, Target: "silver.one"}, {Addr: two, To: lake, Target: "silver.two"},
		},
	}}
	for name, want := range map[string]addr.Address{
		"stream.orders": orders, "silver.orders": now, "silver.then": then, "silver.two": two, "silver.erp": two.Block(), `silver.erp["one"]`: one,
	} {
		if got, err := w.resolve(name); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, want)
		}
	}
	for name, want := range map[string]string{"bronze.orders": "address.ambiguous", "silver.three": "address.unknown"} {
		if got, err := w.resolve(name); !diag.HasCode(err, want) {
			t.Errorf("%s: %s, %v; want %s", name, got, err, want)
		}
	}
}

// A name that nothing has is told what is like it: of its kind, where it has
// one, else by any name.
func TestWhatIsLikeAName(t *testing.T) {
	t.Parallel()
	addresses := []string{"source.shop", "table.orders", `stream.erp["lines"]`, `stream.erp["units"]`, "stream.orders", "silver.orders"}
	tables := []string{"bronze.orders", "bronze.lines", "silver.orders"}
	streams := `This configuration declares: stream.erp["lines"], stream.erp["units"], stream.orders.`
	all := `This configuration declares: source.shop, table.orders, stream.erp["lines"], stream.erp["units"], stream.orders, silver.orders.`
	for name, want := range map[string]string{
		"stream.ordes":        streams + " Did you mean stream.orders?",
		"stream.customers":    streams,
		`stream.erp["linse"]`: streams + ` Did you mean stream.erp["lines"]?`,
		"bronze.order":        "This configuration declares: bronze.orders, bronze.lines. Did you mean bronze.orders?",
		"strem.orders":        all + " Did you mean stream.orders?",
		"orders":              "Say which one: table.orders, stream.orders, silver.orders.",
		"gold.customers":      all,
		"":                    all,
	} {
		if got := likeIt(name, addresses, tables); got != want {
			t.Errorf("%q: %s\nwant: %s", name, got, want)
		}
	}
}

func TestManyNamesAreCut(t *testing.T) {
	t.Parallel()
	var addresses []string
	for _, c := range "abcdefghijklmnopqrst" {
		addresses = append(addresses, "stream.t"+string(c))
	}
	want := "This configuration declares: stream.ta, stream.tb, stream.tc, stream.td, stream.te, stream.tf, stream.tg, stream.th, stream.ti, stream.tj, stream.tk, stream.tl and 8 more. Did you mean stream.tt?"
	if got := likeIt("stream.ttt", addresses, nil); got != want {
		t.Error(got)
	}
}
