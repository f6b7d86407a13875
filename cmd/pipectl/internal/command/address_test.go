package command

import "testing"

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
