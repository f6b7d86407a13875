// Package conformance is the suite that a plugin author runs: it says whether a
// plugin does what the contract of core/plugin asks. Each test is named after
// the rule that it holds. The suite runs twice, over the plugin in the test's
// own process and over a process of its own, started as pipectl starts it:
//
//	func TestMain(m *testing.M) { conformance.Main(m, mine.New) }
//
//	func TestConformance(t *testing.T) {
//		conformance.Run(t, mine.New, conformance.Suite{Tables: &conformance.Tables{
//			Request: plugin.OpenRequest{Component: "mine", Address: "sink.mine", Config: config},
//		}})
//	}
//
// It needs no network and no knowledge of what the plugin reads or writes.
package conformance
