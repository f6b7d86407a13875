// Package planner turns a configuration, the state and what plugins report
// into a plan. It changes nothing. Numbers in a plan come from the plugins,
// never from here; each is cheap: a fixed number of calls per table, no scan of
// data and no count. It knows no processes, no text and no way to carry a plan
// out.
package planner
