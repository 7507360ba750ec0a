// Package report formats the results of the benchmark: a table for each world, and the
// goals that were met or missed. It does not measure anything.
package report
