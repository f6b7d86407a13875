// Package scenarios holds short T-SQL scripts of change data capture with what SQL Server answers to them, each with the
// documentation that says so. Its tests run them against the simulator, and against a real server where one is named;
// README.md tells how to write one. It must not know more of a server than its address: all goes over the driver.
package scenarios
