// Package hostile creates inputs that someone might send to do harm, for tests: archives, git
// trees, answers of registries, addresses, locks and configuration.
//
// Each input belongs to a class. The table in table_test.go says for each class whether it is refused or
// accepted, and why. The tests of this package pass all inputs to the real code that reads them.
// A test fails if an input is not treated as the table says, takes too much time or memory, or
// has an effect outside of the directory that it is given. To add an input, add it to the list of
// its class. To add a class, add a row to the table and a generator.
//
// The inputs are generated, not stored, and are the same in every run. They contain nothing
// random: that is the purpose of the fuzz targets next to the parsers.
package hostile
